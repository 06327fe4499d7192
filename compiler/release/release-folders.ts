import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { DAY_MS, HOUR_MS, isoTime } from '../format/iso-time.ts';
import type { KeyHistory } from '../format/key-history.ts';
import {
  CURRENT_LINK,
  clockCorrected,
  type FileEntry,
  HEAD_BYTES_MAX,
  isNewestKey,
  RELEASE_NAME,
  RELEASES_FOLDER,
  type Release,
  releaseSchema,
} from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import type { Cadence } from '../products/shapes/freshness.ts';
import { FILES_FOLDER, storedPath } from '../products/shapes/path.ts';
import { readPlain, syncFolder } from '../system/plain-file.ts';
import { readNote } from './log-folder.ts';
import { type FileListBytes, onlyIn, readListed } from './release-list.ts';
import { removeFile } from './spare-files.ts';

/** Which releases stay, so that rollbacks find theirs: those that either member keeps. */
export interface Retention {
  /** How many of the newest stay, the current one among them; at least 1. */
  readonly last: number;
  /** How many days before the newest a release was current that stays; 0 for none. */
  readonly days: number;
}

export const RETENTION: Retention = { last: 4, days: 0 };
/** Twice the longest payment: a paid retry within it still finds the bytes that were bought. */
const RELEASE_AGE_MIN_MS = 600_000;

/** Name of the release that `current` points to, or null; throws a RangeError if it is not a link. */
export function currentName(data: string): string | null {
  const link = join(data, CURRENT_LINK);
  if (!existsSync(link)) return null;
  if (lstatSync(link).isSymbolicLink()) return basename(readlinkSync(link));
  const state = `"${CURRENT_LINK}" is not a link, perhaps because a copy followed links`;
  throw new RangeError(`Cannot open "${data}": ${state}; remove it, then ${linkAdvice(data)}`);
}

/** Throws a RangeError where releases were published but none is current: to start over next to them would be a fork. */
export function refuseLostCurrent(data: string): void {
  const names = releaseNames(data);
  // One alone, without a checkpoint, is what a first compile leaves that was killed before its switch.
  const isFirst = names.length <= 1 && readNote(data) === null;
  if (currentName(data) !== null || names.length === 0 || isFirst) return;
  const state = `"${CURRENT_LINK}" names a release that is not there`;
  throw new RangeError(`Cannot continue in "${data}": ${state}; ${linkAdvice(data)}`);
}

function linkAdvice(data: string): string {
  const newest = releaseNames(data).at(-1) ?? '<name>';
  const link = `ln -sfn ${RELEASES_FOLDER}/${newest} ${join(data, CURRENT_LINK)}`;
  return `name the release that was served last: ${link}`;
}

