import { systemClock } from '../../system/clock.ts';
import type { CommandSettings } from '../../system/command-settings.ts';
import { errorText } from '../../system/error-text.ts';
import type { AskReport } from './ask-witnesses.ts';
import { policyFile } from './witness-list.ts';

/** Option of the commands that publish a release. */
export const WITNESSES = [
  '--witnesses <file>',
  'ask the witnesses of this list or policy to cosign the log of each release',
] as const;

/** What asks the witnesses of a release that is published. No witness, and no failure, undoes the publication. */
interface AskAfter {
  /** Right after a release; tells what came of it. */
  ask(): Promise<void>;
  /** Later on, as long as the policy is not met: a witness may have been down. Tells what that brought. */
  askAgain(): Promise<void>;
}

/** What a publisher hears whose log nobody else sees. */
export const NOT_WITNESSED =
  'Warning: nobody witnesses the log, so only you say that everybody sees the same one; pass --witnesses (compiler/WITNESSES.md)';

/** Prepares what asks; a bad policy is refused now, before anything is done. */
export function askAfter(
  { data, witnesses }: { data: string; witnesses?: string },
  { now, print }: Pick<CommandSettings, 'now' | 'print'>,
): AskAfter {
  if (witnesses === undefined) {
    let isTold = false;
    const ask = async (): Promise<void> => {
      if (!isTold) print(NOT_WITNESSED);
      isTold = true;
    };
    return { ask, askAgain: async () => undefined };
  }
  const policy = policyFile(witnesses, '--witnesses');
  // Unknown at a start: the release may be from before it.
  let isMet = false;
  const asked = async (): Promise<AskReport> => {
    const { askWitnesses } = await import('./ask-witnesses.ts');
    const report = await askWitnesses(data, policy, { fetch, ...systemClock(now, Math.random) });
    isMet = report.lack === null;
    return report;
  };
  const tell = async (report: AskReport): Promise<void> => {
    const { askText } = await import('./ask-witnesses.ts');
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
