import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../compiler/contract/defined.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
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

/** What it says of texts with a reader each; lists of keys are files in a folder, as are texts of several lines. */
export function pythonOn(cases: readonly MadeCase[], folder: string): PythonVerdict[] {
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const groups = new Map<string, number[]>();
  for (const [at, { name: _, text: _text, verdict: _verdict, ...reader }] of cases.entries()) {
    const key = JSON.stringify(reader);
    groups.set(key, [...(groups.get(key) ?? []), at]);
  }
  const found: PythonVerdict[] = [];
  for (const [key, places] of groups) {
    const reader: MadeReader = JSON.parse(key);
    const list = reader.keys === undefined ? [] : ['--keys', file('keys.json', reader.keys)];
    const paths = places.map((at) => file(`body-${at}`, cases[at]?.text ?? ''));
    const verdicts = allOf(paths, judgedByPython([...flagsOf(reader), ...list, ...paths]));
    for (const [at, place] of places.entries()) found[place] = verdicts[at] as PythonVerdict;
  }
  return found;
}

function flagsOf({ issuers = [], now, witnesses = [], expect, noProof }: MadeReader): string[] {
  return [
    ...issuers.flatMap((did) => ['--issuer', did]),
    ...(now === undefined ? [] : ['--now', now]),
    ...witnesses.flatMap((key) => ['--witness', key]),
    ...(expect === undefined ? [] : ['--expect', expect]),
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
