import type { Command } from 'commander';
import { z } from 'zod';
import { logOrigin } from '../format/checkpoint.ts';
import { hiddenSign } from '../format/hidden-signs.ts';
import { isoTime } from '../format/iso-time.ts';
import { SERIES_DAYS_MAX } from '../products/shapes/series.ts';
import { openLogMemory } from '../publish/anchor/log-memory.ts';
import { readIssuerKey } from '../publish/keys/key-store.ts';
import type { LogMemory } from '../publish/log/log-turn.ts';
import type { ReadBack } from '../publish/read-back.ts';
import { WITNESSES } from '../publish/witness/ask-after.ts';
import { CLOCK_ALLOWANCE_MS } from '../readings/list-snapshots.ts';
import {
  BY_CADENCE,
  type PublicationTime,
  RETENTION,
  type Retention,
} from '../release/release-folders.ts';
import {
  type CommandSettings,
  dataFolder,
  defaultWorkers,
  header,
  workerCount,
} from '../system/command-settings.ts';
import type { CompileOptions } from './compile.ts';

/** A file of which more is bad, of a million lines, is not a file with some bad lines. */
const MAX_REJECTS_PPM = 500_000;

export interface CompileFlags extends RetentionFlags {
  readonly snapshots: string;
  readonly data: string;
  readonly key?: string;
  readonly overlapKey?: string;
  readonly issuerName: string;
  readonly baseUrl: string;
  readonly asOf?: string;
  readonly acceptClock?: string;
  readonly validUntil?: string;
  readonly contact?: string;
  readonly subscriptions?: boolean;
  readonly workers: string;
  readonly full?: boolean;
  readonly verify: string;
  readonly allowShrink?: boolean;
  readonly acceptCatalogChanges?: boolean;
  readonly maxRejects: string;
  readonly seriesDays: string;
  readonly witnesses?: string;
  readonly logMemory?: string | false;
}

/** Options of the commands that publish a release of what is stored in a folder. */
export function withCompileOptions(
  command: Command,
  snapshots: string,
  settings: Pick<CommandSettings, 'env'>,
): Command {
  const { env } = settings;
  return command
    .option('--snapshots <folder>', 'folder of batches', snapshots)
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option('--key <file>', 'issuer key file (or SIGNALPRESS_ISSUER_KEY)')
    .option(
      '--overlap-key <file>',
      'other key of a rotation: signs the log too while it is valid (or SIGNALPRESS_OVERLAP_KEY)',
    )
    .option(
      '--issuer-name <name>',
      'issuer in citations',
      env('SIGNALPRESS_ISSUER_NAME') ?? 'Signalpress',
    )
    .option(
      '--base-url <url>',
      'public address',
      env('SIGNALPRESS_BASE_URL') ?? 'http://127.0.0.1:4021',
    )
    .option(
      '--contact <uri>',
      'mailto: or https address shown in the published descriptions, and to agencies',
      env('SIGNALPRESS_CONTACT'),
    )
    .option('--no-subscriptions', 'offer no subscription tokens, nor what only a token opens')
    .option(
      '--verify <how>',
      'how much is read back and verified before it is published: sample or full',
      'sample',
    )
    .option('--allow-shrink', 'publish even if a signal lost many of its entities or readings')
    .option(
      '--max-rejects <share>',
      'largest share of bad lines to leave out of each file, such as 0.5%',
      '0%',
    )
    .option('--workers <count>', 'worker threads, 0 for none', defaultWorkers())
    .option(...SERIES_DAYS)
    .option(...WITNESSES)
    .option(...LOG_MEMORY)
    .option(...NO_LOG_MEMORY)
    .option(...KEEP_LAST)
    .option(...KEEP_DAYS);
}

export function compileOptions(
  flags: CompileFlags,
  { env, now }: Pick<CommandSettings, 'env' | 'now'>,
): CompileOptions {
  const time = publicationTime(flags, now());
  return {
    snapshots: flags.snapshots,
    data: flags.data,
    ...time,
    ...validUntilOf(flags.validUntil, BY_CADENCE),
    issuerName: issuerName(flags.issuerName),
    baseUrl: baseUrl(flags.baseUrl),
    contact: contact(flags.contact),
    subscriptions: flags.subscriptions !== false,
    seed: readIssuerKey(flags.key ?? env('SIGNALPRESS_ISSUER_KEY')),
    ...overlapSeed(flags.overlapKey ?? env('SIGNALPRESS_OVERLAP_KEY')),
    workers: workerCount(flags.workers),
    full: flags.full === true,
    readBack: readBackOf(flags.verify),
    allowShrink: flags.allowShrink === true,
    acceptCatalogChanges: flags.acceptCatalogChanges === true,
    maxRejectsPpm: rejectsPpm(flags.maxRejects),
    seriesDays: seriesDaysOf(flags.seriesDays),
    retention: retentionOf(flags),
    logMemory: logMemoryOf(flags, env),
  };
}

