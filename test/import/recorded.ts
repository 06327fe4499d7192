import { existsSync, readFileSync } from 'node:fs';
import { readPayload } from '../../compiler/import/import-command.ts';
import type { Imported } from '../../compiler/import/payload.ts';
import { sourceOf } from '../../compiler/import/sources.ts';
import type { Reading } from '../../compiler/stages/intake/reading.ts';

const SHARED = new URL('../../../shared/official-payloads/', import.meta.url).pathname;

/** Whether the recorded answers of agencies are at hand; a fresh clone has none. */
export const hasRecorded = existsSync(SHARED);

/** A recorded answer, by its path below the folder of all of them. */
export function recorded(path: string): Buffer {
  return readFileSync(`${SHARED}${path}`);
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
