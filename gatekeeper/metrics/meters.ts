import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import type { CircuitState } from '../facilitator/circuit.ts';
import type { SentAnswer } from '../http/request.ts';
import type { Conclusion, OpenSummary } from '../money/journal.ts';

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
] as const;
type Limit = (typeof LIMITS)[number];

/** One call of a facilitator. */
export interface FacilitatorCall {
  /** Which one, as few words as there are settings. */
  readonly facilitator: string;
  readonly call: 'verify' | 'settle';
  /** `valid`, `invalid`, `settled` or `refused`; `none` where the call brought nothing. */
  readonly verdict: string;
  readonly ms: number;
}

/** Told what happens; nothing here throws or waits. Where metrics are off, nobody is told and nothing is measured. */
export interface Meters {
  answered(answered: SentAnswer): void;
  refused(limit: Limit): void;
  stage(stage: PurchaseStage, ms: number): void;
  called(call: FacilitatorCall): void;
  concluded(conclusion: Pick<Conclusion, 'key' | 'state'>): void;
  /** The journal waited so long for the disk. */
  synced(ms: number): void;
  /** A stored body was needed: it was in memory, or had to be read. */
  read(isCached: boolean): void;
}

/** What is asked when somebody reads the metrics. */
export interface MeasuredState {
  /** Of the release that is served. */
  readonly catalog: () => Catalog;
  readonly isReady: () => boolean;
  readonly isJournalFailing: () => boolean;
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

/** A facilitator as it is named in FacilitatorCall, and whether it is asked. */
export interface NamedCircuit {
  readonly facilitator: string;
  readonly state: CircuitState;
}