/** The options of every command that continues a log. */
export const LOG_MEMORY = [
  '--log-memory <place>',
  'what remembers the size and root of the log outside of --data: postgres://…, the https URL of an object in a store that ' +
    'knows If-Match, that of a published /log/checkpoint, or a file (or SIGNALPRESS_LOG_MEMORY)',
] as const;
export const NO_LOG_MEMORY = [
  '--no-log-memory',
  'go on without it: a restored folder or a second machine forks the log unnoticed',
] as const;

/** The memory that an option or the environment names; null to go without. Throws a RangeError for what is none. */
export function logMemoryOf(
  { logMemory, data }: { readonly logMemory?: string | false; readonly data: string },
  env: CommandSettings['env'],
): LogMemory | null {
  const place = logMemory ?? env('SIGNALPRESS_LOG_MEMORY') ?? '';
  if (place === false || place === '') return null;
  return openLogMemory({ place, data, auth: header(env, 'SIGNALPRESS_LOG_MEMORY_AUTH'), fetch });
}

/** Says loudly that nothing outside knows the log. */
export function warnOfForgetting(
  { logMemory }: Pick<CompileOptions, 'logMemory'>,
  screen: CommandSettings['screen'],
): void {
  if (logMemory != null) return;
  screen.write(
    'WARNING: nothing outside of the data folder remembers the log: if the folder is restored, lost or copied, this signs ' +
      'a fork that nobody can take back. Name a memory with --log-memory or SIGNALPRESS_LOG_MEMORY\n',
  );
}

function overlapSeed(setting: string | undefined): Pick<CompileOptions, 'overlapSeed'> {
  if (setting === undefined || setting === '') return {};
  const option = '--overlap-key or SIGNALPRESS_OVERLAP_KEY';
  return { overlapSeed: readIssuerKey(setting, option) };
}

function contact(uri: string | undefined): string | null {
  if (uri === undefined || uri === '') return null;
  if (/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(uri)) return uri;
  throw new Error(`Cannot name contact "${uri}": not an address such as mailto:ops@example.org`);
}

function issuerName(text: string): string {
  if (text.trim() === '') {
    throw new RangeError(
      'Cannot publish without an issuer name: --issuer-name is empty; give a name',
    );
  }
  const sign = hiddenSign(text);
  if (sign === null) return text;
  throw new RangeError(
    `Cannot publish as ${JSON.stringify(text)}: the hidden sign ${sign} in --issuer-name; give a name of one line without it`,
  );
}

