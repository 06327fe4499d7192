import { type EndpointPath, endpointAt } from '../../contract/endpoints.ts';
import { filePath } from '../../contract/path.ts';
import {
  type ArticleDocument,
  type DocumentRow,
  documentRowSchema,
} from '../intake/document-row.ts';
import { readCollection } from '../intake/read-collection.ts';
import type { Press } from '../publish/press.ts';
import { jcs } from '../seal/jcs.ts';
import { articleBody, articleFacts } from './article-document.ts';
import { paramKey, type StoredValues } from './document-decisions.ts';
import { documentLegs, legsBody } from './legs-document.ts';
import type { ReadPart } from './part.ts';
import { type HashedRow, settleRows } from './rosters/settle-rows.ts';

const SIGNAL = 'document';
type StoredDocument = HashedRow<DocumentRow>;

/** Stored documents, each sealed and put where its operation looks; the newest batch wins. */
export const documentPart: ReadPart = (collections, asOf) => {
  const { rows, problems } = readCollection(
    { files: collections[SIGNAL], asOf },
    documentRowSchema,
  );
  const keyOf = ({ operation, params }: DocumentRow): string => `${operation}\n${jcs(params)}`;
  const settled = settleRows(rows, { kind: SIGNAL, keyOf, factsOf });
  return {
    problems: [...problems, ...settled.problems],
    rows: rows.length,
    write(press) {
      const others = paramValues(settled.kept);
      for (const document of settled.kept) putDocument(press, document, others);
      putDocumentHashes(press, settled);
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

/** Of a document of legs only its own identity is told apart; its legs are hashed one by one. */
function factsOf(row: DocumentRow): Readonly<Record<string, unknown>> {
  if (row.form === 'article') return articleFacts(row);
  const { operation, params, title, legs, observed_at, source_ref, source_tier } = row;
  return { operation, params, title, text: null, rows: legs, observed_at, source_ref, source_tier };
}

function putDocument(press: Press, stored: StoredDocument, others: StoredValues): void {
  const { row } = stored;
  const path = row.operation as EndpointPath;
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

interface DocumentHash {
  readonly record_hash: string;
  readonly signal_id: string;
  readonly entity: string;
  readonly observed_at: string;
}

/** What of a document is hashed: the article as a whole, or each leg. */
function hashesOf(press: Press, { row, record_hash }: StoredDocument): DocumentHash[] {
  if (row.form === 'legs') return documentLegs(press, row);
  if (record_hash === null) return [];
  return [{ record_hash, signal_id: SIGNAL, entity: subjectOf(row), observed_at: row.observed_at }];
}

function subjectOf({ operation, params }: ArticleDocument): string {
  return [operation, ...Object.values(params)].join(' ');
}

function putDocumentHashes(
  press: Press,
  settled: { kept: readonly StoredDocument[]; revised: readonly StoredDocument[] },
): void {
  const seen = new Set<string>();
  const put = (stored: StoredDocument, file: string | null): void => {
    for (const { record_hash, signal_id, entity, observed_at } of hashesOf(press, stored)) {
      if (seen.has(record_hash)) continue;
      seen.add(record_hash);
      const facts = { record_hash, kind: 'row', signal_id, entity, observed_at } as const;
      if (file !== null) press.lookUp({ ...facts, state: 'current', file });
      press.leaf({ ...facts, batch: stored.batch });
    }
  };
  for (const stored of settled.kept) {
    const { operation, params } = stored.row;
    put(stored, filePath(endpointAt(operation as EndpointPath), params));
  }
  for (const stored of settled.revised) put(stored, null);
}
