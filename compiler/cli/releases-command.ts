import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { DID_PATH } from '../catalog/static-files.ts';
import { releaseCatalog, WHOLE_CATALOG_PATH } from '../catalog/whole-catalog.ts';
import { signedCard } from '../describe/describe.ts';
import { keyIdOf } from '../format/citation.ts';
import { defined } from '../format/errors.ts';
import { HASH_INDEX_FOLDER } from '../format/hash-index.ts';
import { DAY_MS, isoTime } from '../format/iso-time.ts';
import { firstHistory, formatKeyHistory, KEYS_PATH } from '../format/key-history.ts';
import {
  type CatalogRow,
  CODINGS,
  CONTRACT_VERSION,
  FILES_NAME,
  type FileEntry,
  packedPath,
  RELEASES_FOLDER,
  type Release,
  releaseName,
} from '../format/release.ts';
import { treeHead } from '../format/release-entry.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import { endpointAt } from '../products/products.ts';
import { filePath } from '../products/shapes/path.ts';
import { refuseKey } from '../publish/keys/key-command.ts';
import { readIssuerKey, readKeys } from '../publish/keys/key-store.ts';
import { appendRelease, continuedLog } from '../publish/log/continue-log.ts';
import { type LogMemory, takeTurn } from '../publish/log/log-turn.ts';
import { type CatalogChange, type ChangeKind, catalogChanges } from '../release/catalog-changes.ts';
import { sha256 } from '../release/log-tree.ts';
import { packedBytes } from '../release/press.ts';
import {
  correctorFault,
  currentName,
  nextPlace,
  type PublicationTime,
  pruneReleases,
  type Retention,
  readRelease,
  releaseFiles,
  releaseNames,
  timeFault,
} from '../release/release-folders.ts';
import {
  type FileListBytes,
  type ListedChange,
  listedChanges,
  onlyIn,
  ReleaseList,
  readCatalog,
  readStored,
  writeHead,
} from '../release/release-list.ts';
import { currentRelease, openStaging, type Staging } from '../release/release-store.ts';
import {
  type CommandSettings,
  dataFolder,
  JSON_OPTION,
  jsonText,
} from '../system/command-settings.ts';
import { nodeDisk } from '../system/disk.ts';
import { errorText } from '../system/error-text.ts';
import { canonicalDigest } from '../system/jcs.ts';
import {
  type Issuer,
  issuerDid,
  makeSealer,
  type Sealer,
  signedAgain,
  signingKey,
} from '../system/sealer.ts';
import { CARD_PATH } from '../verify/description-checks.ts';
import { Faults } from '../verify/release-fault.ts';
import { readHeadAlone } from '../verify/release-head.ts';
import {
  ACCEPT_CLOCK,
  KEEP_DAYS,
  KEEP_LAST,
  LOG_MEMORY,
  logMemoryOf,
  NO_LOG_MEMORY,
  publicationTime,
  type RetentionFlags,
  retentionOf,
  type TimeFlags,
  VALID_UNTIL_WEEK,
  validUntilOf,
  warnOfForgetting,
} from './compile-options.ts';
import { changesText, cleanupFailuresText } from './progress.ts';

/** One line per release, oldest first; the current one is marked. */
export function listText(data: string): string {
  const lines = listed(data).map((one) => {
    const said =
      'error' in one ? one.error : `as of ${one.as_of}  ${one.records} records  ${one.files} files`;
    return `${one.is_current ? '*' : ' '} ${one.name}  ${said}`;
  });
  return lines.length === 0 ? `no releases in "${data}"` : lines.join('\n');
}

/** One damaged release must not hide the others. */
function listed(data: string) {
  const current = currentName(data);
  return releaseNames(data).map((name) => {
    const is_current = name === current;
    try {
      const { as_of, files_count: files, counts } = readRelease(data, name);
      return { name, is_current, as_of, records: counts.records, files };
    } catch (error) {
      return { name, is_current, error: errorText(error) };
    }
  });
}

export function prune(data: string, retention: Retention): readonly string[] {
  if (!existsSync(data))
    throw new RangeError(`Cannot prune "${data}": no such folder; correct --data`);
  const staging = openStaging(data);
  try {
    return pruneReleases(data, retention);
  } finally {
    staging.discard();
  }
}