/** Names of all releases, oldest first: a name begins with the sequence. */
export function releaseNames(data: string): string[] {
  const folder = join(data, RELEASES_FOLDER);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

/** The head in a folder of releases; throws a RangeError when it is malformed. */
export function readRelease(data: string, name: string): Release {
  const path = join(data, RELEASES_FOLDER, name, RELEASE_NAME);
  const bytes = readPlain(path, HEAD_BYTES_MAX);
  try {
    return releaseSchema.parse(parseJson(decodeUtf8(bytes)));
  } catch (cause) {
    throw new RangeError(
      `Cannot read "${path}": not the head of a release as this program writes it; restore it from a copy, or name another data folder`,
      { cause },
    );
  }
}

/** The files of a release; null for one whose list cannot be trusted. */
export function releaseFiles(data: string, name: string): FileListBytes | null {
  try {
    return readListed(join(data, RELEASES_FOLDER, name), readRelease(data, name));
  } catch {
    return null;
  }
}

/** Names of the releases that are neither to be kept nor superseded lately, oldest first. */
export function doomedReleases(data: string, { last, days }: Retention): string[] {
  const names = releaseNames(data);
  const current = currentName(data);
  const since = (name: string): number => statSync(join(data, RELEASES_FOLDER, name)).mtimeMs;
  const newest = names.at(-1) ?? '';
  const ageMin = Math.max(RELEASE_AGE_MIN_MS, days * DAY_MS);
  return names.slice(0, -last).filter((name, at) => {
    const age = since(newest) - since(names[at + 1] ?? newest);
    return name !== current && age >= ageMin;
  });
}

/** Removes releases that are neither to be kept nor superseded lately, and the files that only they list. */
export function pruneReleases(data: string, retention: Retention): string[] {
  const doomed = doomedReleases(data, retention);
  for (const entry of removeReleases(data, doomed))
    removeFile(join(data, storedPath(entry.path, entry.sha256)));
  return doomed;
}

/**
 * Removes the folders of releases, and returns the files that only they list. They are gone for good before anything is done to
 * those files: a release without all of its files must never look whole, also after a power cut.
 */
export function removeReleases(data: string, doomed: readonly string[]): FileEntry[] {
  if (doomed.length === 0) return [];
  const lists = doomed.map((name) => releaseFiles(data, name));
  for (const name of doomed) {
    rmSync(join(data, RELEASES_FOLDER, name), { recursive: true, force: true });
  }
  syncFolder(join(data, RELEASES_FOLDER));
  const kept = releaseNames(data).reverse();
  return lists.flatMap((list) => (list === null ? [] : orphansOf(data, list, kept)));
}

/** Entries of a list that no kept release has, newest release first; none while one of those cannot be read. */
function orphansOf(
  data: string,
  list: FileListBytes,
  kept: readonly string[],
): readonly FileEntry[] {
  let orphans: readonly FileEntry[] = [];
  for (const [at, name] of kept.entries()) {
    const other = releaseFiles(data, name);
    if (other === null) return [];
    orphans =
      at === 0
        ? [...onlyIn(list.bytes, other.bytes)]
        : orphans.filter((entry) => !other.has(entry));
  }
  return orphans;
}

/** Removes what a killed compile left: releases that were never served, and files that no release lists. */
export function sweep(data: string): void {
  const current = currentName(data) ?? '';
  for (const name of releaseNames(data)) {
    if (name > current) rmSync(join(data, RELEASES_FOLDER, name), { recursive: true, force: true });
  }
  const listed = new Set<string>();
  for (const name of releaseNames(data)) {
    const list = releaseFiles(data, name);
    if (list === null) return;
    for (const { path, sha256 } of onlyIn(list.bytes, Buffer.alloc(0))) {
      listed.add(storedPath(path, sha256));
    }
  }
  if (existsSync(join(data, FILES_FOLDER))) removeUnlisted(data, FILES_FOLDER, listed);
}

/** Removes every file below a folder whose path is not listed. */
export function removeUnlisted(data: string, folder: string, listed: ReadonlySet<string>): void {
  for (const entry of readdirSync(join(data, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeUnlisted(data, path, listed);
    else if (!listed.has(path)) removeFile(join(data, path));
  }
}

/** When a release is published, and whether the operator says that the releases of a later time were a wrong clock's. */
export interface PublicationTime {
  /** ISO-8601 UTC. */
  readonly asOf: string;
  readonly acceptClock?: boolean;
}

/** What the next release follows. */
export interface LastPlace extends Pick<Release, 'sequence' | 'as_of' | 'clock_corrected'> {
  /** Hash of its head. */
  readonly head: string;
}

/** What a head says about its place after the newest release. */
export function nextPlace(
  last: LastPlace | null,
  asOf: string,
): Pick<Release, 'sequence' | 'as_of' | 'previous' | 'clock_corrected'> {
  const place = { sequence: (last?.sequence ?? 0) + 1, as_of: asOf };
  return { ...place, previous: last?.head ?? null, ...clockCorrected(last, place) };
}

/** Why a release may not be published at this time: it never goes back, unless the operator says that a clock ran ahead. */
export function timeFault(
  previous: Pick<Release, 'as_of'> | null,
  { asOf, acceptClock = false }: PublicationTime,
): string | null {
  const isBehind = previous !== null && Date.parse(asOf) < Date.parse(previous.as_of);
  if (acceptClock) {
    return isBehind
      ? null
      : '--accept-clock is not needed: no release here has a later time; leave it out';
  }
  if (!isBehind) return null;
  return (
    `"${asOf}" is before the current release, as of ${previous.as_of}; correct the clock or --as-of; ` +
    'if this clock is right now but once ran ahead, pass --accept-clock with the time that another clock shows'
  );
}

/** Why a key may not sign a clock correction; null if it may, or if there is no correction. */
export function correctorFault(
  { acceptClock = false }: PublicationTime,
  did: string,
  keys: KeyHistory,
): string | null {
  if (!acceptClock || isNewestKey(did, keys)) return null;
  return `only the newest key may sign a release after a clock correction, and "${did}" is an older one; pass the newest with --key`;
}

/** Says that the time until which a release is valid follows from what changed. */
export const BY_CADENCE = 'by-cadence';

const WEEK_MS = 7 * DAY_MS;
/** Between two readings; what is rarer than once a week counts as weekly. */
const CADENCE_MS: Partial<Record<Cadence, number>> = { hourly: HOUR_MS, daily: DAY_MS };

interface Publication {
  readonly catalog: Catalog;
  /** ISO-8601 UTC. */
  readonly asOf: string;
  /** Signals of the release, and those with new readings; all of them count where none has any. */
  readonly signals: readonly string[];
  readonly changed: readonly string[];
}

/** Twice the longest cadence of what changed, at most a week from now: whoever gets no newer release by then sees a freeze. */
export function validUntilByCadence({ catalog, asOf, signals, changed }: Publication): string {
  const known = changed.filter((id) => signals.includes(id));
  const counted = known.length > 0 ? known : signals;
  const cadences = counted.map((id) => {
    const cadence = catalog.entryById.get(id)?.signal.cadence;
    return (cadence === undefined ? undefined : CADENCE_MS[cadence]) ?? WEEK_MS;
  });
  const longest = cadences.length === 0 ? WEEK_MS : Math.max(...cadences);
  return isoTime(Date.parse(asOf) + Math.min(2 * longest, WEEK_MS));
}
