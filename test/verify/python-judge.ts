import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
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

/** What `verify_record.py` says of bodies, each a text of one line, in one process; it takes those without a proof. */
export function pythonVerdicts(
  bodies: readonly string[],
  issuers: readonly string[],
  now = Date.now(),
): { readonly verdict: string; readonly detail: string }[] {
  const flags = [
    '--no-proof',
    '--now',
    isoTime(now),
    ...issuers.flatMap((did) => ['--issuer', did]),
  ];
  const { stdout, stderr } = spawnSync(
    'python3',
    [VERIFY_RECORD, '--json', '--lines', '-', ...flags],
    {
      input: bodies.join('\n'),
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    },
  );
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== bodies.length) throw new Error(`Cannot judge with Python: ${stderr}`);
  return lines.map((line) => JSON.parse(line));
}
