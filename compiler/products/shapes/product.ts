import type { z } from 'zod';
import type { Statement } from '../../format/citation.ts';
import type { LegReading, LineagePart } from './bundle.ts';
import type { Line, SignalEntry } from './line.ts';
import type { CensusRow, SignalRecord } from './record.ts';
import type { RosterMember } from './roster-views.ts';

// What a product is. Each one is a value in the file of its family; `products.ts` lists them. What they cost, which values
// they take and which bundles stand beside them is data: `catalog/operations.ts` joins both.

/** Decimal USD by signal id, null for free; a signal at the price of the catalogue is missing. */
export type SignalPrices = Readonly<Record<string, string | null>>;

/** One query parameter (or the one path parameter) of an operation. */
export interface Param {
  readonly type: 'string' | 'integer';
  readonly required: boolean;
  readonly description: string;
  readonly examples: readonly string[];
  /** The only legal values; any value otherwise. */
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** What an absent optional parameter means. */
  readonly default?: string;
  /** Alternative names that existing clients send. */
  readonly aliases?: readonly string[];
  readonly upperCase?: boolean;
  /** Value -> folder in front of the file path: another compiled form of the same product. */
  readonly variant?: Readonly<Record<string, string>>;
  /** Value under which the body that is sold is shown as its fact alone (`fact.ts`); a payment is for the body all the same. */
  readonly fact?: string;
  /** Value -> path of the operation that answers instead, at that operation's price. */
  readonly redirect?: Readonly<Record<string, string>>;
}
export type Params = Readonly<Record<string, Param>>;

/** How the gatekeeper answers; one function per word. */
export type Answer =
  | 'file'
  | 'series'
  | 'coverage'
  | 'catalog'
  | 'preview'
  | 'search'
  | 'preview-search'
  | 'channels'
  | 'verify'
  | 'proof'
  | 'check'
  | 'resolve'
  | 'mint'
  | 'watch'
  | 'anchor'
  | 'manifest'
  | 'basket'
  | 'rpc'
  | 'gone';

/** Kind of product, shown first in every description. */
type Tag = '[SIGNAL+PROOF]' | '[BATCH+PROOF]' | '[3-LEG]' | '[FREE]' | '[TOKEN]';

/** One operation of a catalogue: what is sold or given away, and how it is answered. */
export interface Endpoint {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** Decimal USD, or null when free. */
  readonly priceUsd: string | null;
  /** Signals of which it costs something else; a request is routed to the row at its own price (`pricedRow`). */
  readonly signalPrices?: SignalPrices;
  /** True when a subscription token opens it. */
  readonly token: boolean;
  readonly tag: Tag;
  readonly params: Params;
  readonly answer: Answer;
  /** Template of the file in a release, `{param}` per segment; absent when computed. */
  readonly file?: string;
  readonly summary: string;
}

/** A parameter of the table; the legal values of some are those of the catalogue. */
export interface TableParam extends Omit<Param, 'enum'> {
  readonly enum?: readonly string[];
  readonly values?: 'signals' | 'cities';
  /** What examples are taken from where those of the table are not in the catalogue. */
  readonly shows?: 'signals' | 'measures' | 'industries' | 'entities' | 'items';
}
export type TableParams = Readonly<Record<string, TableParam>>;

/** An operation as far as it is code: a paid one has no price yet. */
export interface TableRow extends Omit<Endpoint, 'priceUsd' | 'signalPrices' | 'params'> {
  readonly paid: boolean;
  readonly params: TableParams;
}

/** Which value a season reaches up to each percentile; the only part of the history that stands in no record. */
export type PercentileTable = readonly { readonly percentile: number; readonly value: number }[];

/** Makes a body out of one signed record; null where this record has none. */
export type RecordMaker = (
  record: SignalRecord,
  more: { readonly percentile_table: PercentileTable | null },
) => object | null;

/** What a body that joins readings is made of: what compile is about to publish, or what a release holds. */
export interface JoinedSource {
  readonly lines: readonly Line[];
  readonly entryById: ReadonlyMap<string, SignalEntry>;
  readonly namedByLine: ReadonlyMap<string, SignalEntry['named']>;
  /** The latest reading of an entity, undefined for none. */
  leg(signalId: string, entity: string): LegReading | undefined;
  /** Its record without citation; null for none. */
  record(signalId: string, entity: string): SignalRecord | null;
  /** Every entity of a signal in order, as a census shows it. */
  census(signalId: string): readonly CensusEntry[];
  /** Every subject that has this body, in order. */
  subjects(): readonly string[];
  /** The usual form, where another one is made. */
  readonly usual: object | null;
}

