import type { Signal } from '../contract/catalog/line.ts';
import { signalOf } from '../contract/lines.ts';
import { type Evidence, evidenceSchema } from '../contract/record.ts';
import { hashCore } from '../contract/record-hash.ts';
import { rosterCore, rosterKindOf } from '../contract/roster-core.ts';
import { type Archive, type Archived, ArchiveError, fetchNoteOf } from '../fetch/archive.ts';
import { readPayload } from '../import/import-command.ts';
import { ImportError, type Imported } from '../import/payload.ts';
import type { Source } from '../import/source.ts';
import { sourceOf } from '../import/sources.ts';
import { coreFields } from '../stages/assemble/entity-record.ts';
import type { Reading } from '../stages/intake/reading.ts';
import { canonicalHash } from '../verify/body-check.ts';
import type { EvidenceLink } from './evidence-links.ts';

/** Sources beside those of the table; null for one of the table. */
export type KnownSources = (id: string) => Source | null;

/** What is asked for payloads, and for those who read them. */
export interface Witnesses {
  readonly archive: Pick<Archive, 'find' | 'payload'>;
  /** A source by its name where it is not one of the table. */
  readonly known?: KnownSources;
}

/**
 * What was found behind one link. `shown`: the bytes are those that the evidence names, and the reading follows from them.
 * `failed`: it does not. `open`: what would decide it is not at hand.
 */
export interface Rederived {
  readonly verdict: 'shown' | 'failed' | 'open';
  readonly detail: string;
}

/** A reading or row of a payload as far as it is compared. */
interface Remade {
  readonly entity: unknown;
  readonly observed_at: unknown;
  readonly record_hash: string;
  /** Its values, for people. */
  readonly text: string;
}

/** Of a reading that says nothing about where it was imported from. */
export const UNNAMED = 'no evidence named';
const VALUE_CHARS_MAX = 200;
const shown = (detail: string): Rederived => ({ verdict: 'shown', detail });
const failed = (detail: string): Rederived => ({ verdict: 'failed', detail });
const open = (detail: string): Rederived => ({ verdict: 'open', detail });

/** Goes from a link of lineage to the payload that it names, imports that again, and looks for the reading in it. */
export function rederive(found: EvidenceLink, witnesses: Witnesses): Rederived {
  if (found.link.evidence === undefined) return open(UNNAMED);
  const evidence = evidenceSchema.safeParse(found.link.evidence);
  if (!evidence.success) return failed(`not evidence: ${evidence.error.issues[0]?.message}`);
  const { importer } = evidence.data;
  const source = sourceNamed(importer, witnesses.known);
  if (source === null) {
    return open(`this program has no importer "${importer}"; use the one that made the record`);
  }
  const archived = fetchOf(evidence.data, witnesses);
  if ('verdict' in archived) return archived;
  return judged(found, evidence.data, { source, archived, archive: witnesses.archive });
}

/** Null for a source that this program does not have. */
export function sourceNamed(id: string, known?: KnownSources): Source | null {
  try {
    return known?.(id) ?? sourceOf(id);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The archived fetch that the evidence is of. */
function fetchOf({ sha256, importer, url, fetched_at }: Evidence, { archive }: Witnesses) {
  const fetches = archive.find(sha256);
  if (fetches.length === 0) {
    return open(`the archive has no payload ${sha256}; ask the publisher of the record for it`);
  }
  const found = fetches.find(
    (one) => one.source === importer && one.url === url && one.fetched_at === fetched_at,
  );
  return found ?? failed(`the archive has the payload, but not fetched at ${fetched_at} as named`);
}

interface AtHand {
  readonly source: Source;
  readonly archived: Archived;
  readonly archive: Witnesses['archive'];
}

/** What keeps a reading from being shown: its payload is not there, has other bytes, or gives something else. */
interface RederiveFault {
  readonly kind: 'missing' | 'bytes' | 'reading';
  readonly text: string;
}

function judged(found: EvidenceLink, evidence: Evidence, at: AtHand): Rederived {
  const { version } = at.source;
  const made = `${evidence.importer} v${evidence.importer_version}`;
  const fault = faultBehind(found, at);
  if (fault?.kind === 'missing') return open(fault.text);
  if (fault?.kind === 'bytes') return failed(fault.text);
  if (version !== evidence.importer_version) {
    const gives = fault === null ? 'which gives the same reading' : `by which ${fault.text}`;
    return open(`made by ${made}; this program has v${version}, ${gives}`);
  }
  if (fault !== null) return failed(`payload sha256 matches, but ${fault.text}`);
  return shown(`payload sha256 matches; reading re-derived by ${made}`);
}

function faultBehind(
  found: EvidenceLink,
  { source, archived, archive }: AtHand,
): RederiveFault | null {
  try {
    const bytes = archive.payload(archived);
    const payload = { bytes, note: fetchNoteOf(archived), subject: archived.url };
    const text = faultOf(found, remadeIn(readPayload(source, payload), found.link.signal));
    return text === null ? null : { kind: 'reading', text };
  } catch (error) {
    if (error instanceof ImportError) return { kind: 'reading', text: error.message };
    if (!(error instanceof ArchiveError)) throw error;
    return { kind: isMissing(error) ? 'missing' : 'bytes', text: error.message };
  }
}

/** The note is there, and the file of the payload is not. */
function isMissing({ cause }: ArchiveError): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}

/** Why no reading of the payload is that of the link; null where one is. */
function faultOf({ link, entity }: EvidenceLink, made: readonly Remade[]): string | null {
  const { signal, observed_at, record_hash } = link;
  const near = made.filter(
    (one) => one.observed_at === observed_at && (entity === null || one.entity === entity),
  );
  if (near.some((one) => one.record_hash === record_hash)) return null;
  const [first] = near;
  const about = entity === null ? signal : `${signal} of ${entity}`;
  if (first === undefined) return `nothing in it is about ${about} at ${observed_at}`;
  return `it gives ${first.text} for ${about} at ${observed_at}, which has another record hash`;
}

/** Everything that a payload says of a signal or collection, hashed as the compiler hashes it. */
function remadeIn(imported: Imported, id: string): Remade[] {
  const signal = signalOf(id);
  const readings = imported.readings.get(id) ?? [];
  const rows: readonly object[] = [...(imported.rows ?? [])].flatMap(([name, list]) =>
    name === id ? list : [],
  );
  return [
    ...(signal === undefined ? [] : readings.map(stored).map((one) => remadeReading(signal, one))),
    ...rows.map(stored).flatMap(remadeRows),
  ];
}

/** As it is after it was written into a batch and read again. */
function stored<Row extends object>(row: Row): Row {
  return JSON.parse(JSON.stringify(row));
}

function remadeReading(signal: Signal, reading: Reading): Remade {
  const record_hash = canonicalHash(hashCore(coreFields(signal, reading)));
  return { ...aboutOf(reading, reading.current), record_hash };
}

function remadeRows(row: object): Remade[] {
  const facts = row as Readonly<Record<string, unknown>>;
  const kind = rosterKindOf(facts);
  if (kind === null) return [];
  return [{ ...aboutOf(facts, facts), record_hash: canonicalHash(rosterCore(kind, facts)) }];
}

function aboutOf({ entity, observed_at }: Partial<Reading>, values: object) {
  return { entity, observed_at, text: JSON.stringify(values).slice(0, VALUE_CHARS_MAX) };
}
