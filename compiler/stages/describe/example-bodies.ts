import type { Catalog } from '../../contract/catalog/catalog.ts';
import type { Endpoint, TablePath } from '../../contract/endpoints.ts';
import type { SignalRecord } from '../../contract/record.ts';
import { addOn, recordAddOns } from '../../contract/record-views.ts';
import { inventedBody } from './invented-body.ts';
import { isDescriptionFile, type ReleaseBodies } from './stored-bodies.ts';

/** What an operation answers, as every description shows it. */
export interface ExampleBody {
  readonly value: object;
  /** Where the value comes from: a free answer of this release, or nowhere. */
  readonly isInvented: boolean;
}

/** Longest free answer that is shown as it is; descriptions stay well under a megabyte. */
const SHOWN_CHARS_MAX = 12_000;

/**
 * One example by path for each operation whose body has a schema: what the release gives away anyway, else an invented one. Nothing that is sold is ever
 * shown, not even without its figures.
 */
export function exampleBodies(
  stored: ReleaseBodies,
  catalog: Catalog,
): ReadonlyMap<string, ExampleBody> {
  const samples = sampleAnswers(sampleRecords(stored));
  const found = catalog.operations.flatMap((row): [string, ExampleBody][] => {
    const real = freeAnswer(row, stored) ?? samples[row.path as keyof SampleAnswers];
    const value = real ?? inventedBody(row, catalog);
    return value === null ? [] : [[row.path, { value, isInvented: real === undefined }]];
  });
  return new Map(found);
}

/** The usual sample, and the first one of a subject that has a life cycle. */
function sampleRecords(stored: ReleaseBodies): SignalRecord[] {
  const paths = [...stored.under('free/sample/')];
  const usual = paths.find((path) => path === 'free/sample/~.json');
  const living = paths.find((path) => path.endsWith('.lifecycle.json'));
  return [usual, living].flatMap((path) => {
    const body = path === undefined ? null : (stored.read(path) as { sample?: SignalRecord });
    return body?.sample === undefined ? [] : [body.sample];
  });
}

/** What a free operation answers from a file; undefined for any other, and for one too long to be shown. */
function freeAnswer(row: Endpoint, stored: ReleaseBodies): object | undefined {
  const isGiven = row.priceUsd === null && !row.token && !isDescriptionFile(row);
  if (!isGiven || (row.answer !== 'file' && row.answer !== 'search')) return undefined;
  const path = stored.of(row)?.path;
  const value = path === undefined ? null : stored.read(path);
  const isShown = value !== null && JSON.stringify(value).length <= SHOWN_CHARS_MAX;
  return isShown ? (value as object) : undefined;
}

/** What the free sample record says already, by the operation that sells it: real answers that give nothing away. */
type SampleAnswers = Partial<Readonly<Record<TablePath, object>>>;

/**
 * Answers of paid operations about the readings of free samples, the first one that has an answer. Every member stands
 * in the sample; the add-ons lack the citation, which is what a purchase adds.
 */
function sampleAnswers(records: readonly SignalRecord[]): SampleAnswers {
  return Object.assign({}, ...records.map(answersAbout).reverse());
}

function answersAbout(record: SignalRecord): SampleAnswers {
  const { lifecycle } = record;
  return {
    '/gauge': record,
    ...recordAddOns(record),
    ...(lifecycle === null
      ? {}
      : { '/gauge/lifecycle': addOn(record, 'lifecycle', { lifecycle }) }),
  };
}