/** Makes the body of one subject, and what its citation states; null where nothing is stored of it. */
export type JoinedMaker = (
  subject: string,
  source: JoinedSource,
) => { readonly body: object; readonly statement: Statement } | null;

/** A body as it is delivered: its strict schema, and how it is made again of the bodies that it repeats. */
export interface Form {
  readonly body: z.ZodType;
  /** Of one record alone. */
  readonly ofRecord?: RecordMaker;
  /** Of the latest readings of several. */
  readonly ofJoined?: JoinedMaker;
}

/** What a census takes from one entity. */
export interface CensusEntry {
  readonly row: CensusRow;
  readonly part: LineagePart;
  readonly collected_at: string;
}

/** What a reading or its signal has to have, so that an add-on can be made of it. */
export type Need = 'scale' | 'season';

/** How a product of single signals is named where a catalogue sets the prices of one signal. */
export interface SignalTerm {
  readonly word: string;
  /** It repeats a part of the latest record: where that is free, nobody pays for its parts. */
  readonly isPart?: true;
  /** It holds the latest reading whole, if only in its short form: it is free only where that is. */
  readonly holdsLatest?: true;
}

/** Why a shop cannot leave an operation out. */
export const TO_VERIFY = 'buyers verify by it';
export const TO_FIND = 'answers, descriptions and the page lead to it';

/** How a collection is sold as a list of its rows. */
export interface RosterList {
  /** Id of the collection, as `products/collections.ts` names it. */
  readonly of: string;
  /** Name of the list in the body. */
  readonly member: RosterMember;
  /** What its citation claims; `lastDay` is the day of the newest capture. */
  readonly claim: (lastDay: string) => string;
  /** The row of a captured subject, of its body and its rank from 1; null for one that is not in this list. */
  readonly row?: (subject: never, rank: number) => object | null;
  /** Whether subjects stand in the order of their rank; by id otherwise. */
  readonly ranked?: boolean;
}

/** One product, or one free operation: everything that code says of it. */
export interface Product extends TableRow, Partial<Form> {
  /** Which question it answers, and what it does not answer. No other path is named: not every catalogue offers it. */
  readonly guide: string;
  /** Its other compiled forms, by the folder that a parameter's `variant` names. */
  readonly forms?: Readonly<Record<string, Form>>;
  /** Signals whose latest readings of one city it joins, in their order. */
  readonly signals?: readonly [string, ...string[]] | undefined;
  /** How `stats` calls its files; absent where their folder is shared with other kinds. */
  readonly kind?: string;
  readonly term?: SignalTerm | undefined;
  readonly list?: RosterList;
  /** Value of `dim` under which `/gauge` leads to it. */
  readonly dim?: string | undefined;
  readonly needs?: readonly Need[];
  /** Why every shop offers it, as the predicate of a sentence; absent where one may leave it out. */
  readonly needed?: string;
  /** Path of another operation, without which it is not offered. */
  readonly beside?: string;
}

/** A product as its family writes it: without what follows from the kind of its row. */
type ProductParts = Pick<Product, 'summary' | 'guide'> &
  Partial<Omit<Product, 'path' | 'paid' | 'token' | 'params'>> & { readonly params?: TableParams };

type ParamsOf<R> = R extends { readonly params: infer Given extends TableParams }
  ? Given
  : Record<never, TableParam>;

/** A product whose type also knows its path, whether it costs and the names of its parameters. */
type TypedProduct<P extends string, R extends ProductParts, Paid extends boolean> = Product & {
  readonly path: P;
  readonly paid: Paid;
  readonly params: ParamsOf<R>;
  readonly dim: R extends { readonly dim: infer Dim extends string } ? Dim : undefined;
  readonly signals: R extends { readonly signals: infer Signals } ? Signals : undefined;
  readonly term: R extends { readonly term: infer Term extends SignalTerm } ? Term : undefined;
};

/** What is sold by the call. */
export function paid<const P extends string, R extends ProductParts>(
  path: P,
  parts: R,
): TypedProduct<P, R, true> {
  return product(path, parts, { paid: true, token: false, tag: '[SIGNAL+PROOF]' });
}

