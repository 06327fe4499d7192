import { type EndpointPath, endpointAt } from '../../contract/endpoints.ts';
import { filePath, type Values } from '../../contract/path.ts';
import type { SignalRecord } from '../../contract/record.ts';
import type { Grown } from '../remember/entity-past.ts';
import type { Sealer, Statement } from '../seal/sealer.ts';
import { addOns, thinCalibrated } from './add-ons.ts';
import { type EntityFacts, recordBody } from './entity-record.ts';
import { historyPreview, rawBody } from './free-bodies.ts';
import { seriesFile } from './series.ts';
import { nameOf, valueText } from './summary.ts';

/** One body at its precomputed path. */
export interface PublishedFile {
  readonly path: string;
  readonly body: object;
  /** How the body is written where its lines matter. */
  readonly text?: string;
}

/** Where the record of a signal and entity stands. */
export function recordPath(signal_id: string, entity: string): string {
  return filePath(endpointAt('/gauge'), { signal_id, entity }) ?? '';
}

/** The record of an entity as sold, and every other file that follows from it alone. */
export function entityFiles(
  facts: EntityFacts,
  grown: Grown,
  sealer: Sealer,
): readonly PublishedFile[] {
  const bare = recordBody(facts);
  const record = sealer.seal(bare, statementOf(facts, '/gauge'));
  const files: PublishedFile[] = [at(facts, '/gauge', record), ...addOnFiles(facts, bare, sealer)];
  const rows = { past: grown.past.series, tail: grown.rows };
  const series = seriesFile(facts, rows, sealer);
  files.push({ ...at(facts, '/gauge/history-series', series.body), text: series.text });
  files.push(at(facts, '/gauge/history-preview', historyPreview(facts)));
  const rawSignals = endpointAt('/gauge/raw').params.signal_id?.enum ?? [];
  if (rawSignals.includes(facts.signal.id)) files.push(at(facts, '/gauge/raw', rawBody(bare)));
  return files;
}

function addOnFiles(facts: EntityFacts, bare: SignalRecord, sealer: Sealer): PublishedFile[] {
  const files: PublishedFile[] = [];
  for (const [path, body] of Object.entries(addOns(bare, facts))) {
    const sold = path as keyof ReturnType<typeof addOns>;
    files.push(at(facts, sold, sealer.seal(body, statementOf(facts, sold))));
  }
  if (facts.ruler !== null) {
    const thin = thinCalibrated(bare, facts.ruler);
    const sealed = sealer.seal(thin, statementOf(facts, '/gauge/calibrated', '&format=thin'));
    files.push({ path: pathOf(facts, '/gauge/calibrated', { format: 'thin' }), body: sealed });
  }
  return files;
}

function at(facts: EntityFacts, path: EndpointPath, body: object): PublishedFile {
  return { path: pathOf(facts, path), body };
}

function pathOf(facts: EntityFacts, path: EndpointPath, variant: Values = {}): string {
  const values = { signal_id: facts.signal.id, entity: facts.latest.entity, ...variant };
  const file = filePath(endpointAt(path), values);
  if (file === null) throw new RangeError(`Cannot place "${path}": its row has no file`);
  return file;
}

/** What the citation of a body about one reading says. */
export function statementOf(facts: EntityFacts, path: EndpointPath, more = ''): Statement {
  const { signal, latest } = facts;
  return {
    claim: `${signal.measures} at ${nameOf(latest)}`,
    fact: `${signal.id} of ${latest.entity} read ${valueText(signal, latest)} at ${latest.observed_at}`,
    target: `${path}?entity=${encodeURIComponent(latest.entity)}${more}&signal_id=${signal.id}`,
    observed_at: latest.observed_at,
    retrieved_at: latest.collected_at,
  };
}