function baseUrl(text: string): string {
  // A browser takes "https:/host" too, but a buyer compares addresses as they are written.
  if (!URL.canParse(text) || !/^https?:\/\/[^/]\S*$/.test(text)) {
    throw new RangeError(
      `Cannot publish at "${text}": not an http or https address; write it as https://signals.example.org`,
    );
  }
  const { username, password, origin } = new URL(text);
  if (username !== '' || password !== '' || /[?#]/.test(text)) {
    throw new RangeError(
      `Cannot publish at "${origin}": a user, password, query or fragment in --base-url would appear in every citation; leave it out`,
    );
  }
  const address = text.replace(/\/+$/, '');
  // Every release has a log, which must be able to bear the name of the address.
  logOrigin(address);
  return address;
}

function readBackOf(text: string): ReadBack {
  if (text === 'sample' || text === 'full') return text;
  throw new RangeError(`Cannot use --verify "${text}": neither sample nor full`);
}

function rejectsPpm(text: string): number {
  const [, percent] = /^(\d{1,2}(?:\.\d{1,4})?)%$/.exec(text) ?? [];
  const ppm = Math.round(Number(percent) * 10_000);
  if (ppm >= 0 && ppm <= MAX_REJECTS_PPM) return ppm;
  throw new RangeError(
    `Cannot use --max-rejects "${text}": not a share from 0% to 50%; pass one such as 0.5%`,
  );
}

/** How far the time that an operator reads off another clock may be from this machine's. */
const TYPED_TIME_MS_MAX = 120_000;
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?Z?$/;

/** The option of every command that publishes; see `PublicationTime`. */
export const ACCEPT_CLOCK = [
  '--accept-clock <utc>',
  'publish after a clock that ran ahead was corrected; give the current UTC time from another clock, such as 2026-11-20T12:34',
] as const;

/** The time given by an option, or `otherwise` if the option is absent. */
export function instant(option: string, text: string | undefined, otherwise: string): string {
  if (text === undefined) return otherwise;
  if (z.iso.datetime().safeParse(text).success) return isoTime(Date.parse(text));
  throw new RangeError(
    `Cannot use ${option} "${text}": not an ISO-8601 time in UTC; write it as 2026-11-20T12:00:00Z`,
  );
}

const VALID_UNTIL_FLAG = '--valid-until <time>';
/** Until when a compiled release is valid, and one that a rollback publishes. */
export const VALID_UNTIL = [
  VALID_UNTIL_FLAG,
  'when readers should look for a newer release, or none (default: after twice the longest cadence of what changed, at most a week)',
] as const;
export const VALID_UNTIL_WEEK = [
  VALID_UNTIL_FLAG,
  'when readers should look for a newer release, or none (default: a week from now)',
] as const;

/** The time until which a release is valid, `otherwise` where none is given; nothing for the word `none`. */
export function validUntilOf(text: string | undefined, otherwise: string): { validUntil?: string } {
  return text === 'none' ? {} : { validUntil: instant('--valid-until', text, otherwise) };
}

export interface TimeFlags {
  readonly asOf?: string;
  readonly acceptClock?: string;
}

/**
 * The time that a release is published at; throws a RangeError for a time in the future, and for a clock that disagrees
 * with the given one.
 */
export function publicationTime({ asOf, acceptClock }: TimeFlags, nowMs: number): PublicationTime {
  const now = isoTime(nowMs);
  if (acceptClock === undefined) return { asOf: notAhead(instant('--as-of', asOf, now), nowMs) };
  if (asOf !== undefined) {
    throw new RangeError(
      'Cannot use --as-of with --accept-clock: the release then takes the time of this clock; leave --as-of out',
    );
  }
  refuseOtherTime(acceptClock, nowMs);
  return { asOf: now, acceptClock: true };
}

/** A release dated in the future would lock the folder until then, because publication time never goes back. */
function notAhead(asOf: string, nowMs: number): string {
  if (Date.parse(asOf) <= nowMs + CLOCK_ALLOWANCE_MS) return asOf;
  throw new RangeError(
    `Cannot use --as-of "${asOf}": more than ${CLOCK_ALLOWANCE_MS / 60_000} minutes after the clock of this machine, ` +
      `${isoTime(nowMs)}; give a time that has passed, leave --as-of out, or correct the clock`,
  );
}

/** A clock that is wrong now would be worse than one that was. */
function refuseOtherTime(text: string, nowMs: number): void {
  const typed = MINUTE.test(text) ? Date.parse(text.endsWith('Z') ? text : `${text}Z`) : Number.NaN;
  if (Number.isNaN(typed)) {
    throw new RangeError(
      `Cannot use --accept-clock "${text}": not a time in UTC; write what another clock shows as 2026-11-20T12:34`,
    );
  }
  if (Math.abs(nowMs - typed) <= TYPED_TIME_MS_MAX) return;
  throw new RangeError(
    `Cannot accept the clock of this machine, ${isoTime(nowMs)}: more than 2 minutes from "${text}"; correct the clock first`,
  );
}

const RELEASES_MAX = 999_999;
const DAYS_MAX = 36_500;

/** The options of every command that removes releases; see `Retention`. */
export const KEEP_LAST = [
  '--keep-last <count>',
  'how many of the newest releases stay, the current one among them',
  String(RETENTION.last),
] as const;
export const KEEP_DAYS = [
  '--keep-days <days>',
  'releases also stay that were current within so many days before the newest',
] as const;

/** How much of the past is delivered; the log and the chain of a series keep all of it. */
const SERIES_DAYS = [
  '--series-days <days>',
  'how many days of readings a series delivers, back from its newest snapshot',
  String(SERIES_DAYS_MAX),
] as const;

export interface RetentionFlags {
  readonly keepLast: string;
  readonly keepDays?: string;
}

/** Which releases stay; throws a RangeError that names the option. */
export function retentionOf({ keepLast, keepDays }: RetentionFlags): Retention {
  const last = countOf('--keep-last', keepLast, RELEASES_MAX);
  const days = keepDays === undefined ? 0 : countOf('--keep-days', keepDays, DAYS_MAX);
  return { last, days };
}

export function seriesDaysOf(text: string): number {
  return countOf('--series-days', text, SERIES_DAYS_MAX);
}

function countOf(option: string, text: string, max: number): number {
  const count = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= max) return count;
  throw new RangeError(`Cannot use ${option} "${text}": not a whole number from 1 to ${max}`);
}
