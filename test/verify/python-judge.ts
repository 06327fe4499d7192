import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defined } from '../../compiler/format/defined.ts';
import { isoTime } from '../../compiler/format/iso-time.ts';
import type { MadeCase, MadeReader } from './made-cases.ts';

/** The second judge, in Python: beside the sources, which a built script finds one folder further up. */
export const PYTHON_JUDGE = defined(
  ['../..', '../../..']
    .map((root) => join(import.meta.dirname, root, 'compiler/client/python/signalpress_verify.py'))
    .find((path) => existsSync(path)),
  'signalpress_verify.py',
);

export const hasPython = spawnSync('python3', ['--version']).status === 0;

interface PythonVerdict {
  readonly verdict: string;
  readonly detail: string;
  /** What a body that holds is about. */
  readonly about: object | null;
}

/** What it says of bodies, each a text of one line, in one process; it takes those without a proof, unless told. */
export function pythonVerdicts(
  bodies: readonly string[],
  issuers: readonly string[],
  now = Date.now(),
  noProof = true,
): PythonVerdict[] {
  const flags = flagsOf({ issuers, now: isoTime(now), noProof });
  return allOf(bodies, judgedByPython([...flags, '--lines', '-'], bodies.join('\n')));
}

const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from signalpress_verify import Reader, instant, judge, read_keys, read_request, read_witness
for line in sys.stdin:
    given = json.loads(line)
    expect, keys = given.get("expect"), given.get("keys")
    reader = Reader(given.get("issuers", []), instant(given["now"], "now"), keys and read_keys(keys.encode("utf-8")),
                    tuple(map(read_witness, given.get("witnesses", []))), expect and read_request(expect),
                    not given.get("noProof", False))
    print(json.dumps(judge(given["text"].encode("utf-8"), reader)._asdict()))
`;

/** What it says of texts with a reader each. */
export function pythonOn(cases: readonly MadeCase[]): PythonVerdict[] {
  const lines = cases.map((one) => `${JSON.stringify({ now: isoTime(Date.now()), ...one })}\n`);
  const options = { input: lines.join(''), encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const args = ['-c', PROGRAM, dirname(PYTHON_JUDGE)];
  const { stdout, stderr } = spawnSync('python3', args, options);
  const told = stdout.split('\n').filter((line) => line !== '');
  if (told.length !== cases.length) throw new Error(`Cannot judge with Python: ${stderr}`);
  return told.map((line) => JSON.parse(line));
}

function flagsOf({ issuers = [], now, noProof }: MadeReader): string[] {
  return [
    ...issuers.flatMap((did) => ['--issuer', did]),
    ...(now === undefined ? [] : ['--now', now]),
    ...(noProof === true ? ['--no-proof'] : []),
  ];
}

function allOf(texts: readonly string[], verdicts: PythonVerdict[]): PythonVerdict[] {
  if (verdicts.length === texts.length) return verdicts;
  throw new RangeError(`Cannot judge with Python: ${verdicts.length} of ${texts.length} verdicts`);
}

function judgedByPython(flags: readonly string[], input = ''): PythonVerdict[] {
  const options = { input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr } = spawnSync('python3', [PYTHON_JUDGE, '--json', ...flags], options);
  if (stdout === '' && stderr !== '') throw new Error(`Cannot judge with Python: ${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}
