import type { Command } from 'commander';
import type { CompileOptions } from '../compile.ts';
import { logOrigin } from '../contract/checkpoint.ts';
import { hiddenSign } from '../contract/hidden-signs.ts';
import { readIssuerKey } from '../keys/issuer-key.ts';
import type { ReadBack } from '../stages/publish/read-back.ts';
import { BY_CADENCE } from '../stages/publish/valid-until.ts';
import { WITNESSES } from './ask-after.ts';
import { type CommandSettings, dataFolder } from './command-settings.ts';
import { publicationTime, validUntilOf } from './publication-time.ts';
import {
  KEEP_DAYS,
  KEEP_LAST,
  type RetentionFlags,
  retentionOf,
  SERIES_DAYS,
  seriesDaysOf,
} from './retention.ts';
import { defaultWorkers, workerCount } from './worker-count.ts';

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
    .option(...KEEP_LAST)
    .option(...KEEP_DAYS);
}

/** What the flags ask for; throws a RangeError that names the option that is wrong. */
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
  };
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
