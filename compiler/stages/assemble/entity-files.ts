import { defined } from '../../contract/defined.ts';
import { endpointAt, type TablePath } from '../../contract/endpoints.ts';
import { knownFilePath, type Values } from '../../contract/path.ts';
import { readingStatement } from '../../contract/reading-text.ts';
import type { SignalRecord } from '../../contract/record.ts';
import {
  historyAddOn,
  historyPreview,
  rawBody,
  recordAddOns,
  thinCalibrated,
  thinRecord,
} from '../../contract/record-views.ts';
import type { Grown } from '../remember/grow-past.ts';
import type { Sealer } from '../seal/sealer.ts';
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
  const bare = recordBody(facts);
  const record = sealer.seal(bare, statementOf(facts, { path: '/gauge' }));
  const files: PublishedFile[] = [at(facts, '/gauge', record), ...addOnFiles(facts, bare, sealer)];
  const rows = { past: grown.past.series, tail: grown.rows, wanted: grown.seriesFrom };
  const series = seriesFile(facts, rows, sealer);
  files.push({ ...at(facts, '/gauge/history-series', series.body), text: series.text });
  const recent = facts.recent.map(({ reading, record_hash }) => {
    return seriesRow(facts.signal, reading, record_hash);
  });
  files.push(at(facts, '/gauge/history-preview', historyPreview(bare, recent)));
  const rawSignals = defined(endpointAt('/gauge/raw').params.signal_id?.enum, 'the signals of raw');
  if (rawSignals.includes(facts.signal.id)) files.push(at(facts, '/gauge/raw', rawBody(bare)));
  return { record: bare, files };
}

function addOnFiles(facts: EntityFacts, bare: SignalRecord, sealer: Sealer): PublishedFile[] {
  const history = facts.percentile_table && historyAddOn(bare, facts.percentile_table);
  const addOns = { ...recordAddOns(bare), ...(history && { '/gauge/history': history }) };
  const files = Object.entries(addOns).map(([path, body]) => {
    const sold = path as keyof typeof addOns;
    return at(facts, sold, sealer.seal(body, statementOf(facts, { path: sold })));
  });
  const calibrated = thinCalibrated(bare);
  const thin = {
    '/gauge': thinRecord(bare),
    ...(calibrated && { '/gauge/calibrated': calibrated }),
  };
  const short = Object.entries(thin).map(([path, body]) => {
    const sold = path as keyof typeof thin;
    const statement = statementOf(facts, { path: sold, more: '&format=thin' });
    return { path: pathOf(facts, sold, { format: 'thin' }), body: sealer.seal(body, statement) };
  });
  return [...files, ...short];
}

function at(facts: EntityFacts, path: TablePath, body: object): PublishedFile {
  return { path: pathOf(facts, path), body };
}

function pathOf(facts: EntityFacts, path: TablePath, variant: Values = {}): string {
  const values = { signal_id: facts.signal.id, entity: facts.latest.entity, ...variant };
  return knownFilePath(endpointAt(path), values);
}

function statementOf({ signal, latest }: EntityFacts, of: { path: TablePath; more?: string }) {
  return readingStatement(signal, latest, of);
}
