import type { Command } from 'commander';
import { plainAddress } from '../../format/addresses.ts';
import { isoTime } from '../../format/iso-time.ts';
import { openLog } from '../../release/log-folder.ts';
import { hexOf } from '../../release/log-tree.ts';
import { type CommandSettings, dataFolder, repeated } from '../../system/command-settings.ts';
import { readNamed } from '../../system/disk.ts';
import { anchorStore } from '../log/anchor-store.ts';
import type { CalendarClient } from './ots-calendar.ts';
import {
  blockHeader,
  type StampSummary,
  stampRoot,
  type UpgradeSummary,
  upgradeRoots,
} from './upgrade.ts';

/** A header file holds 80 bytes, or twice as many hex digits. */
const HEADER_FILE_BYTES_MAX = 1024;

interface AnchorFlags {
  readonly data: string;
  readonly calendar?: readonly string[];
  readonly blockHeader?: readonly string[];
}

export function defineAnchor(anchor: Command, settings: CommandSettings): void {
  const { now, print, exit } = settings;
  anchor
    .command('stamp')
    .description('submit the root of the log to the calendars')
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option('--calendar <url>', 'a calendar instead of the public ones; may be repeated', repeated)
    .action(async (flags: AnchorFlags) => {
      const summary = await runStamp(flags, isoTime(now()));
      print(stampText(summary));
      if (!summary.stamped && summary.failed.length > 0) exit(1);
    });
  anchor
    .command('upgrade')
    .description('ask the calendars for the Bitcoin blocks that confirm pending timestamps')
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option('--calendar <url>', 'a calendar instead of the public ones; may be repeated', repeated)
    .option(
      '--block-header <file>',
      'header of a block (80 bytes or hex) to check against; may be repeated',
      repeated,
    )
    .action(async (flags: AnchorFlags) => print(upgradeText(await runUpgrade(flags))));
}

export async function runStamp(flags: AnchorFlags, now: string): Promise<StampSummary> {
  const calendars = (flags.calendar ?? SUBMIT_CALENDARS).map(calendarUrl);
  const root = rootIn(flags.data);
  const anchors = anchorStore(flags.data);
  return withClient((client) => stampRoot({ root, anchors, client, calendars, now }));
}

export async function runUpgrade(flags: AnchorFlags): Promise<UpgradeSummary> {
  const calendars = (flags.calendar ?? UPGRADE_CALENDARS).map(calendarUrl);
  const headers = (flags.blockHeader ?? []).map((file) => blockHeader(readHeader(file)));
  rootIn(flags.data);
  const anchors = anchorStore(flags.data);
  return withClient((client) => upgradeRoots({ anchors, client, calendars, headers }));
}

/** The root of the log of a data folder, in hex. */
function rootIn(data: string): string {
  const log = openLog(data);
  if (log !== null) return hexOf(log.signed.root);
  throw new RangeError(`Cannot anchor "${data}": no log in it; run "signalpress compile" first`);
}

function readHeader(file: string): Uint8Array {
  try {
    return readNamed(file, HEADER_FILE_BYTES_MAX);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new RangeError(`Cannot read block header "${file}": too long; pass 80 bytes or hex`, {
      cause,
    });
  }
}

async function withClient<T>(use: (client: CalendarClient) => Promise<T>): Promise<T> {
  // undici costs each start of the program 50 ms, and no other command of this one needs it.
  const { calendarClient } = await import('./ots-calendar.ts');
  const client = calendarClient();
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

export function stampText({ stamped, answered, failed }: StampSummary): string {
  const asked = answered.length + failed.length;
  if (asked === 0) return 'Nothing to stamp: the root of the log has a timestamp already';
  const lines = failedLines(failed);
  if (!stamped)
    return ['Nothing was stamped: no calendar answered; try again later', ...lines].join('\n');
  return [
    `Stamped the root of the log with ${answered.length} of ${asked} calendars: pending, which is a promise, not a proof`,
    ...lines,
    'Run "signalpress anchor upgrade" in some hours',
  ].join('\n');
}

export function upgradeText(summary: UpgradeSummary): string {
  const { confirmed, checked, pending, failed, unknown } = summary;
  return [
    `${confirmed} confirmed (${checked} of them checked against a block header), ${pending} pending`,
    ...(confirmed > checked
      ? [
          'Headers were not checked for the others: pass --block-header FILE from a node that you trust',
        ]
      : []),
    ...failedLines(failed),
    ...unknown.map((uri) => `  not asked: ${uri}, which is not one of your calendars`),
  ].join('\n');
}

function failedLines(failed: StampSummary['failed']): string[] {
  return failed.map(({ calendar, reason }) => `  no answer from ${calendar}: ${reason}`);
}

/** Public OpenTimestamps calendars that take digests; any may be replaced with `--calendar`. */
const SUBMIT_CALENDARS: readonly string[] = [
  'https://a.pool.opentimestamps.org',
  'https://b.pool.opentimestamps.org',
  'https://a.pool.eternitywall.com',
  'https://ots.btc.catallaxy.com',
];

/** Calendars that a proof of the ones above names; no other address in a proof is ever asked. */
const UPGRADE_CALENDARS: readonly string[] = [
  'https://alice.btc.calendar.opentimestamps.org',
  'https://bob.btc.calendar.opentimestamps.org',
  'https://finney.calendar.eternitywall.com',
  'https://btc.calendar.catallaxy.com',
];

/** The address of a calendar in its one spelling; throws a RangeError unless it is https, or http to this very machine. */
export function calendarUrl(text: string): string {
  const address = plainAddress(text);
  if (address?.isSafe === true) return address.href;
  throw new RangeError(
    `Cannot ask calendar "${text.slice(0, 200)}": not an https address; pass one such as ${SUBMIT_CALENDARS[0]}`,
  );
}
