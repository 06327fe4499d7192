import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readPayload } from '../../../compiler/sources/import-command.ts';
import type { Imported } from '../../../compiler/sources/kit/payload.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { makeFolder } from '../../snapshot-folder.ts';
import { PLAYED, playedPayloads } from './cases.ts';

/** Where payloads stand: our own small ones, and those recorded from agencies. */
export interface Payloads {
  readonly name: string;
  /** A payload by the folder of its agency and its name. */
  readonly recorded: (path: string) => Buffer;
  /** The place of a payload on the disk. */
  readonly recordedFile: (path: string) => string;
}

const WHOLE = new URL('../../../../shared/official-payloads/', import.meta.url).pathname;

/** An extract of what an agency answered; free text in it is our own. */
export interface Recorded {
  readonly file: string;
  readonly source: string;
  readonly url: string;
  readonly text: string;
}
export const RECORDED: readonly Recorded[] = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ heads: { recorded: file, url = '' }, text }) =>
    file === undefined ? [] : [{ file, source, url, text }],
  ),
);

function recorded(path: string): Buffer {
  const found = RECORDED.find(({ file }) => file === path);
  if (found === undefined) throw new RangeError(`No payload "${path}" is recorded`);
  return Buffer.from(found.text);
}

export const OWN_PAYLOADS: Payloads = {
  name: 'own payloads',
  recorded,
  recordedFile: (path) => {
    const file = join(makeFolder(), basename(path));
    writeFileSync(file, recorded(path));
    return file;
  },
};

/** Our own payloads, and beside them the recorded ones on a machine that has them. */
export const PAYLOADS: readonly Payloads[] = [
  OWN_PAYLOADS,
  ...(existsSync(WHOLE)
    ? [
        {
          name: 'whole payloads',
          recorded: (path: string) => readFileSync(`${WHOLE}${path}`),
          recordedFile: (path: string) => `${WHOLE}${path}`,
        },
      ]
    : []),
];

/** What a source makes of an answer; the address decides what was asked. */
export function readAs(
  source: string,
  payload: unknown,
  { url, fetched_at = '2026-11-20T11:05:00Z' }: { url: string; fetched_at?: string },
): Imported {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(text);
  const note = { url, fetched_at, http_status: 200 };
  return readPayload(sourceOf(source), { bytes, note, subject: 'payload' });
}
