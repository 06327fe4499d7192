import { createHash } from 'node:crypto';
import { type Answer, type Purchase, send } from '../../chain/buyer.ts';

const RANGE = 2 ** 32;

/** A number in [0, 1) that depends on the seed and the label alone, so that chance does not depend on timing. */
export function draw(seed: number, label: string): number {
  return createHash('sha256').update(`${seed}|${label}`).digest().readUInt32BE(0) / RANGE;
}

/** One of the choices, each as likely as its weight says. */
export function choose<T>(chance: number, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let left = chance * total;
  for (const [choice, weight] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  throw new RangeError('Cannot choose: no choices');
}

/** How a client behaves beside buying. */
type Manner =
  | 'plain'
  /** Hangs up at a random instant and comes back. */
  | 'hang-up'
  /** Sends the payment several times at once. */
  | 'copies'
  /** Somebody else submits the authorization at the same time. */
  | 'front-run'
  /** Cancels the authorization at the same time. */
  | 'cancel'
  /** Goes away after the first answer that is not a 200, and buys again. */
  | 'leave';

const MANNERS: readonly (readonly [Manner, number])[] = [
  ['plain', 40],
  ['leave', 10],
  ['hang-up', 20],
  ['copies', 15],
  ['front-run', 8],
  ['cancel', 7],
];
const COPIES = 4;
const HANG_UP_MS_MAX = 120;
const HANG_UPS_MAX = 3;
const RETRY_MS = 150;
/** Refusals after which a client gives up; each time the same payment was sent. */
const REFUSALS_MAX = 3;
/**
 * Time after which a buyer who left buys again, once the calls that were under way for it are done: what moves after it was
 * asked for without a request. A facilitator without processor time takes longer than this pause.
 */
const LEAVE_MS = 2000;
/** Longest wait for those calls. */
const UNDER_WAY_MS = 150_000;
/** Far longer than anything that a purchase waits for. */
const PURCHASE_TIMEOUT_MS = 180_000;

/** Everything that a client saw of one purchase. */
export interface Story {
  readonly index: number;
  readonly manner: Manner;
  readonly purchase: Purchase;
  /** Bodies and receipts of every 200. */
  readonly delivered: readonly Answer[];
  readonly refusals: number;
  readonly outages: number;
  /** The payment on another resource was answered with content. */
  readonly openedAnother: boolean;
  readonly finished: boolean;
  /** The payment that the client walked away from, and whether it had been charged by then. */
  readonly left: Left | null;
  /** It stopped while parts were killed, and came back afterwards. */
  readonly cameBack?: true;
  /** How often each answer came, in its own words. */
  readonly heard: Readonly<Record<string, number>>;
}

export interface Left {
  readonly purchase: Purchase;
  readonly isPaid: boolean;
  /** When the buyer went away, and when it bought again: by `performance.now()`. */
  readonly leftMs: number;
  readonly boughtAgainMs: number;
}

export interface BuyerOptions {
  readonly seed: number;
  readonly index: number;
  readonly url: string;
  readonly manner: Manner;
  readonly purchase: Purchase;
  /** A resource of the same price that was not paid for. */
  readonly other: string;
  /** Whether the transfer is on chain: then the client goes on whatever it is told. */
  readonly isPaid: (purchase: Purchase) => Promise<boolean>;
  /** Waits for calls that settle the payment and were sent before; resolves after a time in any case. */
  readonly underWay: (purchase: Purchase, timeoutMs: number) => Promise<void>;
  /** Signs another payment for the same request. */
  readonly signAgain: () => Promise<Purchase>;
}

/** Buys in the manner of the client; whoever leaves signs again, as a client does that was told too little. */
export async function buy(options: BuyerOptions): Promise<Story> {
  if (options.manner !== 'leave') return insist(options, null);
  const { url, purchase, isPaid, underWay, signAgain } = options;
  const first = await send(url, purchase);
  if (first?.status === 200) return insist(options, null);
  const leftMs = performance.now();
  await pause(LEAVE_MS);
  await underWay(purchase, UNDER_WAY_MS);
  const boughtAgainMs = performance.now();
  const left = { purchase, isPaid: await isPaid(purchase), leftMs, boughtAgainMs };
  return insist({ ...options, purchase: await signAgain() }, left);
}

/**
 * Who was told to come again for so long that it stopped comes back with the same payment once nothing is killed any more:
 * what it paid for is still to be had.
 */
export async function comeBack(story: Story, options: BuyerOptions): Promise<Story> {
  const { purchase, left, manner } = story;
  const again = await insist({ ...options, purchase, manner: 'plain' }, left);
  const outages = story.outages + again.outages;
  const heard = { ...story.heard };
  for (const [words, times] of Object.entries(again.heard))
    heard[words] = (heard[words] ?? 0) + times;
  return { ...again, manner, outages, heard, cameBack: true };
}

/** Sends one payment until it is answered or given up, then tries to get more than it paid for. */
async function insist(options: BuyerOptions, left: Story['left']): Promise<Story> {
  const { index, manner, purchase, url, other } = options;
  const seen = { delivered: [] as Answer[], refusals: 0, outages: 0, hangUps: 0, heard: {} };
  const deadline = performance.now() + PURCHASE_TIMEOUT_MS;
  while (seen.delivered.length === 0 && performance.now() < deadline) {
    for (const answer of await sendOnce(options, seen)) note(answer, seen);
    const isOver = seen.refusals >= REFUSALS_MAX;
    if (isOver && (isForestalled(manner, seen) || !(await options.isPaid(purchase)))) break;
    if (seen.delivered.length === 0) await pause(RETRY_MS);
  }
  const finished = seen.delivered.length > 0 || seen.refusals >= REFUSALS_MAX;
  // What was refused and not charged may still buy anything, once.
  const isBound = seen.delivered.length > 0;
  const stolen = isBound ? await send(url, { ...purchase, target: other }) : null;
  if (isBound) note(await send(url, purchase), seen);
  const { delivered, refusals, outages, heard } = seen;
  const openedAnother = stolen?.status === 200;
  const seenSo = { delivered, refusals, outages, openedAnother, finished, heard };
  return { index, manner, purchase, left, ...seenSo };
}

/** Somebody else submitted it before the shop claimed it, and the shop says so: it never sells. */
export function isForestalled(manner: Manner, { heard }: Pick<Story, 'heard'>): boolean {
  const says = (words: string): boolean => words.startsWith('402 authorization_already_used');
  return manner === 'front-run' && Object.keys(heard).some(says);
}

interface Seen {
  delivered: Answer[];
  refusals: number;
  outages: number;
  hangUps: number;
  heard: Record<string, number>;
}

async function sendOnce(
  { seed, index, manner, purchase, url }: BuyerOptions,
  seen: Seen,
): Promise<readonly (Answer | null)[]> {
  if (manner === 'copies') {
    return Promise.all(Array.from({ length: COPIES }, () => send(url, purchase)));
  }
  if (manner !== 'hang-up' || seen.hangUps >= HANG_UPS_MAX) return [await send(url, purchase)];
  seen.hangUps += 1;
  const afterMs = draw(seed, `hang-up ${index} ${seen.hangUps}`) * HANG_UP_MS_MAX;
  return [await send(url, purchase, AbortSignal.timeout(Math.max(1, Math.round(afterMs))))];
}

/** Characters of an answer that tell it from others. */
const HEARD_CHARS = 60;

function note(answer: Answer | null, seen: Seen): void {
  const words = answer === null ? 'no answer' : wordsOf(answer);
  seen.heard[words] = (seen.heard[words] ?? 0) + 1;
  if (answer === null || answer.status >= 500) seen.outages += 1;
  else if (answer.status === 200) seen.delivered.push(answer);
  else seen.refusals += 1;
}

function wordsOf({ status, body }: Answer): string {
  const [, error = ''] = /"error":"([^"]*)/.exec(body) ?? [];
  return `${status} ${error.slice(0, HEARD_CHARS)}`.trim();
}

/** The manner of a client by its number. */
export function mannerOf(seed: number, index: number): Manner {
  return choose(draw(seed, `manner ${index}`), MANNERS);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
