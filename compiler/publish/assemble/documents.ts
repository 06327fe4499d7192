import { HASH_CORE_VERSION, hashCore } from '../../format/record-hash.ts';
import { endpointAt } from '../../products/products.ts';
import { joinedProvenance, legsLit, SWAPPABLE_MAX } from '../../products/shapes/bundle.ts';
import { type Cadence, freshnessBasis } from '../../products/shapes/freshness.ts';
import { filePath, type Values } from '../../products/shapes/path.ts';
import type { TableRow } from '../../products/shapes/product.ts';
import type { DecisionPoints } from '../../products/shapes/record.ts';
import { LEGS_LINEAGE, LEGS_NOTE, NATURE, UNCERTAINTY } from '../../products/shapes/words.ts';
import {
  type ArticleDocument,
  type DocumentLeg,
  type DocumentRow,
  documentRowSchema,
  type LegsDocument,
  readCollection,
} from '../../readings/collection-rows.ts';
import { disclosures, hoursBetween, measurers } from '../../readings/figures.ts';
import type { Press } from '../../release/press.ts';
import { jcs } from '../../system/jcs.ts';
import {
  type HashedRow,
  putRowHashes,
  type ReadPart,
  type RowHash,
  rowProvenance,
  settleRoster,
} from './settle-rows.ts';

const NOTE = 'one swapped tag is one call; only values that a document is stored for are listed';

const SIGNAL = 'document';
type StoredDocument = HashedRow<DocumentRow>;

/** Stored documents, each sealed and put where its operation looks; the newest batch wins. */
export const documentPart: ReadPart = (collections, asOf, catalog) => {
  const { rows, faults } = readCollection(
    { files: collections[SIGNAL], asOf },
    documentRowSchema(catalog),
  );
  const keyOf = ({ operation, params }: DocumentRow): string => `${operation}\n${jcs(params)}`;
  const settled = settleRoster(rows, { kind: SIGNAL, keyOf, factsOf });
  return {
    faults: [...faults, ...settled.faults],
    rows: rows.length,
    write(press) {
      const others = paramValues(settled.kept);
      for (const document of settled.kept) putDocument(press, document, others);
      putRowHashes(press, [
        ...settled.kept.flatMap((document) => hashesOf(press, document, fileOf(document))),
        ...settled.revised.flatMap((document) => hashesOf(press, document, null)),
      ]);
    },
  };
};

function paramValues(kept: readonly StoredDocument[]): StoredValues {
  const values = new Map<string, Set<string>>();
  for (const { row } of kept) {
    for (const [param, value] of Object.entries(row.params)) {
      const key = paramKey(row.operation, param, row.params);
      values.set(key, (values.get(key) ?? new Set()).add(value));
    }
  }
  return values;
}

/** Only the identity of a document of legs is compared; its legs are hashed one by one. */
function factsOf(row: DocumentRow): Readonly<Record<string, unknown>> {
  if (row.form === 'article') return articleFacts(row);
  const { operation, params, title, legs, observed_at, source_ref, source_tier } = row;
  return { operation, params, title, text: null, rows: legs, observed_at, source_ref, source_tier };
}

