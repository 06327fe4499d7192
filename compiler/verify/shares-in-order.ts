import type { Faults } from './release-fault.ts';
import type { ShareResult } from './share-check.ts';
import { type Counted, count, type Tally } from './tally.ts';

/** Sums up the shares of a release in the order of its list, whatever order they come in. */
export class SharesInOrder {
  readonly tally: Tally = {};
  readonly sums = {
    bytes: 0,
    bodies: 0,
    records: 0,
    bundles: 0,
    cited: 0,
    subjects: 0,
    damaged: 0,
  };
  readonly #faults: Faults;
  readonly #early = new Map<number, ShareResult>();
  #next = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  take(chunk: number, result: ShareResult): void {
    this.#early.set(chunk, result);
    for (let ready = this.#early.get(this.#next); ready; ready = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#next += 1;
      this.#add(ready);
    }
  }

  #add(result: ShareResult): void {
    for (const [name, more] of Object.entries(result.tally)) {
      count(this.tally, name as Counted, more);
    }
    for (const name of Object.keys(this.sums) as (keyof typeof this.sums)[]) {
      this.sums[name] += result[name];
    }
    this.#faults.addAll(result);
  }
}
