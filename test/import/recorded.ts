import { existsSync, readFileSync } from 'node:fs';
import { readPayload } from '../../compiler/import/import-command.ts';
import type { Imported } from '../../compiler/import/payload.ts';
import { sourceOf } from '../../compiler/import/sources.ts';
import type { Reading } from '../../compiler/stages/intake/reading.ts';

/** Where payloads stand: our own small ones, and those recorded from agencies. */
export interface Payloads {
  readonly name: string;
  /** Whether they are whole answers of the agencies. */
  readonly isWhole: boolean;
  /** A payload by its path below their folder. */
  readonly recorded: (path: string) => Buffer;
  /** The place of a payload on the disk. */
  readonly recordedFile: (path: string) => string;
}

const OWN = new URL('./payloads/', import.meta.url).pathname;
const WHOLE = new URL('../../../shared/official-payloads/', import.meta.url).pathname;

/** Short extracts of what each source answers; free text in them is our own. */
export const OWN_PAYLOADS: Payloads = { name: 'own payloads', isWhole: false, ...below(OWN) };

/** Our own payloads, and beside them the recorded ones on a machine that has them. */
export const PAYLOADS: readonly Payloads[] = [
  OWN_PAYLOADS,
  ...(existsSync(WHOLE) ? [{ name: 'whole payloads', isWhole: true, ...below(WHOLE) }] : []),
];

function below(folder: string): Pick<Payloads, 'recorded' | 'recordedFile'> {
  const recordedFile = (path: string) => `${folder}${path}`;
  return { recordedFile, recorded: (path) => readFileSync(recordedFile(path)) };
}

type Values = readonly [entity: string, at: string, current: Reading['current']];

/** What a source makes of an answer; the address decides what was asked. */
export function readAs(
  source: string,
  payload: unknown,
  {
    url,
    fetched_at = '2026-11-20T11:05:00Z',
  }: { readonly url: string; readonly fetched_at?: string },
): Imported {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(text);
  const note = { url, fetched_at, http_status: 200 };
  return readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
}

/** Entity, time and values of the readings of a signal. */
export function valuesOf({ readings }: Imported, signal: string): Values[] {
  return (readings.get(signal) ?? []).map(({ entity, observed_at, current }) => [
    entity,
    observed_at,
    current,
  ]);
}
