import { parseCutoff } from '../../../compiler/format/cutoff.ts';
import { settleFilings } from '../../../compiler/products/shapes/settle-filings.ts';
import { coverageOf, newestListing } from '../../../compiler/publish/assemble/filings.ts';
import {
  type StoredFilingRow,
  storedFilingRowSchema,
} from '../../../compiler/readings/collection-rows.ts';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import {
  type FetchNote,
  ImportError,
  type Imported,
} from '../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { type Mutation, markupMutations, mutations, textMutations } from './mutations.ts';

/** What can be said after an import: a name of the statement, and its value; null says nothing. */
export type Statements = ReadonlyMap<string, unknown>;

/** Each value of each reading, once for each time. */
export function readingStatements({ readings }: Imported): Statements {
  return new Map(
    [...readings].flatMap(([signal, list]) =>
      list.flatMap(({ entity, observed_at, current }) =>
        Object.entries(current).map(
          ([metric, value]) => [`${signal} ${entity} ${observed_at} ${metric}`, value] as const,
        ),
      ),
    ),
  );
}

/** The same without the time, for readings that say what there is now. */
export function currentStatements({ readings }: Imported): Statements {
  return new Map(
    [...readings].flatMap(([signal, list]) =>
      list.flatMap(({ entity, current }) =>
        Object.entries(current).map(
          ([metric, value]) => [`${signal} ${entity} ${metric}`, value] as const,
        ),
      ),
    ),
  );
}

/** The word of each row of a roster, and whether it is all of it. */
export function rosterStatements({ rows, isPart }: Imported): Statements {
  const stored = [...(rows?.values() ?? [])].flat() as Record<string, unknown>[];
  return new Map<string, unknown>([
    ['is a part', isPart ?? false],
    // What cannot be read of a listed server says nothing.
    ...stored.map(
      (row) => [String(row.server_id), row.status === 'unknown' ? null : row.status] as const,
    ),
  ]);
}

export interface Question {
  readonly form: string;
  readonly eventClass: string | null;
  readonly cutoff: string;
}

/** What settlement answers say of one filer after its list and its pages were imported. */
export function filingStatements(
  payloads: readonly Imported[],
  questions: readonly Question[],
): Statements {
  const rows = payloads
    .flatMap(({ rows }) => [...(rows?.values() ?? [])].flat())
    .map((row): StoredFilingRow => storedFilingRowSchema.parse(row));
  const listings = rows.filter((row) => row.kind === 'listing');
  const pages = rows.filter((row) => row.kind === 'page');
  const newest = newestListing(listings);
  if (newest === undefined) throw new RangeError('Cannot answer: no list');
  const coverage = coverageOf(newest, { listings, pages });
  const filings = rows.filter((row) => row.kind === 'filing');
  const verdicts = questions.map(({ form, eventClass, cutoff: text }) => {
    const cutoff = parseCutoff(text);
    if (cutoff === null) throw new RangeError(`Cannot ask until "${text}": no cutoff`);
    const { filed_by_cutoff } = settleFilings(filings, coverage, { form, eventClass, cutoff });
    return [`${form} ${eventClass ?? ''} until ${text}`, filed_by_cutoff] as const;
  });
  const counts = payloads
    .flatMap(({ readings }) => [...readings])
    .flatMap(([signal, list]) =>
      list
        .flatMap(({ current }) => Object.entries(current))
        .map(([metric, value]) => [`${signal} ${metric}`, value] as const),
    );
  return new Map([...verdicts, ...counts]);
}

/** Statements that do not stand in what is true; one that says nothing is never false. */
export function falseStatements(stated: Statements, truth: Statements): string[] {
  return [...stated]
    .filter(([name, value]) => value !== null && !isSame(value, truth.get(name)))
    .map(([name, value]) => `${name}: ${String(value)}, not ${String(truth.get(name))}`);
}

/** Lists are the same when their members are. */
function isSame(a: unknown, b: unknown): boolean {
  return Array.isArray(a) ? JSON.stringify(a) === JSON.stringify(b) : a === b;
}

export interface Mutated {
  readonly source: string;
  /** JSON, or the text of a payload of another format. */
  readonly payload: unknown;
  readonly note: FetchNote;
  /** What is said once the payload was imported. */
  readonly says: (imported: Imported) => Statements;
  /** Mutations that the source makes itself to say that nothing was reported. */
  readonly honest?: RegExp;
}

/** How many mutations were refused, read, and read to say less; and every false statement among them. */
export function mutationReport({ source, payload, note, says, honest }: Mutated) {
  const read = (value: unknown): Imported => {
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
    // It came as it was sent: what is wrong with it is not its length.
    const sent = { ...note, bytes: bytes.length };
    return readPayload(sourceOf(source), { bytes, note: sent, subject: 'payload' });
  };
  const truth = says(read(payload));
  const report = { refused: 0, read: 0, weakened: 0, lies: [] as string[], statements: truth.size };
  for (const { name, payload: mutant } of mutantsOf(payload)) {
    if (honest?.test(name) === true) continue;
    const imported = orRefused(() => read(mutant));
    if (imported === null) {
      report.refused += 1;
      continue;
    }
    report.read += 1;
    const stated = says(imported);
    if ([...truth].some(([fact, value]) => value !== null && (stated.get(fact) ?? null) === null)) {
      report.weakened += 1;
    }
    report.lies.push(...falseStatements(stated, truth).map((lie) => `${name} -> ${lie}`));
  }
  return report;
}

function mutantsOf(payload: unknown): Iterable<Mutation> {
  if (typeof payload !== 'string') return mutations(payload);
  return payload.startsWith('<') ? markupMutations(payload) : textMutations(payload);
}

function orRefused<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}
