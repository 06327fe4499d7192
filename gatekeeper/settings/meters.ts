import type { Catalog } from '../../compiler/catalog/catalog.ts';
import type { CircuitState } from '../settle/circuit.ts';
import type { Conclusion, OpenSummary } from '../settle/journal.ts';
import type { SentAnswer } from '../wire/request.ts';
import type { Standing } from '../wire/service-state.ts';

/** What a purchase waits for, one after the other: our own check, its answer, and four waits for others. */
export const STAGES = ['check', 'answer', 'verify', 'claim', 'settle', 'conclude'] as const;
export type PurchaseStage = (typeof STAGES)[number];

/** What keeps a request away that nothing is wrong with. */
export const LIMITS = [
  'rate',
  'connections',
  'unread',
  'purchases',
  'waiting_bytes',
  'smart_accounts',
  'strangers',
] as const;

/** How a new payment is judged before it costs anything: of a known payer, of a stranger, or why it is kept away. */
export const ADMISSIONS = [
  'known',
  'stranger',
  'insufficient',
  'used',
  'not_signed',
  'invalid',
  'limited',
  'no_answer',
] as const;
export type AdmissionOutcome = (typeof ADMISSIONS)[number];

interface FacilitatorCall {
  /** Which one, as few words as there are settings. */
  readonly facilitator: string;
  readonly call: 'verify' | 'settle';
  /** `valid`, `invalid`, `settled` or `refused`; `none` where the call brought nothing, `busy` for a 429. */
  readonly verdict: string;
  readonly ms: number;
}

/** Told what happens; nothing here throws or waits. Where metrics are off, nobody is told and nothing is measured. */
export interface Meters {
  answered(answered: SentAnswer): void;
  refused(limit: (typeof LIMITS)[number]): void;
  stage(stage: PurchaseStage, ms: number): void;
  called(call: FacilitatorCall): void;
  concluded(conclusion: {
    readonly key: string;
    readonly state: Conclusion['state'] | 'reorganised';
  }): void;
  admitted(outcome: AdmissionOutcome): void;
  /** Somebody was asked about a payer who never paid here. */
  askedOfStranger(whom: 'node' | 'facilitator'): void;
  /** The directory of a facilitator said this of our listing. */
  listed(facilitator: string, status: string): void;
  /** A call waits because a facilitator gets too many. */
  waitedForFacilitator(): void;
  /** The journal waited so long for the disk. */
  synced(ms: number): void;
  /** A stored body was needed: it was in memory, or had to be read. */
  read(isCached: boolean): void;
}

/** What is asked when somebody reads the metrics. */
export interface MeasuredState {
  /** Of the release that is served. */
  readonly catalog: () => Catalog;
  /** What keeps it from serving, selling and publishing. */
  readonly standing: () => readonly Standing[];
  /** Times in milliseconds since the epoch. */
  readonly release: () => {
    readonly sequence: number;
    readonly asOfMs: number;
    readonly validUntilMs: number | null;
  };
  readonly openPayments: () => Promise<OpenSummary>;
  readonly circuits: () => readonly NamedCircuit[];
  readonly connections: () => Promise<number>;
}

export interface NamedCircuit {
  readonly facilitator: string;
  readonly state: CircuitState;
}
