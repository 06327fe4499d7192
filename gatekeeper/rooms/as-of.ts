import { parseAsOf } from '../../compiler/contract/cutoff.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { RouteFault } from '../../compiler/contract/route.ts';
import { type Answered, IS_THERE, type Question, type Service } from '../answers/service.ts';
import { JSON_MEDIA_TYPE } from '../http/reply.ts';
import { noCharge } from '../offer/no-charge.ts';
import { earlierEntry } from '../release/earlier-files.ts';
import { type EarlierRelease, earlierReleases, isGone } from '../release/earlier-releases.ts';
import { type Body, type ReleaseReader, requestFile } from '../release/release-index.ts';
import { splicePoints } from '../release/request-time.ts';

/**
 * `/gauge/as-of`: the record that the newest kept release of a time holds, as that release stored it. Computed, because the
 * caller names the time. What depends on the time of the request is filled in as ever: an old record is an old reading.
 */
export async function asOf(question: Question, service: Service): Promise<Answered> {
  const { route, spend, isProbe } = question;
  const { release, clock } = service;
  const reader = { release, spend };
  const { releases: earlier } = await earlierReleases(release);
  const at = parseAsOf(defined(route.values.as_of, 'the time'));
  const newest = Date.parse(release.head.as_of);
  if (at === null || at > newest) return refused(question, reader, {});
  const asked = at === newest ? release : earlier.find(({ asOfMs }) => asOfMs <= at);
  if (asked === undefined) return refused(question, reader, { miss: 'no_data' });
  const path = requestFile(route.endpoint, route.values);
  const body = path === null ? null : await bodyOf(path, asked, reader);
  if (body === null) return refused(question, reader, { miss: 'no_data', of: asked.head.as_of });
  if (isProbe) return { ...IS_THERE, content: { ...IS_THERE.content, keepMs: 0 } };
  const bytes = release.bytesAt(body, clock());
  return {
    kind: 'content',
    content: { body: bytes, contentType: JSON_MEDIA_TYPE, keepMs: 0 },
  };
}

/** The body of a path in a release of now or before; null where it lists none, or is kept no more. */
async function bodyOf(
  path: string,
  asked: ReleaseReader['release'] | EarlierRelease,
  reader: ReleaseReader,
): Promise<Body | null> {
  const { release, spend } = reader;
  if (!('name' in asked)) return release.has(path) ? release.body(path, spend) : null;
  const { folder } = release.place;
  if (folder === undefined) throw new RangeError(`Cannot read "${path}": no folder of releases`);
  try {
    const entry = await earlierEntry(path, asked, { folder, spend });
    if (entry === null) return null;
    const bytes = await release.place.body(entry, spend);
    return { bytes, sha256: entry.sha256, points: splicePoints(bytes) };
  } catch (error) {
    // It may have been removed while it was read.
    if (await isGone(asked, reader)) return null;
    throw error;
  }
}

interface Refusal {
  /** A time that is no legal one, unless a legal one has no answer. */
  readonly miss?: 'no_data';
  /** The time of the release that lacks the record. */
  readonly of?: string;
}

/** The 422 of a time that has no answer: it says how far back records are kept. Rejects where nobody can tell. */
async function refused(
  { route }: Question,
  { release }: ReleaseReader,
  { miss, of }: Refusal,
): Promise<Answered> {
  const { releases, doubt } = await earlierReleases(release);
  if (doubt !== null) throw doubt;
  const oldest = releases.at(-1)?.head ?? release.head;
  const range = `from ${oldest.as_of} to ${release.head.as_of}, the oldest and the newest release that is kept`;
  const lack = of === undefined ? '' : `the release of ${of} has no such record; `;
  const fault: RouteFault = {
    miss: miss ?? 'illegal_value',
    name: 'as_of',
    missing: [],
    value: defined(route.values.as_of, 'the time'),
    legal: `${lack}a date (its end in UTC) or a date-time with Z or an offset, ${range}`,
  };
  return { kind: 'reply', reply: noCharge({ ...route, fault }, release) };
}