/** A release that takes in nothing. */
const NOTHING_TAKEN = treeHead(0, [], sha256);

interface Rollback extends PublicationTime {
  data: string;
  name: string;
  /** When readers should look for a newer release; never if absent. */
  validUntil?: string;
  seed: Uint8Array;
  /** What remembers the log outside; null or absent to go without. */
  logMemory?: LogMemory | null;
}

/**
 * Publishes the files of an older release once more, as the newest one: sequences only grow, so nobody can mistake this
 * for an old release that an attacker slipped in. Across a rotation the key that signs now signs its bodies again, so the
 * one before is not needed. Throws a RangeError when that release is not there or is damaged, and a KeyError when the key may
 * not sign now.
 */
export async function rollBack(rollback: Rollback) {
  const turn = await takeTurn(rollback.data, { ...rollback, memory: rollback.logMemory ?? null });
  // Only a compile knows how many releases are to stay.
  const staging = openStaging(rollback.data, { retention: null, turn });
  try {
    const { release, logged } = writeAgain(staging, rollback);
    const settled = await staging.settle();
    const { cleanupFailures } = await settled.publish(releaseName(release), logged);
    return { release, cleanupFailures };
  } catch (error) {
    staging.discard();
    throw error;
  }
}

/** Writes the release again, behind the current one and with its log; with the signed note of the log that it is in. */
function writeAgain(staging: Staging, rollback: Rollback) {
  const { data, name, asOf, validUntil, seed } = rollback;
  const files = filesOf(data, name);
  const head = signedHead(data, name);
  const key = signingKey(seed);
  refuseUnfit(staging, { ...rollback, head, files, key });
  const { all, head: logged } = staging.log?.entryOf(head.sequence) ?? {};
  if (all === undefined || logged !== canonicalDigest(head)) {
    throw refusal(
      data,
      `release "${name}" is not in the log, or of an older format; compile the older snapshots again`,
    );
  }
  if (validUntil !== undefined && Date.parse(validUntil) <= Date.parse(asOf)) {
    throw refusal(data, `"${validUntil}" is not after ${asOf}; pass a later --valid-until`);
  }
  const current = staging.previous?.files() ?? null;
  if (current === null) throw refusal(data, 'the list of files of the current release is damaged');
  // The time until which it was valid is that of the release it was then.
  const { files_sha256: _, files_count, signature: __, valid_until: ___, ...then } = head;
  // The new place in the sequence decides about clock corrections; the public part is that of the new list.
  const { clock_corrected: ____, public_files: _____, ...rest } = then;
  const until = validUntil === undefined ? {} : { valid_until: validUntil };
  const did = issuerDid(key);
  const issuer = {
    name: head.issuer_name,
    did,
    keyId: did === head.issuer_did ? head.key_id : keyIdOf(did),
    baseUrl: head.base_url,
  };
  const signer = { issuer, sealer: makeSealer(issuer, key) };
  const list = new ReleaseList(files, files_count);
  keepLasting({ current, files, list });
  // Files that the current release does not list may have decayed unnoticed, so they are read before they are served
  // again.
  const unread = onlyIn(files.bytes, current.bytes);
  for (const entry of unread) {
    if (list.find(entry.path)?.sha256 !== entry.sha256) continue;
    try {
      readStored(data, entry);
    } catch (cause) {
      const state = `"${entry.path}" of release "${name}" is damaged or gone`;
      throw refusal(data, `${state}; compile the older snapshots again`, cause);
    }
  }
  if (did !== head.issuer_did) list.add(signedFiles({ staging, files, list }, head, signer));
  const own = { issuer_did: did, key_id: issuer.keyId };
  const next = { ...rest, ...own, ...nextPlace(staging.place, asOf), ...until };
  const { release } = writeHead(staging.root, { list, head: next }, signer.sealer);
  const file = staging.writer.write;
  const log = continuedLog({ staging, press: { ...signer, file } });
  return { release, logged: appendRelease(log, release, { all, taken: NOTHING_TAKEN }) };
}

