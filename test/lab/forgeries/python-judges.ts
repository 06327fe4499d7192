import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { isoTime } from '../../../compiler/contract/iso-time.ts';
import { hasPython, VERIFY_RECORD } from '../../verify/python-judge.ts';
import type { Handed, Trusted } from './forgery.ts';

/** Bodies that one Python process judges. */
const BATCH = 500;

/** Reads `{target, text}` a line; answers what `verify_record.py` says of the text, and whether a purchase of it is returned. */
const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from signalpress_answers import Verification, judged_body
from verify_body import judge, judge_body
from verify_demands import target_of
from verify_json import milliseconds
from verify_keys import Reader
reader = Reader([sys.argv[2]], milliseconds(sys.argv[3]), demands_proof=False)
for line in sys.stdin:
    given = json.loads(line)
    data = given["text"].encode("utf-8")
    report = Verification(*judge(judge_body, lambda: data, reader))
    _, fault = judged_body(*target_of(given["target"]), data, report)
    print(json.dumps([report.verdict, "taken" if fault is None else "refused"]))
`;

/** What Python says of a text: verdict, and what its client does with a purchase that brings it. */
export type PythonVerdict = readonly [verdict: string, buyer: 'taken' | 'refused'];

/** The judge and the client in Python on every text; null without Python. */
export function pythonJudges(given: readonly Handed[], trusted: Trusted): PythonVerdict[] | null {
  if (!hasPython) return null;
  const found: PythonVerdict[] = [];
  for (let from = 0; from < given.length; from += BATCH) {
    found.push(...judged(given.slice(from, from + BATCH), trusted));
  }
  return found;
}

function judged(given: readonly Handed[], { did, now }: Trusted): PythonVerdict[] {
  const input = given.map(({ target, text }) => `${JSON.stringify({ target, text })}\n`).join('');
  const args = ['-c', PROGRAM, dirname(VERIFY_RECORD), did, isoTime(now)];
  const options = { input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr } = spawnSync('python3', args, options);
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== given.length) throw new Error(`Cannot judge with Python: ${stderr}`);
  return lines.map((line) => JSON.parse(line) as PythonVerdict);
}
