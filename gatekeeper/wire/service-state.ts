/**
 * What a gatekeeper is for, and why it cannot do it at this moment.
 *
 *  - It **serves** while a whole release is in hand. A balancer sends requests as long as it does.
 *  - It **sells** while payments can be written down, settled and checked. Free answers and what was paid already do not
 *    depend on it.
 *  - It **publishes** while newer releases reach its clients.
 *
 * Each has reasons, and each reason begins and ends. The part that notices it says so (`trouble`), or is asked again and
 * again (`watch`). Whoever wants to know reads it here: the log (one line for each beginning and each end), `/healthz`,
 * the metrics and their alerts. A table of `gatekeeper/SIGNS.md` is made of them. Nothing here decides whether a payment
 * is taken.
 */

export const STATES = ['serves', 'sells', 'publishes'] as const;
export type StateName = (typeof STATES)[number];

export interface ReasonRow {
  readonly state: StateName;
  /** Of its beginning in the log; its end is news. */
  readonly level: 'info' | 'warn' | 'error';
  /** The event of the log that tells of its end; its beginning has the name of the reason. */
  readonly over: string;
  /** What it is, and what the operator can do: a table of `gatekeeper/SIGNS.md` is made of both. */
  readonly means: string;
  /** Stands in the log too. */
  readonly do?: string;
  /** What strangers are told in place of the details, which may name hosts. */
  readonly says?: string;
  /** The shop works on with what it has: `/healthz` tells it among its warnings. */
  readonly warns?: true;
}

export const REASONS = {
  stopping: {
    state: 'serves',
    level: 'info',
    over: 'stopped',
    means: 'it answers what it accepted',
  },
  release_lost: {
    state: 'serves',
    level: 'error',
    over: 'release_back',
    means: 'the files of the release are gone: 503 to whatever is not in memory',
    do: 'mount the data folder; check its disk',
  },
  journal_lost: {
    state: 'sells',
    level: 'error',
    over: 'journal_back',
    says: 'the payment journal cannot be written: see the log',
    means: 'the database of the journal cannot be reached or is not fit; no new payment is taken',
    do: 'start the database, or do what the message says',
  },
  journal_failing: {
    state: 'sells',
    level: 'error',
    over: 'journal_writes',
    says: 'the payment journal cannot be written: see the log',
    means:
      'the last payment could not be recorded: the disk is full or failing, or the file is gone',
    do: 'make room, or put the file back without a restart (gatekeeper/SIGNS.md); after "the disk refused a sync" check the disk, then restart',
  },
  journal_slow: {
    state: 'sells',
    level: 'warn',
    over: 'journal_quick',
    means: 'in the last 30 s the journal took more than 2 s to read or write',
    do: 'check the load of the database, or the disk of SIGNALPRESS_STATE',
  },
  clock_behind: {
    state: 'sells',
    level: 'error',
    over: 'clock_right',
    says: 'the clock is behind the payment journal: no new payment is taken',
    means:
      'the clock is more than 5 s behind the newest time in the journal: no new payment is taken',
    do: 'correct the clock; if it is right but once ran ahead, run "ledger accept-clock"',
  },
  clock_off: {
    state: 'sells',
    level: 'error',
    over: 'clock_agrees',
    says: 'the clock is not that of the chain node or facilitator: no new payment is taken',
    means:
      'the clock is more than 10 minutes from that of the chain node or facilitator: no new payment is taken',
    do: 'correct the clock, or have the other one corrected',
  },
  facilitator_lost: {
    state: 'sells',
    level: 'error',
    over: 'facilitator_back',
    says: 'the facilitator is out of reach: see the log',
    means: 'the facilitator does not answer even our own question every 15 s; payments get a 503',
    do: 'check SIGNALPRESS_FACILITATOR_URL, the network, its auth module; ask its operator',
  },
  facilitators_skipped: {
    state: 'sells',
    level: 'error',
    over: 'facilitators_asked',
    says: 'no facilitator gives verdicts: no payment is taken',
    means: 'each facilitator failed, also on our own question; payments get a 503',
    do: 'look for no_verdict in the log; check SIGNALPRESS_FACILITATOR_AUTH',
  },
  facilitator_slow: {
    state: 'sells',
    level: 'warn',
    over: 'facilitator_quick',
    means: 'in the last 30 s a call of the facilitator took more than 10 s',
    do: 'ask its operator; add a second one to SIGNALPRESS_FACILITATOR_URL',
  },
  node_lost: {
    state: 'sells',
    level: 'error',
    over: 'node_back',
    says: 'the chain node is out of reach: see the log',
    means:
      'the chain node of a network does not answer, refuses us, serves another chain, or is over 2 minutes behind',
    do: 'check the node and SIGNALPRESS_RPC_URL',
  },
  releases_lost: {
    state: 'publishes',
    level: 'error',
    over: 'releases_back',
    means:
      '"current" cannot be read, or was not looked at for 30 s; the release in memory is served on',
    do: 'mount or compile the data folder; check its disk',
  },
  release_refused: {
    state: 'publishes',
    level: 'error',
    over: 'release_taken',
    says: 'stale: the newest release is refused, see the log',
    warns: true,
    means:
      'the newest release is damaged, does not verify, is older, is of a log that forks, or goes back in time without a signed clock correction; the one before is served on',
    do: 'do what the error says: restore the data folder, take the log back (signalpress adopt), or compile again',
  },
  release_foreign: {
    state: 'publishes',
    level: 'warn',
    over: 'release_taken',
    says: 'stale: the newest release needs another version of the gatekeeper, see the log',
    warns: true,
    means:
      'this program does not read the contract of the newest release; the one before is served on',
    do: 'run the version that the error names',
  },
  release_stale: {
    state: 'publishes',
    level: 'warn',
    over: 'release_fresh',
    says: 'stale: the release is past its valid_until',
    warns: true,
    means: 'the release is past its valid_until',
    do: 'compile again',
  },
  data_host_unreachable: {
    state: 'publishes',
    level: 'error',
    over: 'data_host_back',
    says: 'stale: host unreachable',
    warns: true,
    means: 'the host of the data does not answer; what the cache has is sold on, all else is a 503',
    do: 'check the host',
  },
  data_host_without_head: {
    state: 'publishes',
    level: 'warn',
    over: 'data_host_back',
    says: 'stale: host without a readable head',
    warns: true,
    means: 'the host of the data answers, but not with current/release.json',
    do: 'publish there; check SIGNALPRESS_DATA_AUTH',
  },
} as const satisfies Readonly<Record<string, ReasonRow>>;
export type Reason = keyof typeof REASONS;

