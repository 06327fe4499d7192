import type { Clock } from '../../../compiler/system/clock.ts';

/** A clock that waits in no time. */
export class VirtualClock implements Clock {
  /** Every wait that was asked for, in milliseconds. */
  readonly waits: number[] = [];
  ms: number;

  constructor(start: string) {
    this.ms = Date.parse(start);
  }

  now(): number {
    return this.ms;
  }

  steady(): number {
    return this.ms;
  }

  async sleep(ms: number): Promise<void> {
    this.waits.push(ms);
    this.ms += ms;
    // Others get a turn, as they do in a real wait.
    await new Promise((resolve) => setImmediate(resolve));
  }

  random(): number {
    return 0.5;
  }
}
