import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import { payer } from '../gatekeeper/payer.ts';

const FREE = '/gauge/sample';
const PAID = ['us-denver', 'us-chicago'].map(
  (entity) => `/gauge?entity=${entity}&signal_id=airquality.aqi`,
);
/** Failures that are kept word for word. */
const KEPT_MAX = 20;

/** What buyers got. */
export interface Tally {
  readonly answers: number;
  readonly purchases: number;
  /** Answers other than the expected ones, and requests without any, by words. */
  readonly failures: readonly string[];
  readonly failed: number;
}

export interface Load {
  stop(): Promise<Tally>;
}

export interface LoadOptions {
  /** Certificate of the server, where it signed that itself. */
  readonly ca?: string;
  readonly buyers: number;
  /** Name of who pays. */
  readonly account?: string;
}

/** Where the money of a name lies. */
export function addressOf(account: string): string {
  return payer(NETWORKS['base-sepolia'], account).address;
}

/** Buyers that ask one after the other without a pause, and never try again: a free file, a price, a purchase, its repeat. */
export function startLoad(url: string, { ca, buyers, account = 'load' }: LoadOptions): Load {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  const tally = { answers: 0, purchases: 0, failures: [] as string[], failed: 0 };
  let isRunning = true;
  const ask = async (target: string, status: number, headers = {}): Promise<string | null> => {
    try {
      const answer = await fetch(url + target, { dispatcher, headers });
      const text = await answer.text();
      tally.answers += 1;
      if (answer.status === status) return text;
      fail(`${target} ${answer.status} ${text.slice(0, 200)}`);
    } catch (error) {
      fail(`${target} ${error instanceof Error ? String(error.cause ?? error) : error}`);
      await pause(20);
    }
    return null;
  };
  const fail = (words: string): void => {
    tally.failed += 1;
    if (tally.failures.length < KEPT_MAX) tally.failures.push(words);
  };
  const buy = async (turn: number): Promise<void> => {
    await ask(FREE, 200);
    const target = PAID[turn % PAID.length] ?? '';
    const price = await ask(target, 402);
    if (price === null) return;
    // Behind a balancer of this machine no buyer has an address of its own.
    const named = { 'payment-identifier': randomUUID() };
    const payment = { 'x-payment': await headerFor(price, account), ...named };
    const bought = await ask(target, 200, payment);
    const again = await ask(target, 200, payment);
    if (bought !== null && again !== null && bought !== again)
      fail(`${target} differs when repeated`);
    if (bought !== null) tally.purchases += 1;
  };
  const work = async (): Promise<void> => {
    for (let turn = 0; isRunning; turn += 1) await buy(turn);
  };
  const done = Promise.all(Array.from({ length: buyers }, work));
  return {
    async stop() {
      isRunning = false;
      await done;
      await dispatcher.close();
      return tally;
    },
  };
}

async function headerFor(challenge: string, account: string): Promise<string> {
  const { accepts } = JSON.parse(challenge) as { accepts: [RequirementsV1] };
  const now = Math.floor(Date.now() / 1000);
  const nonce = `0x${createHash('sha256').update(randomUUID()).digest('hex')}` as const;
  const window = { validAfter: String(now - 600), validBefore: String(now + 300), nonce };
  return payer(NETWORKS['base-sepolia'], account).header(accepts[0], window);
}
