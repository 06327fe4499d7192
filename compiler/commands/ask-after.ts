import { type LogPolicy, POLICY_BYTES_MAX } from '../contract/log-policy.ts';
import { systemClock } from '../fetch/clock.ts';
import { readNamed } from '../verify/disk.ts';
import { readPolicy } from '../verify/policy-check.ts';
import type { AskReport } from '../witness/ask-witnesses.ts';
import type { CommandSettings } from './command-settings.ts';
import { errorText } from './error-text.ts';

/** Option of the commands that publish a release. */
export const WITNESSES = [
  '--witnesses <file>',
  'ask the witnesses of this policy to cosign the log of each release',
] as const;

/** What asks the witnesses of a release that is published. No witness, and no failure, undoes the publication. */
interface AskAfter {
  /** Right after a release; tells what came of it. */
  ask(): Promise<void>;
  /** Later on, as long as the policy is not met: a witness may have been down. Tells what that brought. */
  askAgain(): Promise<void>;
}

const ASK_NOBODY: AskAfter = { ask: async () => undefined, askAgain: async () => undefined };

/** Prepares what asks; a bad policy is refused now, before anything is done. */
export function askAfter(
  { data, witnesses }: { data: string; witnesses?: string },
  { now, print }: Pick<CommandSettings, 'now' | 'print'>,
): AskAfter {
  if (witnesses === undefined) return ASK_NOBODY;
  const policy = policyFile(witnesses, '--witnesses');
  // Unknown at a start: the release may be from before it.
  let isMet = false;
  const asked = async (): Promise<AskReport> => {
    const { askWitnesses } = await import('../witness/ask-witnesses.ts');
    const report = await askWitnesses(data, policy, { fetch, ...systemClock(now, Math.random) });
    isMet = report.lack === null;
    return report;
  };
  const tell = async (report: AskReport): Promise<void> => {
    const { askText } = await import('../witness/ask-witnesses.ts');
    print(askText(report));
  };
  return {
    async ask() {
      isMet = false;
      try {
        await tell(await asked());
      } catch (error) {
        print(`The release is published, but its witnesses were not asked: ${errorText(error)}`);
      }
    },
    async askAgain() {
      if (isMet) return;
      // What fails was told with the release, or there is none yet.
      const report = await asked().catch(() => null);
      if (report !== null && report.added > 0) await tell(report);
    },
  };
}

/** The policy in a file; throws a RangeError that names the file and what is wrong in it. */
export function policyFile(path: string, option = '--policy'): LogPolicy {
  try {
    return readPolicy(readNamed(path, POLICY_BYTES_MAX));
  } catch (cause) {
    throw new RangeError(`Cannot use "${path}" of ${option}: ${errorText(cause)}`, { cause });
  }
}
