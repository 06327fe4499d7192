import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { ClientError } from '../../../compiler/client/client-error.ts';
import { judgePurchase } from '../../../compiler/client/judge-purchase.ts';
import { verify } from '../../../compiler/client/verify.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { SERIES_CSV_HEADER } from '../../../compiler/products/shapes/series.ts';
import { bodyOfText } from '../../../compiler/products/shapes/series-csv.ts';
import type { BodyReport } from '../../../compiler/verify/body-check.ts';
import { isFormat2 } from '../../../compiler/verify/format-2.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { check } from '../../../gatekeeper/rooms/check.ts';
import { jsonOf, question } from '../../gatekeeper/tiny-service.ts';
import { failsBeyond, wordOf } from '../../verify/first-judge.ts';
import { hasPython, PYTHON_JUDGE } from '../../verify/python-judge.ts';
import type { Handed, Trusted } from './body-forgeries.ts';

/** What each judge says, in the words of FORMAT.md, section 9. */
export interface Verdicts {
  /** `signalpress verify FILE`. */
  readonly command: string;
  /** `POST /gauge/verify`. */
  readonly service: string;
  /** `verify()` of the client. */
  readonly library: string;
  /** `signalpress_verify.py`; null without Python, and of format 2. */
  readonly python: string | null;
  /** The client that paid for the request. */
  readonly buyer: 'taken' | 'refused';
  /** The client in Python that paid for it; null without Python. */
  readonly pythonBuyer: 'taken' | 'refused' | null;
}

const UNREADABLE = 'undecided';
/** Failed by what `signalpress_verify.py` leaves to the first judge. */
export const BEYOND = 'failed beyond the core';

/** Every judge on every text. */
export async function allVerdicts(given: readonly Handed[], trusted: Trusted): Promise<Verdicts[]> {
  const second = pythonJudges(given, trusted);
  const found: Verdicts[] = [];
  for (const [at, handed] of given.entries()) {
    found.push({
      command: await ofCommand(handed, trusted),
      service: await ofService(handed, trusted),
      library: ofLibrary(handed, trusted),
      python: saidInPython(handed, second?.[at]?.[0] ?? null),
      buyer: ofBuyer(handed, trusted),
      pythonBuyer: second?.[at]?.[1] ?? null,
    });
  }
  return found;
}

/** It leaves bodies of format 2 to the command (FORMAT.md, section 4): then it says nothing of them. */
function saidInPython({ text }: Handed, verdict: string | null): string | null {
  if (verdict !== 'undecided') return verdict;
  try {
    return isFormat2(bodyOfText(text)) ? null : verdict;
  } catch {
    return verdict;
  }
}

async function ofCommand({ text, isOfIssuer }: Handed, { did, now }: Trusted): Promise<string> {
  const readStdin = (): Uint8Array => Buffer.from(text);
  const own = { issuer: [did], now, json: true };
  const outcome = await runVerify('-', { ...own, readStdin });
  const { verdict, checks = [] } = JSON.parse(outcome.text) as Pick<BodyReport, 'checks'> & {
    readonly verdict: string;
  };
  if (failsBeyond(checks)) return BEYOND;
  // The command takes no body without its proof, whoever hands it over.
  if (isOfIssuer && verdict === 'unproven') return spelled('verified', text);
  return verdict === UNREADABLE ? verdict : spelled(verdict, text);
}

function spelled(verdict: string, text: string): string {
  return wordOf(verdict, isTable(text) ? null : bodyOfText(text));
}

/** A table without a signature is no body. */
function isTable(text: string): boolean {
  return text.startsWith(SERIES_CSV_HEADER);
}

async function ofService({ text }: Handed, { service }: Trusted): Promise<string> {
  const posted = question('/gauge/verify', 'application/json', Buffer.from(text));
  const answered = await check(posted, service);
  return answered.kind === 'content' ? spelled(String(jsonOf(answered).verdict), text) : UNREADABLE;
}

function ofLibrary({ text, isOfIssuer }: Handed, { did, now }: Trusted): string {
  const demandsProof = isOfIssuer ? false : undefined;
  const { verdict, body } = verify(text, { issuer: did, now, demandsProof });
  // A text that says null is read, and nobody signed it.
  return body === null && verdict === 'failed' ? UNREADABLE : spelled(verdict, text);
}

function ofBuyer({ target, text }: Handed, { did, now }: Trusted): Verdicts['buyer'] {
  const payment = {
    url: `https://shop.example${target}`,
    header: 'x-payment',
    value: PAID,
  } as const;
  const by = { catalog: BUILTIN, isSoldNow: true, demandsProof: true };
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

/**
 * Reads `{target, text, isOfIssuer}` a line; answers what `signalpress_verify.py` says of the text, and whether a purchase
 * of it is returned.
 */
const PROGRAM = `
import json, sys
sys.path.insert(0, sys.argv[1])
from signalpress_answers import PendingPayment, judged_body
from signalpress_verify import Reader, judge, milliseconds
reader = Reader([sys.argv[2]], milliseconds(sys.argv[3]))
for line in sys.stdin:
    given = json.loads(line)
    data = given["text"].encode("utf-8")
    report = judge(data, reader._replace(needs_proof=not given["isOfIssuer"]))
    _, _, fault = judged_body(given["target"], data, PendingPayment("", "", ""), reader)
    print(json.dumps([report.verdict, "taken" if fault is None else "refused"]))
`;

const PAID = btoa(JSON.stringify({ network: 'base', payload: { authorization: { value: '1' } } }));

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
  const lines = given.map(({ target, text, isOfIssuer = false }) => {
    return `${JSON.stringify({ target, text, isOfIssuer })}\n`;
  });
  const args = ['-c', PROGRAM, dirname(PYTHON_JUDGE), did, isoTime(now)];
  const options = { input: lines.join(''), encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { stdout, stderr } = spawnSync('python3', args, options);
  const told = stdout.split('\n').filter((line) => line !== '');
  if (told.length !== given.length) throw new Error(`Cannot judge with Python: ${stderr}`);
  return told.map((line) => JSON.parse(line) as PythonVerdict);
}