const LOOK_MS = 1000;
/** Time between two questions to somebody else, who may take a while and may count them. */
const ASK_MS = 15_000;

/** One reason, as far as one part knows it. */
export interface Trouble {
  /** ISO time; null while all is well. */
  readonly since: string | null;
  /** Said again, it is no news, unless `more`, which are members for the log, say something else. */
  begin(error: string, more?: Readonly<Record<string, unknown>>): void;
  end(): void;
}

export interface Standing {
  readonly reason: Reason;
  /** Which one of several, such as a network; '' where there is one. */
  readonly of: string;
  readonly since: string;
  /** For anybody to read. */
  readonly why: string;
}

interface ServiceStateOptions {
  readonly clock: () => number;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly askMs?: number;
}

export class ServiceState {
  readonly #options: ServiceStateOptions;
  readonly #troubles = new Map<string, StandingTrouble>();
  readonly #looks: (() => void)[] = [];
  readonly #timers: NodeJS.Timeout[] = [];
  #isClosed = false;

  constructor(options: ServiceStateOptions) {
    this.#options = options;
  }

  /** The way to report a reason; the same one for the same words. */
  trouble(reason: Reason, of = ''): Trouble {
    const key = `${reason} ${of}`;
    const known = this.#troubles.get(key);
    if (known !== undefined) return known;
    const made = new StandingTrouble(reason, of, {
      clock: this.#options.clock,
      log: (entry) => this.#note(reason, entry),
    });
    this.#troubles.set(key, made);
    return made;
  }

