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
import { failsBeyond, hasPython, PYTHON_JUDGE, wordOf } from '../../verify/python-judge.ts';
import { campaign } from '../campaign.ts';
import {
  type Forgery,
  type Handed,
  type IsTrue,
  SAME_VALUE,
  type Trusted,
} from './body-forgeries.ts';
import { readingForgeries, settlementForgeries } from './plan.ts';
import {
  isTrueReading,
  isTrueSettlement,
  readingShop,
  SETTLEMENT_NOW,
  settlementShop,
} from './shops.ts';

/**
 * Shows forged bodies to every judge: the command, POST /gauge/verify, the client and signalpress_verify.py. None may believe a
 * lie, and all have to say the same (I53).
 */
export const experiment = campaign(
  { seed: 24, forgeries: 24_000 },
  async ({ flags, random, say, progress }) => {
    const half = Math.ceil(flags.forgeries / 2);
    const wrong: string[] = [];
    const judge = async (
      name: string,
      forgeries: readonly Forgery[],
      ...judges: [Trusted, IsTrue]
    ): Promise<void> => {
      const result = await runForgeries(forgeries, ...judges, progress);
      const { judged, harmless, verdicts, passed, disputed } = result;
      say(`seed ${flags.seed}: ${forgeries.length} forgeries of ${name}`);
      say(`  judged ${JSON.stringify(judged)}`);
      say(`  verdicts ${JSON.stringify(verdicts)}; true all the same ${JSON.stringify(harmless)}`);
      say(`  ${passed.length} lies passed, ${disputed.length} disputed`);
      wrong.push(...passed, ...disputed);
    };
    const filings = await settlementShop();
    const trusted = { did: filings.did, service: filings.service, now: SETTLEMENT_NOW };
    const ofFilings = settlementForgeries(filings, half, random);
    await judge('settlement answers', ofFilings, trusted, isTrueSettlement(filings));
    const { moments, ask, ...reader } = await readingShop();
    const others = readingForgeries(moments, half, random);
    await judge('all other bodies', others, reader, isTrueReading(ask, reader.now));
    return wrong;
  },
);

/** Forgeries that are judged before the next ones are made. */
const BATCH = 500;

interface ForgeryResult {
  /** Forgeries judged, by kind. */
  readonly judged: Record<string, number>;
  /** What verified and says nothing untrue, by kind: another spelling, another true moment, the answer to another question. */
  readonly harmless: Record<string, number>;
  /** How many texts each verdict of the command was about. */
  readonly verdicts: Record<string, number>;
  /** Lies that a judge took for the truth. */
  readonly passed: string[];
  /** What the judges do not agree about. */
  readonly disputed: string[];
}

/** Shows forgeries to every judge. */
export async function runForgeries(
  forgeries: readonly Forgery[],
  trusted: Trusted,
  isTrue: IsTrue,
  progress?: (done: number, all: number) => void,
): Promise<ForgeryResult> {
  const result: ForgeryResult = {
    judged: {},
    harmless: {},
    verdicts: {},
    passed: [],
    disputed: [],
  };
  for (let from = 0; from < forgeries.length; from += BATCH) {
    progress?.(from, forgeries.length);
    const some = forgeries.slice(from, from + BATCH).map((forgery) => ({
      ...forgery,
      text: forgery.make(),
    }));
    const verdicts = await allVerdicts(some, trusted);
    for (const [at, handed] of some.entries()) {
      const stated = verdicts[at];
      if (stated !== undefined) await note(result, { ...handed, stated }, isTrue);
    }
  }
  return result;
}

interface Judged extends Omit<Forgery, 'make'> {
  readonly text: string;
  readonly stated: Verdicts;
}

async function note(result: ForgeryResult, judged: Judged, isTrue: IsTrue): Promise<void> {
  const { kind, target, where, text, stated } = judged;
  const told = `${kind}: ${target} ${where}: ${JSON.stringify(stated)}`;
  add(result.judged, kind);
  add(result.verdicts, stated.command);
  if (isDisputed(judged)) result.disputed.push(told);
  if (judged.isOfIssuer === true) return;
  const isTaken = [stated.buyer, stated.pythonBuyer].includes('taken');
  const isBought = isTaken && stated.command !== 'unsigned';
  if (kind === 'other spelling' && SAME_VALUE.has(where) && stated.buyer !== 'taken') {
    result.disputed.push(`refused though it says the same: ${told}`);
  }
  if (!Object.values(stated).includes('verified') && !isBought) return;
  if (await isTrue(text, target, isBought)) add(result.harmless, kind);
  else result.passed.push(told);
}

/** Whether the judges disagree. What is beyond the core is for the judges of the program alone. */
export function isDisputed({
  isOfIssuer = false,
  stated,
}: Pick<Judged, 'isOfIssuer' | 'stated'>): boolean {
  const { command, service, library, python, buyer, pythonBuyer } = stated;
  if (!isOfIssuer && (pythonBuyer ?? buyer) !== buyer) return true;
  const isBeyond = command === BEYOND;
  const said = isBeyond ? 'failed' : command;
  const words = isOfIssuer ? [library] : [library, service];
  const isOther = python !== said && !(isBeyond && python === 'verified');
  return words.some((word) => word !== said) || (python !== null && isOther);
}

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

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
const BODIES_A_CALL = 500;

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
  for (let from = 0; from < given.length; from += BODIES_A_CALL) {
    found.push(...judged(given.slice(from, from + BODIES_A_CALL), trusted));
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
