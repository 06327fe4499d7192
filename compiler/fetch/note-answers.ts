import { DAY_MS, HOUR_MS } from '../contract/iso-time.ts';
import { withoutKeys } from '../import/fetch-note.ts';
import { batchName } from '../import/merge-batch.ts';
import { type Archive, type Archived, type Look, notePath } from './archive.ts';
import type { AgencyAnswer, Asked, FetchBy, SourceRun } from './ask-agency.ts';

/** Days such as 2026-11-20, 11/20/2026 or 20261120, with a time or not, and years. */
const DATED =
  /\b(\d{1,2}\/\d{1,2}\/(19|20)\d{2}|(19|20)\d{6}|(19|20)\d{2}(-\d{2}(-\d{2}(T[\d:.]*Z?)?)?)?)\b/g;
/** A look that is older than this will not be compared with again. */
const LOOK_MS_MAX = 40 * DAY_MS;

/** What is archived of one asking. */
interface Noted {
  /** Fetches to import, in order. */
  readonly fetched: readonly Archived[];
  /** Addresses that answered with other bytes than before. */
  readonly changed: number;
}

/**
 * Archives what came. Bytes that came before, and a 304, are a look: it is remembered, and noted only once the agency was due
 * to publish again. Of a whole, either every part is noted or none.
 */
export function noteAnswers(asked: Asked, run: SourceRun): Noted {
  const { failures, unasked } = asked;
  const answered = run.plan.isWhole === true ? atOneTime(asked.answered) : asked.answered;
  const changed = answered.filter((one) => !isKnown(one, lookAt(one, run))).length;
  const isWhole = run.plan.isWhole === true;
  const missing = failures.length + unasked;
  if (isWhole && missing > 0) {
    for (const one of answered) hold(one, missing, run);
    return { fetched: [], changed };
  }
  const isNewWhole = isWhole && answered.some((one) => isDue(one, run));
  const fetched = answered.flatMap((one) => {
    if (isNewWhole || isDue(one, run)) return [noted(one, run)];
    look(one, run);
    return [];
  });
  return { fetched, changed };
}

/** A whole is one capture, so all of it has the time of its first part, also where midnight came between. */
function atOneTime(answered: readonly AgencyAnswer[]): AgencyAnswer[] {
  return answered.map((one) => ({ ...one, at: answered[0]?.at ?? one.at }));
}

function lookAt({ url }: AgencyAnswer, { looks }: SourceRun): Look | undefined {
  return looks.get(withoutKeys(url));
}

/** A part of a whole that did not come is kept, but never imported. */
function hold(one: AgencyAnswer, missing: number, run: SourceRun): void {
  const held = `${missing} of the addresses of the same whole did not answer`;
  if (isKnown(one, lookAt(one, run))) drop(one, run.by);
  else run.by.archive.note({ ...kept(one, run), held });
}

/** Remembers that an address says what it said before. */
function look(one: AgencyAnswer, run: SourceRun): void {
  drop(one, run.by);
  const last = lookAt(one, run);
  if (last !== undefined) run.looks.set(withoutKeys(one.url), { ...last, looked_at: one.at });
}

function isKnown({ answer }: AgencyAnswer, look: Look | undefined): look is Look {
  if (answer.kind === 'unchanged') return true;
  // What could not be read may be damaged in the archive, so it is kept again.
  return look !== undefined && look.refused !== true && look.sha256 === answer.incoming.sha256;
}

/** Whether a fetch is noted: it has news, or the agency was due to have some by now. */
function isDue(one: AgencyAnswer, run: SourceRun): boolean {
  const look = lookAt(one, run);
  if (!isKnown(one, look)) return true;
  const isLaterHour = batchName(one.at) > batchName(look.noted_at);
  const age = Date.parse(one.at) - Date.parse(look.noted_at);
  return isLaterHour && age >= run.plan.everyMinutes * 60_000 - HOUR_MS / 4;
}

/** Writes the note of a fetch, and remembers it as the last look. */
function noted(one: AgencyAnswer, run: SourceRun): Archived {
  const archived = run.by.archive.note(kept(one, run));
  const { sha256, bytes, payload_day, etag, last_modified, url } = archived;
  run.looks.set(url, {
    sha256,
    bytes,
    payload_day,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
    note: notePath(archived),
    noted_at: one.at,
    looked_at: one.at,
  });
  return archived;
}

/** The note of a fetch whose bytes are in the archive, where this puts them if they are new. */
function kept(one: AgencyAnswer, run: SourceRun): Archived {
  const { source, by } = run;
  const { url, answer, at } = one;
  const look = lookAt(one, run);
  const last = look ?? lastLike(url, run);
  const after = last === undefined ? {} : { after: last.note };
  const base = { source: source.id, url, fetched_at: at, ...after };
  if (isKnown(one, look)) {
    drop(one, by);
    const { sha256, bytes, payload_day, etag, last_modified } = look;
    const before = {
      ...(etag === undefined ? {} : { etag }),
      ...(last_modified === undefined ? {} : { last_modified }),
    };
    const http_status = answer.kind === 'unchanged' ? 304 : 200;
    return { ...base, sha256, bytes, payload_day, ...before, ...answer.headers, http_status };
  }
  if (answer.kind === 'unchanged') throw new TypeError(`Cannot archive "${url}": nothing came`);
  const { sha256, bytes } = answer.incoming;
  const payload_day = at.slice(0, 10);
  by.archive.keep(source.id, answer.incoming, payload_day);
  return { ...base, sha256, bytes, payload_day, ...answer.headers, http_status: 200 };
}

/** The last look at the same question, asked of other days: some addresses name the time at which they are asked. */
function lastLike(url: string, { looks }: SourceRun): Look | undefined {
  const question = undated(url);
  const same = [...looks].filter(([other]) => undated(other) === question);
  const newest = same.sort(([, a], [, b]) => Date.parse(b.noted_at) - Date.parse(a.noted_at));
  return newest[0]?.[1];
}

/** An address without the days and times in it. */
function undated(url: string): string {
  return withoutKeys(url).replaceAll(/%3A/gi, ':').replaceAll(/%2F/gi, '/').replaceAll(DATED, '');
}

function drop({ answer }: AgencyAnswer, { archive }: FetchBy): void {
  if (answer.kind === 'payload') archive.drop(answer.incoming);
}

/** Forgets looks at addresses that are no longer asked; those that name a time would become more and more. */
export function forgetOldLooks(looks: Map<string, Look>, now: number): void {
  for (const [url, { looked_at }] of looks) {
    if (Date.parse(looked_at) < now - LOOK_MS_MAX) looks.delete(url);
  }
}

/** The look of a fetch that no importer could read: its address is asked for whole again. */
export function refuseLook(archive: Archive, { source, url }: Archived): void {
  const looks = new Map(archive.looks(source));
  const look = looks.get(url);
  if (look === undefined) return;
  looks.set(url, { ...look, refused: true });
  archive.saveLooks(source, looks);
}
