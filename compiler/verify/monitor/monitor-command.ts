import type { Command } from 'commander';
import { plainAddress } from '../../format/addresses.ts';
import { decodeUtf8 } from '../../format/strict-json.ts';
import type { Clock } from '../../system/clock.ts';
import { type CommandSettings, duration, repeated } from '../../system/command-settings.ts';
import { lockData } from '../../system/data-lock.ts';
import { readNamed } from '../../system/disk.ts';
import { errorText } from '../../system/error-text.ts';
import { trustedBy } from '../key-trust.ts';
import { NAME_ISSUER } from '../plain-verdict.ts';
import { EXIT } from '../report-text.ts';
import { type NamedTrust, TRUST, trustNamed } from '../trust-option.ts';
import { checkEvidence, EVIDENCE_BYTES_MAX, parseEvidence } from './evidence.ts';
import type { Fetch } from './log-client.ts';
import { MONITOR_EXIT, Monitor } from './monitor.ts';

/** Looks are never closer than this: the address pays for each. */
const EVERY_MS_MIN = 10_000;
/** Machines sleep and clocks are set, so what is due is looked at this often. */
const WAIT_MS_MAX = 600_000;
const ADDRESSES_MAX = 16;
const SIGNALS_MAX = 32;

const HELP = `
Exit codes: 0 all is well; 1 something is wrong; 2 it cannot be judged. Of "check": 0 the evidence holds; 1 it proves
nothing; 2 it cannot be judged. A network that fails is never an alarm.`;

interface MonitorFlags extends NamedTrust {
  readonly also?: readonly string[];
  readonly sample?: readonly string[];
  readonly state: string;
  readonly every: string;
  readonly once?: boolean;
  readonly metrics?: string;
  readonly json?: boolean;
}

interface MonitorCommandSettings extends CommandSettings {
  readonly clock: Clock;
  readonly fetch: Fetch;
}

const CHECK = 'check';

export function defineMonitor(command: Command, settings: MonitorCommandSettings): void {
  command
    .argument('<url>', `address of a service, or the word "${CHECK}"`)
    .argument('[evidence]', `with "${CHECK}": a file that a monitor wrote, judged without its word`)
    .option('--issuer <did>', 'an issuer you trust, did:key:z6Mk…; may be repeated', repeated)
    .option(...TRUST)
    .option('--also <url>', 'another address of the same service; may be repeated', repeated)
    .option('--sample <signal>', 'read the free sample of this signal too; repeatable', repeated)
    .option('--state <folder>', 'where everything is kept', 'signalpress-monitor')
    .option('--every <duration>', 'time between looks, such as 5m or 1h', '5m')
    .option('--once', 'look once and end, for cron')
    .option('--metrics <file>', 'write the status for Prometheus too')
    .option('--json', `with "${CHECK}": a report for machines`)
    .addHelpText('after', HELP)
    .action((url: string, file: string | undefined, flags: MonitorFlags) =>
      runMonitor({ url, file, flags }, settings),
    );
}

async function runMonitor(
  { url, file, flags }: { url: string; file: string | undefined; flags: MonitorFlags },
  settings: MonitorCommandSettings,
): Promise<void> {
  const { print, exit } = settings;
  try {
    if (url === CHECK) return exit(check(file, flags, settings));
    if (file !== undefined) {
      throw new RangeError(`Cannot take "${file}": a second word belongs behind "${CHECK}" only`);
    }
    exit(await follow(url, flags, settings));
  } catch (error) {
    print(errorText(error));
    exit(MONITOR_EXIT.undecided);
  }
}

async function follow(
  url: string,
  flags: MonitorFlags,
  { clock, fetch, print, onStop }: MonitorCommandSettings,
): Promise<number> {
  const everyMs = duration(flags.every);
  if (everyMs < EVERY_MS_MIN)
    throw new RangeError('Cannot look that often: pass --every 10s or more');
  const { issuer: issuers = [], root: roots = [], policy } = trustNamed(flags);
  trustedBy(issuers, roots);
  const { also = [], state: folder, metrics } = flags;
  const { sample: signals = [] } = flags;
  const addresses = [...new Set([url, ...also].map(addressOf))];
  if (addresses.length > ADDRESSES_MAX || signals.length > SIGNALS_MAX) {
    const most = `${ADDRESSES_MAX} addresses and ${SIGNALS_MAX} samples`;
    throw new RangeError(`Cannot look at so much: at most ${most}; run a second monitor`);
  }
  const demanded = {
    ...(policy === undefined ? {} : { policy }),
    ...(metrics === undefined ? {} : { metrics }),
  };
  const unlock = lockData(folder);
  try {
    const known = { folder, addresses, issuers, roots, signals, everyMs, ...demanded };
    const monitor = new Monitor({ ...known, fetch, clock, print });
    if (flags.once === true) {
      await monitor.look();
      return monitor.exitCode;
    }
    // Looks until it is told to stop; a look that is under way is finished.
    const stop = new AbortController();
    const forget = onStop(() => stop.abort());
    try {
      while (!stop.signal.aborted) {
        await monitor.look({ isDueOnly: true });
        const wait = Math.max(1000, Math.min(WAIT_MS_MAX, monitor.nextDue() - clock.now()));
        if (!stop.signal.aborted) await clock.sleep(wait, stop.signal);
      }
    } finally {
      forget();
    }
    return monitor.exitCode;
  } finally {
    unlock();
  }
}

function addressOf(text: string): string {
  const address = plainAddress(text);
  if (address !== null) return address.href;
  throw new RangeError(
    `Cannot look at "${text.slice(0, 200)}": not an address such as https://signals.example.org`,
  );
}

function check(
  file: string | undefined,
  flags: MonitorFlags,
  { clock, print }: MonitorCommandSettings,
): number {
  const { issuer, root, list: keys, policy } = trustNamed(flags);
  const trusted = trustedBy(issuer, root);
  if (file === undefined) {
    throw new RangeError(`Cannot check nothing: name a file behind "${CHECK}"`);
  }
  const evidence = parseEvidence(decodeUtf8(readNamed(file, EVIDENCE_BYTES_MAX)));
  const given = { ...trusted, now: clock.now(), keys, policy };
  const report = checkEvidence(evidence, given);
  const { verdict, says, signers } = report;
  const isPinned = trusted.trust !== 'any';
  const lines =
    verdict === 'nothing'
      ? [`proves nothing  ${file}`, `  ${says}`]
      : [
          `${isPinned ? 'PROVEN' : 'cannot be judged'}  ${file}`,
          `  ${says}`,
          ...signers.map((did) => `  signed by ${did}`),
        ];
  if (verdict === 'proven' && !isPinned) {
    lines.push(`  ${NAME_ISSUER}: anybody can make a key`);
  }
  const json = { file, issuer_pinned: isPinned, ...report };
  print(flags.json === true ? JSON.stringify(json, null, 2) : lines.join('\n'));
  if (verdict === 'nothing') return EXIT.failed;
  return isPinned ? EXIT.verified : EXIT.undecided;
}