/** What is given away. */
export function free<const P extends string, R extends ProductParts>(
  path: P,
  parts: R,
): TypedProduct<P, R, false> {
  return product(path, parts, { paid: false, token: false, tag: '[FREE]' });
}

/** What a subscription token opens. */
export function tokenGated<const P extends string, R extends ProductParts>(
  path: P,
  parts: R,
): TypedProduct<P, R, false> {
  return product(path, parts, { paid: false, token: true, tag: '[TOKEN]' });
}

function product<const P extends string, R extends ProductParts, Paid extends boolean>(
  path: P,
  parts: R,
  terms: Pick<Product, 'token' | 'tag'> & { readonly paid: Paid },
): TypedProduct<P, R, Paid> {
  const usual = { method: 'GET', answer: 'file', params: {} } as const;
  return { path, ...terms, ...usual, ...parts } as unknown as TypedProduct<P, R, Paid>;
}

/** A required text. */
export const text = (description: string, ...examples: readonly string[]): Param => ({
  type: 'string',
  required: true,
  description,
  examples,
});
/** The same parameter, which may be absent. */
export const optional = <P extends TableParam>(param: P): P => ({ ...param, required: false });
/** A required text out of a list. */
export const oneOf = (description: string, values: readonly string[]): Param => ({
  ...text(description, ...values.slice(0, 3)),
  enum: values,
});

/** Whether an answer brings `_proof`, that it is in the log. All that is sold takes it alike, so no description repeats it. */
const proof: Param = {
  ...optional(oneOf('0 leaves out the proof that the answer is in the log', ['1', '0'])),
  default: '1',
};

/**
 * Whether the answers of an operation bring a proof, at whatever price it is sold: a token is signed by nobody, and a basket
 * has the proofs of its parts.
 */
export function bringsProof({ tag, answer }: Pick<Endpoint, 'tag' | 'answer'>): boolean {
  return tag !== '[FREE]' && tag !== '[TOKEN]' && answer !== 'mint' && answer !== 'basket';
}

/** Every parameter that an operation takes: its own, and that of all that is sold. */
export function takenParams(endpoint: Pick<Endpoint, 'params' | 'tag' | 'answer'>): Params {
  const { params } = endpoint;
  return bringsProof(endpoint) ? { ...params, proof } : params;
}

/**
 * What is sold as a model asks for it, who pays for each word and checks no log: as its fact, else without its proof. A program
 * that verifies sends the request as it is.
 */
export function requestForModel(
  row: Pick<Endpoint, 'params' | 'tag' | 'answer' | 'priceUsd'>,
  request: string,
): string {
  const asksProof = /[?&]proof=/.test(request);
  if (row.priceUsd === null || !bringsProof(row) || asksProof) return request;
  const fact = /[?&]format=/.test(request) ? undefined : row.params.format?.fact;
  const more = fact === undefined ? 'proof=0' : `format=${fact}`;
  return `${request}${request.includes('?') ? '&' : '?'}${more}`;
}

export const signalId: TableParam = {
  ...text('signal id, genus.species; legal ones are in /gauge/catalog', 'airquality.aqi'),
  values: 'signals',
};
const entity: TableParam = {
  ...text('monitored object; legal pairs are in /gauge/catalog', 'us-denver'),
  aliases: ['issuer'],
  shows: 'entities',
};
/** The parameters of what is sold of one reading. */
export const pair = { signal_id: signalId, entity };
/** The short form of a body. */
export const thin: Param = {
  ...optional(
    oneOf('thin: signed, with identity, time, reading, class and hash alone', ['json', 'thin']),
  ),
  default: 'json',
  variant: { thin: 'thin' },
};
/** The same, and the fact of a record. */
export const thinOrFact: Param = {
  ...thin,
  ...optional(
    oneOf(
      'thin: signed, with identity, time, reading, class and hash alone; fact: for a model, some 150 tokens and unsigned; the same payment gets the signed json free',
      ['json', 'thin', 'fact'],
    ),
  ),
  fact: 'fact',
};
export const rowCores = optional(
  oneOf('1 adds _hash_core, the canonical pre-image of each row hash', ['1']),
);
export const verifiable: Param = { ...rowCores, variant: { '1': 'verifiable' } };
export const cityLoc: TableParam = { ...text('city'), values: 'cities' };
