import { z } from 'zod';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { type FetchNote, fetchAgain, ImportError } from './payload.ts';

/** Query parameters that carry a data key at the official sources, in lower case. */
const KEY_PARAMETERS: readonly string[] = ['api_key', 'apikey', 'map_key', 'registrationkey'];
/** A data key as a part of a path, as NASA FIRMS takes it. */
const KEY_IN_PATH = /\/[0-9a-f]{32}(?=\/|$)/gi;

const fetchNoteSchema: z.ZodType<FetchNote> = z.strictObject({
  url: z.url().transform(withoutKeys),
  fetched_at: z.iso.datetime({ error: 'not an ISO-8601 UTC time such as 2026-11-20T11:00:12Z' }),
  http_status: z.int(),
  http_date: z.string().optional(),
  last_modified: z.string().optional(),
  bytes: z.int().min(0).optional(),
});

/** The same address without data keys and credentials, so that none is ever stored. */
export function withoutKeys(address: string): string {
  const url = new URL(address);
  for (const name of [...url.searchParams.keys()]) {
    if (KEY_PARAMETERS.includes(name.toLowerCase())) url.searchParams.delete(name);
  }
  url.pathname = url.pathname.replace(KEY_IN_PATH, '/{key}');
  url.username = '';
  url.password = '';
  return url.href;
}

/** Reads the bytes of a note file; throws an ImportError that names the member at fault. */
export function parseFetchNote(bytes: Uint8Array, file: string): FetchNote {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    throw new ImportError(
      { subject: file, state: 'the fetch note is not JSON; write it again' },
      { cause },
    );
  }
  const parsed = fetchNoteSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const member = issue?.path.join('.') || 'fetch note';
    throw new ImportError(
      { subject: file, state: `${member}: ${issue?.message}; correct the fetch note` },
      {
        cause: parsed.error,
      },
    );
  }
  if (parsed.data.http_status !== 200) {
    throw fetchAgain({ subject: file }, `the source answered HTTP ${parsed.data.http_status}`);
  }
  return parsed.data;
}
