import { systemClock } from '../fetch/clock.ts';
import type { CommandSettings } from './command-settings.ts';
import { errorText } from './error-text.ts';
import { policyFile } from './policy-file.ts';

interface AskFlags {
  readonly data: string;
  /** File of a policy that names witnesses and where they are asked. */
  readonly witnesses?: string;
}

/** Option of the commands that publish a release. */
export const WITNESSES = [
  '--witnesses <file>',
  'ask the witnesses of this policy to cosign the log of each release',
] as const;

/**
 * What asks the witnesses once a release is published; a bad policy is refused now, before anything is done. No witness, and no
 * failure, undoes the publication.
 */
export function askAfter(
  { data, witnesses }: AskFlags,
  { now, print }: Pick<CommandSettings, 'now' | 'print'>,
): () => Promise<void> {
  if (witnesses === undefined) return async () => undefined;
  const policy = policyFile(witnesses, '--witnesses');
  return async () => {
    try {
      const { askText, askWitnesses } = await import('../witness/ask-witnesses.ts');
      print(askText(await askWitnesses(data, policy, { fetch, ...systemClock(now, Math.random) })));
    } catch (error) {
      print(`The release is published, but its witnesses were not asked: ${errorText(error)}`);
    }
  };
}
