/**
 * How a publisher comes back from a lost or an older folder. `adopt` takes the log back from wherever it was published: all
 * of it is public, and nothing is taken that its issuer did not sign or that does not go on from the log that is here.
 * `backup` and `restore` copy what of a data folder cannot be made again, each file checked on the way.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { KEYS_URL, LOG_URL } from '../../catalog/static-files.ts';
import { NOTE_CHARS_MAX, openNote } from '../../format/checkpoint.ts';
import { isCode, messageOf } from '../../format/errors.ts';
import {
  isContinued,
  KEYS_BYTES_MAX,
  KEYS_PATH,
  readKeyHistory,
} from '../../format/key-history.ts';
import {
  CURRENT_LINK,
  FILES_NAME,
  HEAD_BYTES_MAX,
  parseFiles,
  RELEASE_NAME,
  RELEASES_FOLDER,
  releaseName,
} from '../../format/release.ts';
import { decodeUtf8, parseJson } from '../../format/strict-json.ts';
import { FILES_FOLDER, storedPath } from '../../products/shapes/path.ts';
import { forgetStaged, type OpenLog, openLog, stagedLog } from '../../release/log-folder.ts';
import { currentName, readRelease, releaseFiles, sweep } from '../../release/release-folders.ts';
import { onlyIn, readStored } from '../../release/release-list.ts';
import { switchCurrent, syncTree } from '../../release/release-store.ts';
import { type CommandSettings, dataFolder, repeated } from '../../system/command-settings.ts';
import { lockData } from '../../system/data-lock.ts';
import { readPlain } from '../../system/plain-file.ts';
import { issuerDid, signingKey } from '../../system/sealer.ts';
import { believedDids, trustedBy, trustedList } from '../../verify/key-trust.ts';
import { type Fetch, type LogClient, logClient } from '../../verify/monitor/log-client.ts';
import { signedHead } from '../../verify/signed-head.ts';
import { isSignedBy } from '../../verify/verify-citation.ts';
import { keepKeys, readIssuerKey, readKeys } from '../keys/key-store.ts';
import { ownLog } from '../upload/upload-log.ts';
import { LIST_BYTES_MAX } from './mirror-folder.ts';
import { mirrorLog } from './mirror-log.ts';

const TOTAL_MS = 600_000;

interface Adoption {
  /** Address of a shop or of a static host, or a folder: a mirror, a copy, a data folder. */
  readonly from: string;
  readonly data: string;
  /** DIDs that may have signed the log. */
  readonly issuers: readonly string[];
  readonly fetch: Fetch;
}

/** Takes a log back; throws a RangeError where its source is no log of these issuers, or not the one that goes on from here. */
export async function adoptLog({ from, data, issuers, fetch }: Adoption): Promise<OpenLog> {
  const refuse = (state: string): never => {
    throw new RangeError(`Cannot adopt the log of "${from}": ${state}; nothing was changed`);
  };
  const isAddress = /^https?:\/\//i.test(from);
  if (!isAddress && !existsSync(from)) refuse('no such folder');
  const clock = { steady: () => performance.now() };
  const client = isAddress
    ? logClient(from.replace(/\/+$/, ''), { fetch, clock, totalMs: TOTAL_MS })
    : folderClient(from);
  const trusted = trustedBy(issuers);
  const bytes = await keysAt(client);
  const keys =
    bytes === null
      ? null
      : trustedList(readKeyHistory(parseJson(decodeUtf8(bytes)), isSignedBy), trusted);
  const unlock = lockData(data);
  try {
    const staged = stagedLog(data)?.size ?? 0;
    const note = await client.get(LOG_URL, 2 * NOTE_CHARS_MAX);
    const there = note === null ? undefined : openNote(decodeUtf8(note))?.checkpoint;
    // What is staged may be what the memory outside knows: only a log that has another entry in its place ends it.
    if (staged > (there?.size ?? 0)) {
      refuse('a release is staged here that it lacks; "signalpress compile" publishes it');
    }
    forgetUnsigned(data);
    const believed = believedDids({ ...trusted, ...(keys === null ? {} : { keys }) }, undefined);
    const { faults } = await mirrorLog({ client, data, issuers: believed });
    const [fault] = faults;
    if (fault !== undefined) return refuse(`${fault.file}: ${fault.detail}`);
    // A list that is ahead of the published one is the operator's.
    const own = keys === null ? null : readKeys(data);
    if (keys !== null && (own === null || isContinued(own, keys))) keepKeys(data, keys);
    return openLog(data) ?? refuse('it is empty');
  } finally {
    unlock();
  }
}

function folderClient(folder: string): LogClient {
  return {
    async get(path, max) {
      try {
        return readPlain(join(folder, path), max);
      } catch (error) {
        if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return null;
        throw error;
      }
    },
  };
}

/** The list of keys of a shop; of a folder or a static host that of its current release. Null for none. */
async function keysAt({ get }: LogClient): Promise<Uint8Array | null> {
  const listed = await get(KEYS_URL, KEYS_BYTES_MAX);
  const head =
    listed === null ? await get(`/${CURRENT_LINK}/${RELEASE_NAME}`, HEAD_BYTES_MAX) : null;
  const release = head === null ? null : signedHead(head, { trust: 'any' }, () => undefined);
  if (release === null) return listed;
  const place = `/${RELEASES_FOLDER}/${releaseName(release)}/${FILES_NAME}`;
  const list =
    (await get(`/${CURRENT_LINK}/${FILES_NAME}`, LIST_BYTES_MAX)) ??
    (await get(place, LIST_BYTES_MAX));
  const entry = parseFiles(decodeUtf8(list ?? new Uint8Array(0))).find(
    ({ path }) => path === KEYS_PATH,
  );
  // What it says is signed, so its hash need not be looked at.
  return entry === undefined ? null : get(`/${storedPath(entry.path, entry.sha256)}`, entry.size);
}

