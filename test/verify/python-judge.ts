import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { sampleIn } from '../../compiler/format/citation.ts';
import { defined } from '../../compiler/format/errors.ts';
import { isoTime } from '../../compiler/format/iso-time.ts';
import { readKeyHistory } from '../../compiler/format/key-history.ts';
import { isObject, type JsonValue, parseJson } from '../../compiler/format/strict-json.ts';
import { SERIES_CSV_HEADER } from '../../compiler/products/shapes/series.ts';
import { bodyOfText } from '../../compiler/products/shapes/series-csv.ts';
import type { BodyCheck } from '../../compiler/verify/body-check.ts';
import { expectingProof, withDemands } from '../../compiler/verify/demand-checks.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';
import type { MadeCase, MadeReader, MadeVerdict } from './made-cases.ts';

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

/** Checks of a whole body beyond the core of FORMAT.md, which the judge in Python leaves to this one. */
const BEYOND_THE_CORE: readonly RegExp[] = [
  // What follows from what inside of one body: AUDIT.md, section 4.
  /^consistency (.*\.)?provenance\.(data_lineage|oldest_leg_as_of|data_age_hours|data_as_of)/,
  /^consistency (.*\.)?(data_age_hours|snapshot_date|official_cadence|last_looked_at)$/,
  /^consistency (.*\.)?_citation\.source\.published_at$/,
  // A citation deeper inside: FORMAT.md, section 2, judges the one at the top.
  /^(citation|content|consistency) (?!sample\._citation).+\._citation(\.|$)/,
  // The classes of a catalogue, and the legs of its lines.
  /^consistency (.*\.)?(lit|legs_lit|legs\.[^.]+\.(lit|signal_id|position))$/,
  // Whether an echo can be that of an answer: AUDIT.md, section 7. Nobody signs it.
  /^(echo|expect|consistency) (.*\.)?(cutoff_time|market_or_event|valid_[a-z]+)$/,
];
/** A record that says a version of its core and lacks a member, or its hash: FORMAT.md, section 3, hashes whole cores. */
const LACKING =
  /^(missing beside its core version$|Cannot compose the hash core: "\w+" is missing;)/;

/** Whether a body fails by what is not of the core alone. */
export function failsBeyond(checks: readonly BodyCheck[]): boolean {
  const faults = checks.filter(({ status }) => status === 'fail');
  const isBeyond = ({ check, where, detail }: BodyCheck): boolean =>
    BEYOND_THE_CORE.some((each) => each.test(`${check} ${where}`)) ||
    (check === 'record_hash' && LACKING.test(detail));
  return faults.length > 0 && faults.every(isBeyond);
}

/** What the judge of the program says, in the words of FORMAT.md, section 9. */
export interface FirstVerdict {
  readonly verdict: MadeVerdict;
  readonly faults: readonly BodyCheck[];
  /** Whether it fails by what is not of the core alone. */
  readonly isBeyond: boolean;
}

export function firstVerdict(text: string, reader: MadeReader): FirstVerdict {
  const none = { faults: [], isBeyond: false };
  if (text.startsWith(SERIES_CSV_HEADER)) return { verdict: 'unsigned', ...none };
  let body: JsonValue;
  try {
    body = bodyOfText(text);
  } catch {
    return { verdict: 'undecided', ...none };
  }
  const { issuers = [], keys, witnesses = [], expect, noProof } = reader;
  const now = reader.now === undefined ? undefined : Date.parse(reader.now);
  const trusted = {
    trust: issuers.length === 0 ? ('any' as const) : issuers,
    keys: keys === undefined ? undefined : readKeyHistory(parseJson(keys), isSignedBy),
    now,
    policy: witnesses.length === 0 ? undefined : readPolicy(Buffer.from(policyOf(witnesses))),
    catalog: BUILTIN,
    proof: 'noted' as const,
  };
  const judged = withDemands(verifyBody(body, trusted), body, {
    ...(expect === undefined ? {} : { expect }),
    now: now ?? Date.now(),
    catalog: BUILTIN,
  });
  const { verdict, checks } = noProof === true ? judged : expectingProof(judged, expect);
  const faults = checks.filter(({ status }) => status === 'fail');
  return { verdict: wordOf(verdict, body), faults, isBeyond: failsBeyond(checks) };
}

/** The word of FORMAT.md, section 9, for a verdict of the program. */
export function wordOf(verdict: string, body: JsonValue): MadeVerdict {
  const isOpen = verdict === 'unproven' || (verdict === 'unsigned' && isCited(body));
  return isOpen ? 'undecided' : (verdict as MadeVerdict);
}

function isCited(body: JsonValue): boolean {
  const signed = sampleIn(body) ?? body;
  return isObject(signed) && signed._citation !== undefined;
}

/** All of these witnesses have to have cosigned. */
function policyOf(witnesses: readonly string[]): string {
  const names = witnesses.map((_, at) => `W${at}`);
  const lines = witnesses.map((key, at) => `witness W${at} ${key}`);
  return `${lines.join('\n')}\ngroup All all ${names.join(' ')}\nquorum All\n`;
}
