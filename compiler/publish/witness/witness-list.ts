import { join } from 'node:path';
import { z } from 'zod';
import { type LogPolicy, POLICY_BYTES_MAX } from '../../format/log-policy.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { readNamed } from '../../system/disk.ts';
import { errorText } from '../../system/error-text.ts';
import { PACKAGE_FOLDER } from '../../system/package-folder.ts';
import { readPolicy } from '../../verify/policy-check.ts';

// Who can be asked to witness a log: a list of this form, or a tlog-policy.

/** The list that comes with the package. */
export const PACKAGE_LIST = join(
  PACKAGE_FOLDER,
  'compiler',
  'publish',
  'witness',
  'witnesses.json',
);

const word = z.string().regex(/^\S{1,256}$/);

const witnessList = z.strictObject({
  format: z.literal('signalpress-witnesses/1'),
  /** How many of them have to cosign; 0 demands nobody. */
  quorum: z.int().min(0),
  witnesses: z
    .array(
      z.strictObject({
        name: word,
        /** Who runs it, for people. */
        operator: z.string(),
        /** `<name>+<8 hex digits>+<base64>`, from its operator. */
        key: word,
        url: z.url({ protocol: /^https?$/ }),
      }),
    )
    .max(128),
});

/** Lines of the tlog-policy that a file holds, or that its list stands for; throws a RangeError that names the file. */
export function policyLines(path: string, option: string): string[] {
  try {
    const text = decodeUtf8(readNamed(path, POLICY_BYTES_MAX));
    if (!text.trimStart().startsWith('{')) {
      readPolicy(Buffer.from(text));
      return text.trimEnd().split('\n');
    }
    const parsed = witnessList.safeParse(parseJson(text));
    if (!parsed.success) throw new RangeError(z.prettifyError(parsed.error));
    const { quorum, witnesses } = parsed.data;
    const names = witnesses.map(({ name }) => name).join(' ');
    const lines = [
      ...witnesses.map(({ name, key, url }) => `witness ${name} ${key} ${url}`),
      ...(quorum === 0
        ? ['quorum none']
        : [`group all-of-list ${quorum} ${names}`, 'quorum all-of-list']),
    ];
    policyOf(lines);
    return lines;
  } catch (cause) {
    throw new RangeError(`Cannot use "${path}" of ${option}: ${errorText(cause)}`, { cause });
  }
}

/** The policy in a file of either form; throws a RangeError that names the file and what is wrong in it. */
export function policyFile(path: string, option = '--policy'): LogPolicy {
  return policyOf(policyLines(path, option));
}

function policyOf(lines: readonly string[]): LogPolicy {
  return readPolicy(Buffer.from(`${lines.join('\n')}\n`));
}
