import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../compiler/contract/defined.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';

/** The second verifier, in Python: beside the sources, which a built script finds one folder further up. */
export const VERIFY_RECORD = defined(
  ['../..', '../../..']
    .map((root) => join(import.meta.dirname, root, 'compiler/client/python/verify_record.py'))
    .find((path) => existsSync(path)),
  'verify_record.py',
);

export const hasPython = spawnSync('python3', ['--version']).status === 0;

interface PythonVerdict {
  readonly verdict: string;
  readonly detail: string;
  /** What a body that holds is about. */
  readonly about: object | null;
}

/** What `verify_record.py` says of bodies, each a text of one line, in one process; it takes those without a proof. */
export function pythonVerdicts(
  bodies: readonly string[],
  issuers: readonly string[],
  now = Date.now(),
): PythonVerdict[] {
  const flags = ['--no-proof', '--now', isoTime(now), ...ofIssuers(issuers)];
  const verdicts = judgedByPython([...flags, '--lines', '-'], bodies.join('\n'));
  return allOf(bodies, verdicts);
}

/** The same of texts of several lines, with flags of the caller: each is a file in a folder. */
export function pythonVerdictsOfFiles(
  texts: readonly string[],
  issuers: readonly string[],
  { folder, flags }: { readonly folder: string; readonly flags: readonly string[] },
): PythonVerdict[] {
  const paths = texts.map((text, at) => {
    const path = join(folder, `python-${at}.txt`);
    writeFileSync(path, text);
    return path;
  });
  return allOf(texts, judgedByPython([...flags, ...ofIssuers(issuers), ...paths]));
}

const ofIssuers = (dids: readonly string[]): string[] => dids.flatMap((did) => ['--issuer', did]);

function allOf(texts: readonly string[], verdicts: PythonVerdict[]): PythonVerdict[] {
  if (verdicts.length === texts.length) return verdicts;
  throw new RangeError(`Cannot judge with Python: ${verdicts.length} of ${texts.length} verdicts`);
}

function judgedByPython(flags: readonly string[], input = ''): PythonVerdict[] {
  const options = { input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr } = spawnSync('python3', [VERIFY_RECORD, '--json', ...flags], options);
  if (stdout === '' && stderr !== '') throw new Error(`Cannot judge with Python: ${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}