  /** Asks from now on for what is wrong, null for nothing. */
  watch(reason: Reason, look: () => string | null, of = ''): void {
    const trouble = this.trouble(reason, of);
    this.#looks.push(() => {
      const error = look();
      if (error === null) trouble.end();
      else trouble.begin(error);
    });
  }

  /** The same over a network, every 15 s; `look` must not reject. Calling what this returns asks at once. */
  ask(reason: Reason, look: () => Promise<string | null>, of = ''): () => void {
    const trouble = this.trouble(reason, of);
    let isAsking = false;
    const again = async (): Promise<void> => {
      if (isAsking || this.#isClosed) return;
      isAsking = true;
      const error = await look();
      isAsking = false;
      if (error === null) trouble.end();
      else trouble.begin(error);
    };
    this.#every(this.#options.askMs ?? ASK_MS, () => void again());
    return () => void again();
  }

  /** Looks now, and again every second until it is closed. */
  run(): void {
    this.#look();
    this.#every(LOOK_MS, () => this.#look());
  }

  /** All reasons of this moment; a state without one holds. */
  standing(): readonly Standing[] {
    this.#look();
    return [...this.#troubles.values()].flatMap((trouble) => trouble.standing() ?? []);
  }

  /** What happens from now on is no news. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
  }

  #every(ms: number, work: () => void): void {
    this.#timers.push(setInterval(work, ms).unref());
  }

  #look(): void {
    if (this.#isClosed) return;
    for (const look of this.#looks) look();
  }

  #note(reason: Reason, { event, ...entry }: Readonly<Record<string, unknown>>): void {
    if (this.#isClosed) return;
    const { state } = REASONS[reason];
    const all = [...this.#troubles.values()];
    const ok = all.every((one) => one.since === null || one.state !== state);
    this.#options.log({ event, state, ok, ...entry });
  }
}

/** The reasons of a state among all. */
export function reasonsOf(state: StateName, standing: readonly Standing[]): readonly Standing[] {
  return standing.filter(({ reason }) => REASONS[reason].state === state);
}

class StandingTrouble implements Trouble {
  since: string | null = null;
  readonly #reason: Reason;
  readonly #named: { readonly of?: string };
  readonly #options: ServiceStateOptions;
  #error = '';
  /** What the log heard last beside the error. */
  #more = '';

  constructor(reason: Reason, of: string, options: ServiceStateOptions) {
    this.#reason = reason;
    this.#named = of === '' ? {} : { of };
    this.#options = options;
  }

  get state(): StateName {
    return REASONS[this.#reason].state;
  }

  begin(error: string, more: Readonly<Record<string, unknown>> = {}): void {
    const said = JSON.stringify(more);
    if (this.since !== null && said === this.#more) return;
    this.since ??= new Date(this.#options.clock()).toISOString();
    this.#more = said;
    this.#error = error;
    const { since } = this;
    const { do: remedy }: ReasonRow = REASONS[this.#reason];
    const act = remedy === undefined ? {} : { do: remedy };
    this.#options.log({ event: this.#reason, since, ...this.#named, error, ...act, ...more });
  }

  end(): void {
    const { since } = this;
    if (since === null) return;
    this.since = null;
    this.#options.log({ event: REASONS[this.#reason].over, since, ...this.#named });
  }

  standing(): Standing | null {
    const { since } = this;
    if (since === null) return null;
    const { says = this.#error, warns }: ReasonRow = REASONS[this.#reason];
    const why = warns === true ? `${says} since ${since}` : says;
    return { reason: this.#reason, of: this.#named.of ?? '', since, why };
  }
}

/** How long a slow call counts after it ended: others may be as slow, and the log must not hear of each. */
const SLOW_COUNTS_MS = 30_000;

/** Notices while they run that calls take too long; what hangs is noticed before it ends. */
export class CallWatch {
  readonly #slowMs: number;
  readonly #now: () => number;
  /** When each call under way began, the oldest first. */
  readonly #running = new Set<{ readonly at: number }>();
  #slowAt = Number.NEGATIVE_INFINITY;

  /** A call that takes longer than `slowMs` is slow; `now` never goes back. */
  constructor({ slowMs, now = () => performance.now() }: { slowMs: number; now?: () => number }) {
    this.#slowMs = slowMs;
    this.#now = now;
  }

  async watched<T>(call: () => Promise<T>): Promise<T> {
    const own = { at: this.#now() };
    this.#running.add(own);
    try {
      return await call();
    } finally {
      // It may be slow without anybody having looked meanwhile.
      if (this.#running.delete(own)) this.#note(own.at);
    }
  }

  /** Leaves out what is under way, and what was slow before. */
  forget(): void {
    this.#running.clear();
    this.#slowAt = Number.NEGATIVE_INFINITY;
  }

  /** That a call is slow, or was not long ago; null while all are quick enough. */
  fault(call: string): string | null {
    const [oldest] = this.#running;
    if (oldest !== undefined) this.#note(oldest.at);
    if (this.#now() - this.#slowAt >= SLOW_COUNTS_MS) return null;
    return `${call} takes more than ${this.#slowMs / 1000} s`;
  }

  #note(startedAt: number): void {
    const now = this.#now();
    if (now - startedAt >= this.#slowMs) this.#slowAt = now;
  }
}