/** The files of a release that another key signs again, in all their forms. */
function signedFiles(
  {
    staging: { data, writer },
    files,
    list,
  }: { readonly staging: Staging; readonly files: FileListBytes; readonly list: ReleaseList },
  { issuer_did: was }: Release,
  signer: { readonly issuer: Issuer; readonly sealer: Sealer },
): FileEntry[] {
  return [...onlyIn(files.bytes, Buffer.alloc(0))].flatMap((entry) => {
    const { path } = entry;
    if (!path.endsWith('.json') || list.find(path)?.sha256 !== entry.sha256) return [];
    const bytes = readStored(data, entry);
    const again = path === CARD_PATH ? cardAgain(bytes, signer) : signedAgain(bytes, was, signer);
    if (again === null) return [];
    const packed = CODINGS.filter((coding) => files.find(packedPath(path, coding)) !== null);
    return [
      writer.write(path, again),
      ...packed.map((coding) => writer.write(packedPath(path, coding), packedBytes(again, coding))),
    ];
  });
}

function cardAgain(bytes: Buffer, signer: Parameters<typeof signedCard>[1]): Buffer {
  const { signatures: _, ...card } = JSON.parse(bytes.toString('utf8'));
  return Buffer.from(JSON.stringify(signedCard(card, signer)));
}

/** The head of a release that somebody signed as it stands: what it lists is signed again, so nobody may have changed it. */
function signedHead(data: string, name: string): Release {
  const faults = new Faults();
  const root = join(data, RELEASES_FOLDER, name);
  const head = readHeadAlone({ disk: nodeDisk, root, trust: 'any', faults });
  const [fault] = faults.kept;
  if (head !== null && fault === undefined) return head;
  throw refusal(
    data,
    `release "${name}" is damaged: ${fault?.where} ${fault?.detail}; compile the older snapshots again`,
  );
}

/** Refuses what this key may not sign after the current release: an older one with this head and these files. */
function refuseUnfit(
  { data, previous, place }: Staging,
  back: Rollback & { head: Release; files: FileListBytes; key: KeyObject },
): void {
  const { name, head, files, asOf, key } = back;
  const current = previous?.head;
  if (current === undefined) throw refusal(data, 'no release is current; compile first');
  const did = issuerDid(key);
  const keys = readKeys(data) ?? firstHistory(current.issuer_did);
  refuseKey(keys, did, asOf);
  const published = currentRelease(data, previous)?.read(KEYS_PATH)?.toString('utf8');
  if (published !== undefined && published !== formatKeyHistory(keys)) {
    throw refusal(data, 'its list of keys is not published yet; compile first');
  }
  const isServed = hasServedTables(data, head, files);
  const strange = strangeness(head, current, isServed);
  if (strange !== null) throw refusal(data, `release "${name}" ${strange}`);
  const untimely = timeFault(place, back) ?? correctorFault(back, did, keys);
  if (untimely !== null) throw refusal(data, untimely);
  if (place?.sequence === current.sequence) return;
  throw refusal(data, 'the newest release is lost; compile first');
}

/** Why an older release cannot replace the current one; null if it can. */
function strangeness(older: Release, current: Release, isServed: boolean): string | null {
  const { base_url } = older;
  const again = 'compile the older snapshots again';
  // The log is named after the address, and it is the log of the current release that stays.
  if (base_url !== current.base_url) {
    return `was published at ${base_url}, the current one is at ${current.base_url}; ${again}`;
  }
  if (isServed) return null;
  return `was compiled with other tables, which the gatekeeper of this version does not serve; use the version that compiled it, or ${again}`;
}

/** Whether the gatekeeper of this version would take the catalogue of a release. */
function hasServedTables(data: string, head: Release, files: Pick<FileListBytes, 'find'>): boolean {
  if (head.contract_version !== CONTRACT_VERSION) return false;
  const entry = files.find(WHOLE_CATALOG_PATH);
  try {
    const file = entry === null ? null : { bytes: readStored(data, entry), sha256: entry.sha256 };
    releaseCatalog({ head, file, digestOf: canonicalDigest });
    return true;
  } catch {
    return false;
  }
}

