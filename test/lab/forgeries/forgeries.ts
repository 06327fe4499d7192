import { campaign } from '../campaign.ts';
import { type Forgery, type IsTrue, SAME_VALUE, type Trusted } from './body-forgeries.ts';
import { allVerdicts, BEYOND, type Verdicts } from './judges.ts';
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
