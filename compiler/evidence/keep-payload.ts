import type { Archive, Archived } from '../fetch/archive.ts';
import type { Payload } from '../import/payload.ts';

/** Archives a payload that somebody fetched by hand, with its note; bytes that are there already are stored once. */
export async function keepPayload(
  archive: Archive,
  source: string,
  { bytes, note }: Pick<Payload, 'bytes' | 'note'>,
): Promise<Archived> {
  const incoming = await archive.receive(source, chunksOf(bytes));
  const { sha256 } = incoming;
  const known = archive.find(sha256).find((one) => one.source === source);
  const payload_day = known?.payload_day ?? note.fetched_at.slice(0, 10);
  if (known === undefined) archive.keep(source, incoming, payload_day);
  else archive.drop(incoming);
  const { url, fetched_at, http_date, last_modified } = note;
  return archive.note({
    source,
    sha256,
    bytes: incoming.bytes,
    payload_day,
    url,
    fetched_at,
    http_status: 200,
    ...(http_date === undefined ? {} : { http_date }),
    ...(last_modified === undefined ? {} : { last_modified }),
  });
}

async function* chunksOf(bytes: Uint8Array) {
  yield bytes;
}
