import { existsSync } from 'node:fs';
import { errorText } from '../commands/error-text.ts';
import { defined } from '../contract/defined.ts';
import { type LogPolicy, POLICY_BYTES_MAX } from '../contract/log-policy.ts';
import { formatVerifierKey } from '../contract/verifier-key.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readNamed } from '../verify/disk.ts';
import { readPolicy } from '../verify/policy-check.ts';
import { type AskReport, askWitnesses } from './ask-witnesses.ts';
import type { AskBy } from './witness-client.ts';
import { sha256 } from './witness-key.ts';

interface AddedWitness {
  /** Folder of releases. */
  readonly data: string;
  /** File of the policy; made where there is none. */
  readonly file: string;
  /** Where the witness is asked. */
  readonly url: string;
  /** Its key, as it gave it. */
  readonly vkey: string;
}

/** What a policy without a witness says. */
const EMPTY_POLICY = 'quorum none\n';

/**
 * Asks one witness for its cosignature, publishes it, and names the witness in a policy from then on. The policy stays as it is
 * where none came. Throws a RangeError for what no policy can hold.
 */
export async function addWitness(
  { data, file, url, vkey }: AddedWitness,
  by: AskBy,
): Promise<AskReport> {
  const before = existsSync(file) ? readNamed(file, POLICY_BYTES_MAX) : Buffer.from(EMPTY_POLICY);
  const next = withWitness(Buffer.from(before).toString('utf8'), `${vkey} ${url}`);
  const witness = defined(
    policyOf(next, file).witnesses.find(({ key }) => formatVerifierKey(key, sha256) === vkey),
    'the witness of a line',
  );
  const report = await askWitnesses(data, { logs: [], witnesses: [witness], quorum: witness }, by);
  if (report.lack === null) replaceFile(file, next);
  return report;
}

/** The text of a policy with one witness more, above the lines that may name it. */
function withWitness(policy: string, vkeyAndUrl: string): string {
  const [name] = vkeyAndUrl.split('+');
  const at = policy.search(/^[ \t]*(group|quorum)\b/m);
  const cut = at < 0 ? policy.length : at;
  return `${policy.slice(0, cut)}witness ${name} ${vkeyAndUrl}\n${policy.slice(cut)}`;
}

function policyOf(text: string, file: string): LogPolicy {
  try {
    return readPolicy(Buffer.from(text));
  } catch (cause) {
    throw new RangeError(`Cannot add the witness to "${file}": ${errorText(cause)}`, { cause });
  }
}
