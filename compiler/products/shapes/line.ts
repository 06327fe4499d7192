import type { Cadence } from './freshness.ts';
import type { Ruler } from './rulers.ts';

/** Values that something can have, in its own unit. */
export interface UnitRange {
  readonly from: number;
  readonly to?: number;
}

/** A unit with its symbol, which names of metrics end in: that of `wind_speed_ms` is `ms`. */
export interface Unit {
  readonly symbol: string;
  /** In the singular: `metre per second`. */
  readonly name: string;
  /** What is measured in it: `speed`. */
  readonly quantity: string;
  /** What people read after a number, '' for nothing. */
  readonly label: string;
  readonly range?: UnitRange;
}

/** Units by their symbols. */
export type Units = ReadonlyMap<string, Unit>;

/** What a signal says of its own prices, where they are not those of every other signal. */
interface SignalTerms {
  /** Decimal USD by the word of a product; the price of the catalogue otherwise. */
  readonly prices?: Readonly<Partial<Record<string, string>>>;
  /** Words of products. */
  readonly free?: readonly string[];
}

/** How people are told of a reading; nothing of it is signed. */
export interface Words {
  readonly title?: string;
  /** What a metric is called, with its window. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Sentences with metrics in braces. */
  readonly says?: readonly string[];
  /** What is said without a value. */
  readonly none?: string;
  readonly classes?: Readonly<Record<string, string>>;
  /** Whom a reading is about that is stored under one entity and counts all of them. */
  readonly all?: string;
}

/** One measured signal: what it reads, how often, in which metrics and bands. */
export interface Signal extends SignalTerms {
  /** `genus.species`. */
  readonly id: string;
  /** A noun phrase for catalogues. */
  readonly measures: string;
  readonly cadence: Cadence;
  /** Metric names with their unit as suffix; the main one first. Others may follow in a snapshot. */
  readonly metrics: readonly [string, ...string[]];
  /** The unit of each metric; none of a state. */
  readonly unitOf: Readonly<Record<string, Unit>>;
  readonly words?: Words;
  /** Values that the main metric can have, where its publisher names limits in place of those of its unit. */
  readonly range?: UnitRange;
  /** Mildest first. */
  readonly bands?: readonly string[];
  /** Official scales, oldest first; absent when no agency publishes one for every entity. */
  readonly rulers?: readonly Ruler[];
  /** The snapshot itself may carry thresholds of its entity (river stages), and whose they are. */
  readonly ownThresholds?: readonly string[];
  /** Percentiles are computed over the last five same-season years. */
  readonly seasonal?: boolean;
  /** Entities other than the line's own: `open` takes any id. */
  readonly entities?: 'open';
}

/** One position of a causal chain: leading, current, then realized. */
export interface Leg {
  readonly name: string;
  readonly signals: readonly string[];
}

/** A path at which the legs of a line are sold as one body. */
export type BundlePath = '/gauge/region' | '/gauge/filing-company' | `/gauge/${string}-region`;

/** One subject area: its signals, its entities and the bundle that joins them. */
export interface Line {
  readonly id: string;
  readonly industry: string;
  readonly title: string;
  readonly tagline?: string;
  readonly signals: readonly Signal[];
  /** `open`: any id with a stored reading is valid; otherwise the list is closed. */
  readonly entities: readonly string[];
  readonly open: boolean;
  readonly upperCase?: boolean;
  /** Other names of the entity parameter that live clients send. */
  readonly entityAliases?: readonly string[];
  readonly bundle?: {
    readonly path: BundlePath;
    readonly param: 'loc' | 'entity';
    readonly legs: readonly Leg[];
  };
  /** Where a leg's entity differs from the bundle's: signal id -> bundle entity -> entity. */
  readonly entityOf?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Life-cycle states of the line; absent where subjects do not end. */
  readonly states?: readonly string[];
  /** Nothing is sold until the operator has a data key and snapshots exist. */
  readonly emptyUntilKeyed?: boolean;
}

/** Where an entity is, and what people call it. Nothing of it is hashed. */
export interface Place {
  readonly name: string;
  /** Degrees north and east; of an area a point inside it. */
  readonly latitude: number;
  readonly longitude: number;
  /** IANA time zone, by which its days are counted and its local time is told. */
  readonly zone?: string;
}

/** What people call an entity, and where it is; both degrees or neither. Nothing of it is hashed. */
export type NamedEntity = Pick<Place, 'name'> & Partial<Place>;

/** A signal in its line, with what is known of its entities: all that its records need of the catalogue. Plain data. */
export interface SignalEntry {
  readonly signal: Signal;
  readonly line: Line;
  /** All units of the catalogue: a reading may hold metrics beside those of its signal. */
  readonly units: Units;
  readonly named: Readonly<Record<string, NamedEntity>>;
}

/** States that every life-cycle line shares, healthiest first. */
export const LIFECYCLE_STATES = ['operating', 'at_risk', 'ended', 'dead'] as const;

/** The member of a bundle's legs that a signal is: the species of its id. */
export function legMember(signalId: string): string {
  return signalId.slice(signalId.indexOf('.') + 1);
}

/** The entity that a leg's signal is read at, for a bundle's own entity. */
export function legEntity(row: Line, signalId: string, bundleEntity: string): string {
  return row.entityOf?.[signalId]?.[bundleEntity] ?? bundleEntity;
}