/** Neither the look-up of what was ever taken in nor the keys are rolled back: that would take a revocation back. */
function keepLasting({
  current,
  files,
  list,
}: {
  current: FileListBytes;
  files: FileListBytes;
  list: ReleaseList;
}): void {
  const lastingOf = (of: FileListBytes): string[] =>
    [...of.under(`${HASH_INDEX_FOLDER}/`), KEYS_PATH, DID_PATH].filter((path) => of.find(path));
  list.remove(lastingOf(files));
  list.add(lastingOf(current).flatMap((path) => current.find(path) ?? []));
}

/** Throws a RangeError where there is no such release, or its list is damaged. */
export function filesOf(data: string, name: string): FileListBytes {
  const files = releaseNames(data).includes(name) ? releaseFiles(data, name) : null;
  if (files !== null) return files;
  throw new RangeError(
    `Cannot find release "${name}" in "${data}": none of that name with its ${FILES_NAME}; see "signalpress releases list"`,
  );
}

function refusal(data: string, state: string, cause?: unknown): RangeError {
  return new RangeError(`Cannot roll back in "${data}": ${state}`, { cause });
}

/** Lines that a difference spells out, of files those of each kind. */
const LINES_SHOWN_MAX = 20;

interface DataFlag {
  data: string;
}

interface RollbackFlags extends Pick<TimeFlags, 'acceptClock'> {
  key?: string;
  validUntil?: string;
  logMemory?: string | false;
}

export function defineReleases(releases: Command, settings: CommandSettings): void {
  const { env, print } = settings;
  const add = (usage: string, description: string): Command =>
    releases
      .command(usage)
      .description(description)
      .option('--data <folder>', 'folder of releases', dataFolder(settings));
  add('list', 'list every release and mark the current one')
    .option(...JSON_OPTION)
    .action(({ data, json }: DataFlag & { json?: true }) => {
      print(json === true ? jsonText(listed(data)) : listText(data));
    });
  add('diff <one> <other>', 'show how the readings of two releases differ')
    .option('--files', 'show how their lists of files differ instead')
    .action((one: string, other: string, { data, files }: DataFlag & { files?: boolean }) => {
      const text = files === true ? filesDiffText : readingsDiffText;
      print(text(data, [one, other]));
    });
  add('prune', 'remove releases that are no longer kept, and their files')
    .option(...KEEP_LAST)
    .option(...KEEP_DAYS)
    .action(({ data, ...flags }: DataFlag & RetentionFlags) => {
      const gone = prune(data, retentionOf(flags));
      print(gone.length === 0 ? 'nothing to prune' : `pruned ${gone.join(', ')}`);
    });
  add('rollback <name>', 'publish the files of an older release as the newest')
    .option('--key <file>', 'issuer key file (or SIGNALPRESS_ISSUER_KEY)')
    .option(...VALID_UNTIL_WEEK)
    .option(...ACCEPT_CLOCK)
    .option(...LOG_MEMORY)
    .option(...NO_LOG_MEMORY)
    .action(
      async (
        name: string,
        { data, key, validUntil, logMemory: place, ...flags }: DataFlag & RollbackFlags,
      ) => {
        const seed = readIssuerKey(key ?? env('SIGNALPRESS_ISSUER_KEY'));
        const time = publicationTime(flags, settings.now());
        const until = validUntilOf(validUntil, isoTime(Date.parse(time.asOf) + 7 * DAY_MS));
        const where = place === undefined ? { data } : { data, logMemory: place };
        const logMemory = logMemoryOf(where, env);
        const rollback = { data, name, ...time, ...until, seed, logMemory };
        const { release, cleanupFailures } = await rollBack(rollback);
        const done = `Release ${release.sequence} is published with the files of "${name}"`;
        print([done, ...cleanupFailuresText(cleanupFailures)].join('\n'));
        warnOfForgetting({ logMemory }, settings.screen);
      },
    );
}

/** The rarest first, so that many new readings hide nothing. */
const SHOWN_ORDER: readonly ChangeKind[] = ['gone', 'new', 'revised', 'older', 'newer'];
const REMARKS: Readonly<Partial<Record<ChangeKind, string>>> = {
  revised: ' (revised)',
  older: ' (an earlier reading)',
};

interface ReleaseFiles {
  data: string;
  files: FileListBytes;
}

