import { existsSync } from 'node:fs';
import { errorText } from '../commands/error-text.ts';
import { defined } from '../contract/defined.ts';
import { type LogPolicy, POLICY_BYTES_MAX } from '../contract/log-policy.ts';
import { formatVerifierKey } from '../contract/verifier-key.ts';
import { sha256 } from '../stages/anchor/log-tree.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readNamed } from '../verify/disk.ts';
import { readPolicy } from '../verify/policy-check.ts';
import { type AskReport, askWitnesses } from './ask-witnesses.ts';
import type { AskBy } from './witness-client.ts';

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
/** The group of all witnesses that were added: the quorum, until its owner edits it. */
const GROUP = 'witnesses';

/**
 * Asks one witness for its cosignature, publishes it, and names the witness in a policy from then on, whose quorum asks for all
 * of them: of one that is down, its publisher has to hear. The policy stays as it is where no cosignature came. Throws a
 * RangeError for what no policy can hold.
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
  const [name = ''] = vkeyAndUrl.split('+');
  const at = policy.search(/^[ \t]*(group|quorum)\b/m);
  const cut = at < 0 ? policy.length : at;
  return demanded(
    `${policy.slice(0, cut)}witness ${name} ${vkeyAndUrl}\n${policy.slice(cut)}`,
    name,
  );
}

/** The same with a quorum that asks for the witness too; groups that somebody else wrote stay as they are. */
function demanded(policy: string, name: string): string {
  const own = new RegExp(`^([ \\t]*group[ \\t]+${GROUP}[ \\t].*?)[ \\t]*$`, 'm');
  if (own.test(policy)) return policy.replace(own, (line) => `${line.trimEnd()} ${name}`);
  if (/^[ \t]*group\b/m.test(policy)) return policy;
  const names = [...policy.matchAll(/^[ \t]*witness[ \t]+(\S+)/gm)].map(([, each]) => each);
  const quorum = `group ${GROUP} all ${names.join(' ')}\nquorum ${GROUP}`;
  return policy.replace(/^[ \t]*quorum[ \t]+none[ \t]*$/m, quorum);
}

function policyOf(text: string, file: string): LogPolicy {
  try {
    return readPolicy(Buffer.from(text));
  } catch (cause) {
    throw new RangeError(`Cannot add the witness to "${file}": ${errorText(cause)}`, { cause });
  }
}
