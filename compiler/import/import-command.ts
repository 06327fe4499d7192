import { z } from 'zod';
import { FILING_COLLECTION } from '../contract/filing.ts';
import { isoTime } from '../contract/iso-time.ts';
import { filingRowSchema } from '../stages/intake/filing-row.ts';
import { parseReading } from '../stages/intake/reading.ts';
import { wordFaults } from '../stages/intake/stored-words.ts';
import { evidenceOf, withEvidence } from './evidence-of.ts';
import { parseFetchNote } from './fetch-note.ts';
import type { ImportDisk } from './import-disk.ts';
import { ImportError } from './import-error.ts';
import { mergeBatch } from './merge-batch.ts';
import type { Imported, Payload, Skipped } from './payload.ts';
import type { Source } from './source.ts';
import { sourceOf } from './sources.ts';
import { type BatchFile, batchName } from './write-batch.ts';

export interface ImportOptions {
  /** Name of the source. */
  readonly source: string;
  /** Path of the payload, exactly as the agency answered. */
  readonly file: string;
  /** Path of the fetch note. */
  readonly note?: string | undefined;
  /** ISO-8601 UTC time of the fetch, in place of a note. */
  readonly fetchedAt?: string | undefined;
  /** The snapshots folder. */
  readonly out: string;
}

/** What an import did. */
export interface ImportSummary {
  readonly source: string;
  readonly batch: string;
  readonly fetchedAt: string;
  /** Where the time of the fetch comes from. */
  readonly noteFrom: string;
  readonly entities: number;
  readonly readings: number;
  /** Rows of collections beside the readings. */
  readonly rows: number;
  readonly skipped: readonly Skipped[];
  readonly remarks: readonly string[];
  readonly files: readonly BatchFile[];
}

/** Turns one payload into a snapshot batch; throws an ImportError, and then wrote nothing. */
export function runImport(options: ImportOptions, disk: ImportDisk): ImportSummary {
  const { from, ...payload } = givenPayload(options, disk);
  const { note } = payload;
  const imported = readPayload(sourceOf(options.source), payload);
  const files = mergeBatch(imported, note.fetched_at, disk.snapshots(options.out));
  const rows = [...(imported.rows?.values() ?? [])].flat();
  const readings = [...imported.readings.values()].flat();
  return {
    source: options.source,
    batch: batchName(note.fetched_at),
    fetchedAt: note.fetched_at,
    noteFrom: from,
    entities: new Set(readings.map((reading) => reading.entity)).size,
    readings: readings.length,
    rows: rows.length,
    skipped: imported.skipped,
    remarks: imported.remarks,
    files,
  };
}

/** The payload that an import was given, and where its note is from. */
export function givenPayload(
  options: ImportOptions,
  disk: ImportDisk,
): Payload & { readonly from: string } {
  const bytes = disk.readFile(options.file);
  return { bytes, subject: options.file, ...findNote(options, bytes, disk) };
}

/**
 * What an importer makes of a payload, each reading with the payload as its evidence. It is held to the rules that the
 * compiler has for it: what a compile would refuse is refused here, while the payload is at hand. Throws an ImportError
 * that names the reading or row.
 */
export function readPayload(source: Source, payload: Payload): Imported {
  const { subject } = payload;
  const imported = withEvidence(source.read(payload), evidenceOf(source, payload));
  for (const [signal, readings] of imported.readings) {
    for (const reading of readings) {
      const outcome = parseReading(reading, {}, signal);
      if ('ok' in outcome) continue;
      const [fault] = outcome.faults;
      const state = `${signal} of ${reading.entity}: ${fault?.field}: ${fault?.message}`;
      throw new ImportError({ subject, state });
    }
  }
  for (const row of [...(imported.rows?.values() ?? [])].flat()) {
    const issues = filingRowSchema.safeParse(row).error?.issues ?? wordFaults(row);
    const [fault] = issues;
    if (fault === undefined) continue;
    const state = `${FILING_COLLECTION}: ${fault.path.join('.')}: ${fault.message}`;
    throw new ImportError({ subject, state });
  }
  return imported;
}

function findNote(options: ImportOptions, bytes: Uint8Array, disk: ImportDisk) {
  const { source, file, note, fetchedAt } = options;
  if (note !== undefined && fetchedAt !== undefined) {
    throw new ImportError({
      subject: file,
      state: '--note and --fetched-at are both given; keep one',
    });
  }
  if (note !== undefined) {
    return { note: parseFetchNote(disk.readFile(note), note), from: `note "${note}"` };
  }
  const known = sourceOf(source);
  const { ownNote } = known;
  if (fetchedAt !== undefined) {
    const fetched_at = givenTime(fetchedAt, file);
    const given = {
      url: ownNote?.(bytes, file).url ?? homeOf(known),
      fetched_at,
      http_status: 200,
    };
    return { note: given, from: '--fetched-at' };
  }
  if (ownNote !== undefined)
    return { note: ownNote(bytes, file), from: 'metadata.generated of the payload' };
  const state =
    'this payload does not say when it was fetched; give --note FILE or --fetched-at TIME';
  throw new ImportError({ subject: file, state });
}

/** Stands for the address of a payload that came without a note. */
function homeOf({ id, fetch }: Source): string {
  const [host] = fetch?.hosts ?? [];
  if (host !== undefined) return `https://${host}/`;
  const state = 'it can only be imported with --note, which says where it comes from';
  throw new ImportError({ subject: id, state });
}

function givenTime(text: string, file: string): string {
  if (z.iso.datetime().safeParse(text).success) return isoTime(Date.parse(text));
  const state = `--fetched-at "${text}" is not a time such as 2026-11-20T11:00:12Z; correct it`;
  throw new ImportError({ subject: file, state });
}

/** The summary as a few lines for people. */
export function importSummaryText(summary: ImportSummary): string {
  const { source, batch, fetchedAt, noteFrom, entities, readings, rows } = summary;
  const listed = rows === 0 ? '' : ` and ${rows} rows`;
  return [
    `Imported ${source} into batch ${batch}: ${readings} readings of ${entities} entities${listed}`,
    `  fetched   ${fetchedAt} (from ${noteFrom})`,
    ...summary.files.map(({ path, written }) => `  ${written ? 'wrote    ' : 'unchanged'} ${path}`),
    ...summary.skipped.map((item) => `  skipped   ${item.count} × ${item.subject}: ${item.reason}`),
    ...summary.remarks.map((remark) => `  note      ${remark}`),
  ].join('\n');
}