/** Which entities have other readings in one release than in another, with the values of their main metrics. */
export function readingsDiffText(data: string, names: readonly [string, string]): string {
  const [one, other] = names;
  const before = { data, files: filesOf(data, one) };
  const after = { data, files: filesOf(data, other) };
  const counts = { new: 0, newer: 0, revised: 0, older: 0, gone: 0 };
  const first = new Map<ChangeKind, CatalogChange[]>(SHOWN_ORDER.map((kind) => [kind, []]));
  for (const change of catalogChanges(catalogOf(before, one), catalogOf(after, other))) {
    counts[change.kind] += 1;
    const shown = first.get(change.kind);
    if (shown !== undefined && shown.length < LINES_SHOWN_MAX) shown.push(change);
  }
  const total = SHOWN_ORDER.reduce((sum, kind) => sum + counts[kind], 0);
  const shown = SHOWN_ORDER.flatMap((kind) => defined(first.get(kind), 'the changes')).slice(
    0,
    LINES_SHOWN_MAX,
  );
  const rest = total - shown.length;
  return [
    `${one} -> ${other}: ${total === 0 ? 'no record changed' : changesText(counts)}`,
    ...shown.map((change) => changeLine(change, [before, after])),
    ...(rest > 0 ? [`  … and ${rest} more`] : []),
  ].join('\n');
}

function catalogOf({ data, files }: ReleaseFiles, name: string): Buffer {
  const catalog = readCatalog(data, files);
  if (catalog !== null) return catalog;
  throw new RangeError(
    `Cannot compare release "${name}": its catalog is damaged or gone; compare the files with --files`,
  );
}

function changeLine(
  { kind, row }: CatalogChange,
  [before, after]: readonly [ReleaseFiles, ReleaseFiles],
): string {
  const subject = `${row.entity} ${row.signal_id}`;
  if (kind === 'new') return `+ ${subject} ${readingText(mainReading(after, row))}`;
  if (kind === 'gone') return `- ${subject} ${readingText(mainReading(before, row))}`;
  const [was, is] = [mainReading(before, row), mainReading(after, row)];
  const now = was !== null && is?.metric === was.metric ? is.value : readingText(is);
  return `  ${subject} ${readingText(was)} -> ${now}${REMARKS[kind] ?? ''}`;
}

const withCurrent = z.object({ current: z.record(z.string(), z.unknown()).nullable() });

/** Null where the record cannot be read. */
function mainReading({ data, files }: ReleaseFiles, row: CatalogRow) {
  const { signal_id, entity } = row;
  const path = filePath(endpointAt('/gauge'), { signal_id, entity });
  const entry = path === null ? null : files.find(path);
  if (entry === null) return null;
  try {
    const { current } = withCurrent.parse(parseJson(decodeUtf8(readStored(data, entry))));
    const [metric, value] = Object.entries(current ?? {})[0] ?? ['current', null];
    return { metric, value: JSON.stringify(value) };
  } catch {
    return null;
  }
}

function readingText(reading: ReturnType<typeof mainReading>): string {
  return reading === null ? 'unreadable' : `${reading.metric} ${reading.value}`;
}

const MARKS = { added: '+', changed: '~', gone: '-' } as const;

export function filesDiffText(data: string, [one, other]: readonly [string, string]): string {
  const paths: Record<ListedChange['change'], string[]> = { added: [], changed: [], gone: [] };
  const [before, after] = [filesOf(data, one), filesOf(data, other)];
  for (const { path, change } of listedChanges(before.bytes, after.bytes)) {
    paths[change].push(path);
  }
  const { added, changed, gone } = paths;
  return [
    `${one} -> ${other}: ${added.length} added, ${changed.length} changed, ${gone.length} gone`,
    ...(['added', 'changed', 'gone'] as const).flatMap((kind) => shown(MARKS[kind], paths[kind])),
  ].join('\n');
}

function shown(mark: string, paths: readonly string[]): string[] {
  const rest = paths.length - LINES_SHOWN_MAX;
  const lines = paths.slice(0, LINES_SHOWN_MAX).map((path) => `${mark} ${path}`);
  return rest > 0 ? [...lines, `${mark} … and ${rest} more`] : lines;
}
