import { readPayload } from '../../compiler/import/import-command.ts';
import { importDisk } from '../../compiler/import/import-disk.ts';
import { mergeBatch } from '../../compiler/import/merge-batch.ts';
import { sourceOf } from '../../compiler/import/sources.ts';
import type { Reading } from '../../compiler/stages/intake/reading.ts';
import type { ExamplePayload } from './example-payloads.ts';

/** How whatever comes from an example says what it is. */
const EXAMPLE_LABEL = 'example of our own making: generated, not observed';

/** Imports a payload of our own making with the importer of its agency, and names ourselves as its source; in words. */
export function importExample({ source, bytes, note }: ExamplePayload, out: string): string {
  const { readings, rows, ...rest } = readPayload(sourceOf(source), {
    bytes,
    note,
    subject: `example of ${source}`,
  });
  const labelled = {
    ...rest,
    readings: mapValues(readings, (reading) => labelledReading(reading, source)),
    rows: mapValues(rows ?? new Map(), (row: object) => ({ ...row, ...rowLabel(source) })),
  };
  const count = [...readings.values()].flat().length;
  const files = mergeBatch(labelled, note.fetched_at, importDisk.snapshots(out));
  return [
    `Imported an example in the format of ${source}, of our own making: ${count} readings`,
    ...files.map(({ path }) => `  wrote     ${path}`),
  ].join('\n');
}

function mapValues<Key, From, To>(
  lists: ReadonlyMap<Key, readonly From[]>,
  change: (item: From) => To,
): Map<Key, To[]> {
  return new Map([...lists].map(([key, list]) => [key, list.map(change)]));
}

/** The importer names the agency and the address of the payload as evidence, which never answered this. */
function labelledReading({ evidence: _, ...reading }: Reading, source: string): Reading {
  return {
    ...reading,
    sources: [
      {
        name: `Signalpress example in the format of ${source}, made up`,
        weight: 1,
        role: 'generated',
        independent: true,
      },
    ],
    source_ref: null,
    source_tier: null,
    grade: EXAMPLE_LABEL,
    scope: EXAMPLE_LABEL,
    validation_status: EXAMPLE_LABEL,
    uncertainty: 'none stated: generated values',
  };
}

function rowLabel(source: string) {
  return {
    source: `example-of-${source}`,
    source_ref: null,
    source_tier: null,
    grade: EXAMPLE_LABEL,
  };
}