function putDocument(press: Press, stored: StoredDocument, others: StoredValues): void {
  const { row } = stored;
  const path = row.operation;
  const query = new URLSearchParams(
    Object.entries(row.params).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const target = query.size === 0 ? path : `${path}?${query.toString().replaceAll('+', '%20')}`;
  const common = { claim: `${row.title}, as stored for ${target}`, target };
  if (row.form === 'article') {
    const times = { observed_at: row.observed_at, retrieved_at: row.collected_at };
    const fact = `${row.rows.length} rows, observed at ${row.observed_at}`;
    const body = articleBody({ ...stored, row });
    press.put(path, row.params, press.sealer.seal(body, { ...common, fact, ...times }));
    return;
  }
  const body = legsBody(press, row, others);
  const { provenance, cross_line_narrative: fact } = body;
  const times = { observed_at: provenance.oldest_leg_as_of, retrieved_at: row.collected_at };
  press.put(path, row.params, press.sealer.seal(body, { ...common, fact, ...times }));
}

function hashesOf(press: Press, stored: StoredDocument, file: string | null): RowHash[] {
  const { row, record_hash } = stored;
  if (row.form === 'legs') {
    return documentLegs(press, row).map(({ record_hash, signal_id, entity, observed_at }) => {
      return { record_hash, signal_id, entity, observed_at, file };
    });
  }
  if (record_hash === null) return [];
  const { observed_at } = row;
  return [{ record_hash, signal_id: SIGNAL, entity: subjectOf(row), observed_at, file }];
}

function subjectOf({ operation, params }: ArticleDocument): string {
  return [operation, ...Object.values(params)].join(' ');
}

function fileOf({ row }: StoredDocument): string | null {
  return filePath(endpointAt(row.operation), row.params);
}

const HASH_NOTE =
  'each leg carries its whole hash core and its record hash; the citation signs the whole document';

type HashedLeg = ReturnType<typeof hashedLeg>;

function documentLegs(press: Press, { legs, collected_at }: LegsDocument): HashedLeg[] {
  return legs.map((leg) => hashedLeg(press, leg, collected_at));
}

function hashedLeg(press: Press, leg: DocumentLeg, collected_at: string) {
  const { lifecycle = null, entity_name = null, ...rest } = leg;
  const facts = { ...rest, lifecycle, snapshot_date: `${collected_at.slice(0, 10)}T00:00:00Z` };
  const record_hash = press.sealer.recordHash(hashCore(facts));
  const data_age_hours = hoursBetween(leg.observed_at, collected_at);
  return { ...facts, entity_name, data_age_hours, record_hash };
}

/** The body of a document of legs: a bundle, with the narrative that its legs give. */
function legsBody(press: Press, row: LegsDocument, others: StoredValues) {
  const legs = documentLegs(press, row);
  const { operation, params, title, cadence } = row;
  const { loc, topic } = params;
  const parts = legs.map((leg) => ({
    cadence,
    observed_at: leg.observed_at,
    data_age_hours: leg.data_age_hours,
    validation_status: row.validation_status ?? null,
    lineage: lineageOf(row, leg),
  }));
  const members = Object.fromEntries(
    legs.map((leg, index) => [leg.leg, legMember(leg, index + 1, cadence)]),
  );
  return {
    nature: NATURE,
    ...(loc === undefined ? {} : { location: loc }),
    ...(topic === undefined ? {} : { topic }),
    name: null,
    title,
    legs: members,
    legs_lit: legsLit(members, legs.length),
    cross_line_narrative: legs.map(sentence).join(' '),
    data_timespans: legs.map(timespan),
    note: `from a stored document: ${LEGS_NOTE}`,
    provenance: joinedProvenance(parts, { lineage_note: LEGS_LINEAGE, joins: 'legs' }),
    decision_points: storedDecisions(endpointAt(operation), params, others),
    ...disclosures(row),
    record_hash_verifiable: { mode: 'offline' as const, note: HASH_NOTE },
  };
}

function lineageOf(row: LegsDocument, leg: HashedLeg) {
  return {
    signal: leg.signal_id,
    independent_dimension: row.operation,
    traceable_to: measurers(leg) || null,
    uncertainty: row.uncertainty ?? UNCERTAINTY,
    observed_at: leg.observed_at,
    record_hash: leg.record_hash,
    source_ref: leg.source_ref,
  };
}

function legMember({ leg, ...facts }: HashedLeg, position: number, cadence: Cadence) {
  const { observed_at, data_age_hours, ...rest } = facts;
  const head = { leg, position, observed_at, data_age_hours };
  const basis = { freshness_basis: freshnessBasis(cadence) };
  // Its signal is in no table, so that nobody knows a list of its classes.
  return { ...head, ...basis, ...rest, lit: null, hash_core_version: HASH_CORE_VERSION };
}

function timespan({ leg, signal_id, observed_at, data_age_hours }: HashedLeg) {
  return { leg, signal_id, observed_at, hours_since: data_age_hours };
}

/** Describes one leg; nothing is concluded from it. */
function sentence(
  { leg, measures, entity, entity_name, current, observed_at }: HashedLeg,
  at: number,
) {
  const figures = Object.entries(current).map(([name, value]) => `${name} ${String(value)}`);
  return `Leg ${at + 1}, ${leg}: ${measures} at ${entity_name ?? entity} read ${figures.join(', ')} at ${observed_at}.`;
}

const ARTICLE_HASH_NOTE =
  'record_hash is recomputed from operation, params, title, text, rows and their source; the citation signs the whole body';

function articleFacts(row: ArticleDocument) {
  const { operation, params, title, text, rows, observed_at, source_ref, source_tier } = row;
  return { operation, params, title, text, rows, observed_at, source_ref, source_tier };
}

function articleBody(stored: HashedRow<ArticleDocument>) {
  const { row, record_hash } = stored;
  const { rows, observed_at, source_ref, source_tier, ...identity } = articleFacts(row);
  const about = { id: SIGNAL, dimension: row.operation, cadence: row.cadence };
  return {
    nature: NATURE,
    ...identity,
    count: rows.length,
    rows,
    observed_at,
    data_age_hours: hoursBetween(observed_at, row.collected_at),
    source_ref,
    source_tier,
    record_hash,
    hash_core_version: 3,
    record_hash_verifiable: { mode: 'offline', note: ARTICLE_HASH_NOTE },
    provenance: rowProvenance(about, stored),
    ...disclosures(row),
  };
}

/** Values of each parameter that a document is stored for beside the same other parameters, by paramKey. */
type StoredValues = ReadonlyMap<string, ReadonlySet<string>>;

function paramKey(operation: string, param: string, params: Values): string {
  const { [param]: _swapped, ...others } = params;
  return `${operation} ${param} ${jcs(others)}`;
}

/** Which stored documents one more call answers, by swapping one parameter and keeping the others. */
function storedDecisions({ path }: TableRow, params: Values, stored: StoredValues): DecisionPoints {
  const points = Object.entries(params).flatMap(([tag, current]) => {
    const values = [...(stored.get(paramKey(path, tag, params)) ?? [])].sort();
    const swappable = values.filter((value) => value !== current).slice(0, SWAPPABLE_MAX);
    const [first] = swappable;
    if (first === undefined) return [];
    return [{ tag, current, swappable, how: callOf(path, { ...params, [tag]: first }) }];
  });
  return { count: points.length, points, note: NOTE };
}

function callOf(path: string, params: Values): string {
  const query = Object.entries(params).map(
    ([name, value]) => `${name}=${encodeURIComponent(value)}`,
  );
  return `GET ${path}?${query.join('&')}`;
}
