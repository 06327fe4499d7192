import { hash } from 'node:crypto';
import { CallBudget } from '../limits/call-budget.ts';
import type { AskCode, CodeSignature } from '../money/sign-in.ts';
import { BoundedMap } from '../system/bounded-map.ts';

/** Questions about one account, and about all of them; an account may let whoever asks it wait. */
const ASKS = { perSecond: 2, factor: 5, burstS: 5, flying: 8, flyingOfAll: 16 };
/** Signatures that were not taken and are remembered, and for how long. */
const REFUSALS_MAX = 1000;
const REFUSAL_MS = 10_000;

/** Bounds what strangers can make us ask, apart from payments: a made-up message costs nothing. */
export class CodeSignatures {
  readonly #ask: AskCode;
  /** Milliseconds since the epoch. */
  readonly #clock: () => number;
  readonly #budget: CallBudget;
  readonly #refusedMs = new BoundedMap<string, number>(REFUSALS_MAX);

  constructor(ask: AskCode, clock: () => number) {
    this.#ask = ask;
    this.#clock = clock;
    this.#budget = new CallBudget({ ...ASKS, clock });
  }

  /** Null where nobody says at this moment. */
  async isTaken(of: CodeSignature): Promise<boolean | null> {
    const { network, address, digest, signature } = of;
    const name = `${network.name}|${address}|${Buffer.from(digest).toString('hex')}|${signature}`;
    const id = hash('sha256', name, 'hex');
    const refusedMs = this.#refusedMs.get(id);
    if (refusedMs !== undefined && Math.abs(this.#clock() - refusedMs) < REFUSAL_MS) return false;
    if (this.#budget.take(address) > 0) return null;
    try {
      const isTaken = await this.#ask(of);
      if (!isTaken) this.#refusedMs.set(id, this.#clock());
      return isTaken;
    } catch {
      return null;
    } finally {
      this.#budget.giveBack(address);
    }
  }
}
