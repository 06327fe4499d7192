import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { ClientError } from '../../../compiler/client/client-error.ts';
import { judgePurchase } from '../../../compiler/client/judge-purchase.ts';
import { verify } from '../../../compiler/client/verify.ts';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { isoTime } from '../../../compiler/contract/iso-time.ts';
import type { BodyReport } from '../../../compiler/verify/body-check.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { check } from '../../../gatekeeper/rooms/check.ts';
import { jsonOf, question } from '../../gatekeeper/tiny-service.ts';
import { hasPython, PYTHON_JUDGE } from '../../verify/python-judge.ts';
import type { Handed, Trusted } from './forgery.ts';

/** What each judge says; `unreadable` for a text that it does not take for a body. */
export interface Verdicts {
  /** `signalpress verify FILE`. */
  readonly command: string;
  /** `POST /gauge/verify`. */
  readonly service: string;
  /** `verify()` of the client. */
  readonly library: string;
  /** `signalpress_verify.py`; null without Python. */
  readonly python: string | null;
  /** The client that paid for the request. */
  readonly buyer: 'taken' | 'refused';
  /** The client in Python that paid for it; null without Python. */
  readonly pythonBuyer: 'taken' | 'refused' | null;
}

export const UNREADABLE = 'unreadable';
/** Failed for what lights a built-in signal, which `signalpress_verify.py` does not know (FORMAT.md, section 4). */
export const OF_CATALOG = 'failed by the catalogue';
const IN_CATALOG = /(^|\.)lit$/;

/** Every judge on every text. */
export async function allVerdicts(given: readonly Handed[], trusted: Trusted): Promise<Verdicts[]> {
  const second = pythonJudges(given, trusted);
  const found: Verdicts[] = [];
  for (const [at, handed] of given.entries()) {
    found.push({
      command: await ofCommand(handed, trusted),
      service: await ofService(handed, trusted),
      library: ofLibrary(handed, trusted),
      python: spelled(second?.[at]?.[0] ?? null),
      buyer: ofBuyer(handed, trusted),
      pythonBuyer: second?.[at]?.[1] ?? null,
    });
  }
  return found;
}

async function ofCommand({ text }: Handed, { did, now }: Trusted): Promise<string> {
  const readStdin = (): Uint8Array => Buffer.from(text);
  const own = { issuer: [did], now, json: true, proof: false };
  const outcome = await runVerify('-', { ...own, readStdin });
  const { verdict, checks = [] } = JSON.parse(outcome.text) as Pick<BodyReport, 'checks'> & {
    readonly verdict: string;
  };
  const failed = checks.filter(({ status }) => status === 'fail');
  const isOfCatalog = failed.length > 0 && failed.every(({ where }) => IN_CATALOG.test(where));
  if (isOfCatalog) return OF_CATALOG;
  return spelled(verdict);
}

/** The word for what is no body. */
function spelled<Word extends string | null>(verdict: Word) {
  return verdict === 'undecided' ? UNREADABLE : verdict;
}

async function ofService({ text }: Handed, { service }: Trusted): Promise<string> {
  const posted = question('/gauge/verify', 'application/json', Buffer.from(text));
  const answered = await check(posted, service);
  return answered.kind === 'content' ? String(jsonOf(answered).verdict) : UNREADABLE;
}

function ofLibrary({ text }: Handed, { did, now }: Trusted): string {
  const { verdict, body } = verify(text, { issuer: did, now, demandsProof: false });
  return body === null ? UNREADABLE : verdict;
}

function ofBuyer({ target, text }: Handed, { did, now }: Trusted): Verdicts['buyer'] {
  const payment = { url: `https://shop.example${target}`, header: 'x-payment', value: '' } as const;
  const by = { catalog: BUILTIN, isSoldNow: true, demandsProof: false };
  const asked = { ...by, trusted: { trust: [did] }, target, now };
  try {
    judgePurchase({ bytes: Buffer.from(text), receipt: null, payment }, asked);
    return 'taken';
  } catch (error) {
    if (error instanceof ClientError) return 'refused';
    throw error;
  }
}

/** Bodies that one Python process judges. */
const BATCH = 500;

/** Reads `{target, text}` a line; answers what `signalpress_verify.py` says of the text, and whether a purchase of it is returned. */
const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from signalpress_answers import PendingPayment, judged_body
from signalpress_verify import Reader, judge, milliseconds
reader = Reader([sys.argv[2]], milliseconds(sys.argv[3]), needs_proof=False)
for line in sys.stdin:
    given = json.loads(line)
    data = given["text"].encode("utf-8")
    report = judge(data, reader)
    _, _, fault = judged_body(given["target"], data, PendingPayment("", "", ""), reader)
    print(json.dumps([report.verdict, "taken" if fault is None else "refused"]))
`;

/** What Python says of a text: verdict, and what its client does with a purchase that brings it. */
type PythonVerdict = readonly [verdict: string, buyer: 'taken' | 'refused'];

/** The judge and the client in Python on every text; null without Python. */
function pythonJudges(given: readonly Handed[], trusted: Trusted): PythonVerdict[] | null {
  if (!hasPython) return null;
  const found: PythonVerdict[] = [];
  for (let from = 0; from < given.length; from += BATCH) {
    found.push(...judged(given.slice(from, from + BATCH), trusted));
  }
  return found;
}

function judged(given: readonly Handed[], { did, now }: Trusted): PythonVerdict[] {
  const input = given.map(({ target, text }) => `${JSON.stringify({ target, text })}\n`).join('');
  const args = ['-c', PROGRAM, dirname(PYTHON_JUDGE), did, isoTime(now)];
  const options = { input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr } = spawnSync('python3', args, options);
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length !== given.length) throw new Error(`Cannot judge with Python: ${stderr}`);
  return lines.map((line) => JSON.parse(line) as PythonVerdict);
}