/** Removes what was staged and never signed: another machine went on instead. */
function forgetUnsigned(data: string): void {
  const folder = join(data, 'log/new');
  let last = 0;
  try {
    last = openLog(data)?.last.sequence ?? 0;
  } catch {
    // A log that is damaged is fetched anew, with all that its releases took in.
  }
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (Number(name) > last) rmSync(join(folder, name));
  }
  forgetStaged(data);
  if (currentName(data) !== null) sweep(data);
}

/** What stands in the top of a data folder beside its releases, and is not made again: the log, keys, own files. */
const lastingNames = (data: string): string[] =>
  readdirSync(data).filter(
    (name) =>
      !name.startsWith('.') && ![RELEASES_FOLDER, FILES_FOLDER, CURRENT_LINK].includes(name),
  );

/**
 * Copies the current release with its files, the log and the keys into a folder that is not there or empty, and checks every
 * file of the release on the way. Throws a RangeError that names what is damaged, or in the way.
 */
export async function copyShop(from: string, to: string) {
  const refuse = (state: string): never => {
    throw new RangeError(`Cannot copy "${from}" to "${to}": ${state}`);
  };
  const isOutside = (one: string, other: string): boolean =>
    relative(resolve(one), resolve(other)).startsWith('..');
  if (!existsSync(from)) return refuse('there is nothing to copy');
  if (!isOutside(from, to) || !isOutside(to, from)) return refuse('one lies within the other');
  const isFree = !existsSync(to) || readdirSync(to).every((name) => name.startsWith('.lock'));
  if (!isFree) return refuse('that folder is not empty; name a new one, or move it away');
  const unlock = [from, to].map((folder) => lockData(folder));
  try {
    const name = currentName(from) ?? refuse('it has no current release');
    const list = releaseFiles(from, name) ?? refuse(`the list of release "${name}" is damaged`);
    const log = ownLog(from, readRelease(from, name), false);
    for (const each of lastingNames(from)) {
      cpSync(join(from, each), join(to, each), { recursive: true, verbatimSymlinks: true });
    }
    let [files, bytes] = [0, 0];
    for (const entry of onlyIn(list.bytes, Buffer.alloc(0))) {
      const place = join(to, storedPath(entry.path, entry.sha256));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, readStored(from, entry));
      files += 1;
      bytes += entry.size;
    }
    const folder = join(RELEASES_FOLDER, name);
    cpSync(join(from, folder), join(to, folder), { recursive: true });
    await syncTree(to);
    switchCurrent(to, name);
    return { name, entries: log?.signed.size ?? 0, files, bytes };
  } catch (error) {
    return refuse(messageOf(error));
  } finally {
    for (const free of unlock) free();
  }
}

/** What no copy of the data folder holds. */
const KEEP_TOO = [
  'Keep apart from it, each in a safe place:',
  '  the issuer key and its offline copy, root keys, the settings (SIGNALPRESS_…)',
  '  the snapshots and the archive of payloads: a compile that has lost them cannot go on with the log',
  '  the journal of payments ("signalpress-gate ledger backup", or a dump of its database) and the state folder',
  '  the memory of the log (SIGNALPRESS_LOG_MEMORY), which must never be restored to an earlier time',
].join('\n');

interface KeepFlags {
  readonly data: string;
}

export function defineAdopt(command: Command, settings: CommandSettings): void {
  const { env, print } = settings;
  command
    .argument(
      '<from>',
      'address of the running shop or of a static host, or a folder: a mirror, a copy',
    )
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option('--issuer <did>', 'the issuer of the log, did:key:z6Mk…; may be repeated', repeated)
    .option('--key <file>', 'issuer key file in place of it (or SIGNALPRESS_ISSUER_KEY)')
    .action(
      async (from: string, flags: KeepFlags & { issuer?: readonly string[]; key?: string }) => {
        const { data, key = env('SIGNALPRESS_ISSUER_KEY') } = flags;
        const issuers = flags.issuer ?? [issuerDid(signingKey(readIssuerKey(key)))];
        const { signed, last } = await adoptLog({ from, data, issuers, fetch });
        print(
          `The log of ${signed.size} entries is in "${data}"; the newest is release ${last.sequence}, as of ${last.as_of}.\n` +
            `The next compile publishes release ${last.sequence + 1}: give it all snapshots that were published, and the newest key.`,
        );
      },
    );
}

export function defineBackup(command: Command, settings: CommandSettings): void {
  command
    .argument('<folder>', 'a new folder')
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .action(async (folder: string, { data }: KeepFlags) => {
      const { name, entries, files, bytes } = await copyShop(data, folder);
      settings.print(
        `Release "${name}" (${files} files, ${bytes} bytes), the log of ${entries} entries and the keys are in "${folder}".\n${KEEP_TOO}`,
      );
    });
}

export function defineRestore(command: Command, settings: CommandSettings): void {
  command
    .argument('<folder>', 'what "signalpress backup" wrote')
    .option(
      '--data <folder>',
      'folder of releases, which is empty or not there',
      dataFolder(settings),
    )
    .action(async (folder: string, { data }: KeepFlags) => {
      const { name, entries } = await copyShop(folder, data);
      settings.print(
        `Release "${name}" and the log of ${entries} entries are in "${data}".\n` +
          'If anything was published after that backup, run "signalpress adopt" before the next compile.',
      );
    });
}
