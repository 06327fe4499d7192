import { endpointAt, type TablePath } from '../../products/products.ts';
import { RECORD_VIEWS } from '../../products/record-products.ts';
import { knownFilePath, type Values } from '../../products/shapes/path.ts';
import { readingStatement } from '../../products/shapes/reading-text.ts';
import type { SignalRecord } from '../../products/shapes/record.ts';
import { historyPreview } from '../../products/shapes/record-views.ts';
import type { Grown } from '../../readings/grow-past.ts';
import type { Sealer } from '../../system/sealer.ts';
import { type EntityFacts, recordBody } from './entity-record.ts';
import { seriesFile, seriesRow } from './series.ts';

/** One body at its precomputed path. */
export interface PublishedFile {
  readonly path: string;
  readonly body: object;
  /** How the body is written where its lines matter. */
  readonly text?: string;
}

export function recordPath(signal_id: string, entity: string): string {
  return knownFilePath(endpointAt('/gauge'), { signal_id, entity });
}

/** The record of an entity as sold, and every other file that follows from it alone. */
export function entityFiles(facts: EntityFacts, grown: Grown, sealer: Sealer) {
  const record = recordBody(facts);
  const rows = { past: grown.past.series, tail: grown.rows, wanted: grown.seriesFrom };
  const series = seriesFile(facts, rows, sealer);
  const recent = facts.recent.map(({ reading, record_hash }) => {
    return seriesRow(facts.signal, reading, record_hash);
  });
  const files: PublishedFile[] = [
    ...recordFiles(facts, record, sealer),
    { path: pathOf(facts, '/gauge/history-series'), body: series.body, text: series.text },
    { path: pathOf(facts, '/gauge/history-preview'), body: historyPreview(record, recent) },
  ];
  return { record, files };
}

/** Every body that the record alone is made into; what is sold is signed. */
function recordFiles(facts: EntityFacts, record: SignalRecord, sealer: Sealer): PublishedFile[] {
  const { signal, latest } = facts;
  return RECORD_VIEWS.flatMap(({ product, values, more, ofRecord }) => {
    const isAsked = product.params.signal_id?.enum?.includes(signal.id) !== false;
    const body = isAsked ? ofRecord(record, facts) : null;
    if (body === null) return [];
    const path = pathOf(facts, product.path as TablePath, values);
    if (!product.paid) return [{ path, body }];
    const statement = readingStatement(signal, latest, { path: product.path, more });
    return [{ path, body: sealer.seal(body, statement) }];
  });
}

function pathOf({ signal, latest }: EntityFacts, path: TablePath, form: Values = {}): string {
  const values = { signal_id: signal.id, entity: latest.entity, ...form };
  return knownFilePath(endpointAt(path), values);
}
