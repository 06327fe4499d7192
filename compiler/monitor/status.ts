import { openNote } from '../contract/checkpoint.ts';
import { isoTime } from '../contract/iso-time.ts';
import { releaseSchema } from '../contract/release.ts';
import { parseJson } from '../contract/strict-json.ts';
import { isOpen } from './alarms.ts';
import { isNotice } from './finding.ts';
import { type AddressState, type Alarm, type MonitorState, NO_ADDRESS } from './monitor-state.ts';

const VERDICTS = ['well', 'alarm', 'undecided'] as const;

/** How everything stands, for machines. */
export interface MonitorStatus {
  readonly version: 1;
  readonly updated_at: string;
  /** `undecided`: an address does not answer, or something is to be looked at again. */
  readonly verdict: (typeof VERDICTS)[number];
  readonly origin: string | null;
  readonly issuers: readonly string[];
  readonly tree_size: number;
  readonly checkpoints_kept: number;
  readonly rounds: number;
  readonly release: {
    readonly sequence: number;
    readonly as_of: string;
    readonly valid_until: string | null;
  } | null;
  readonly addresses: Readonly<Record<string, AddressState>>;
  /** What is wrong now. */
  readonly alarms: readonly Alarm[];
  /** Readings that were said in two ways, and how often one more was found. */
  readonly notices: readonly Alarm[];
  readonly notices_left_out: number;
}

interface StatusFacts {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly addresses: readonly string[];
  readonly checkpoints: number;
  readonly exitCode: number;
}

export function statusOf(state: MonitorState, facts: StatusFacts): MonitorStatus {
  const { now, addresses, checkpoints, exitCode } = facts;
  const newest = state.newest === null ? null : openNote(state.newest);
  return {
    version: 1,
    updated_at: isoTime(now),
    verdict: VERDICTS[exitCode] ?? 'undecided',
    origin: state.origin,
    issuers: state.issuers,
    tree_size: newest?.checkpoint.size ?? 0,
    checkpoints_kept: checkpoints,
    rounds: state.rounds,
    release: releaseOf(state.heads.at(-1)),
    addresses: Object.fromEntries(
      addresses.map((address) => [address, state.addresses[address] ?? NO_ADDRESS]),
    ),
    alarms: state.alarms.filter(isOpen),
    notices: state.alarms.filter(isNotice),
    notices_left_out: state.notices_left_out,
  };
}

function releaseOf(text: string | undefined): MonitorStatus['release'] {
  if (text === undefined) return null;
  const { sequence, as_of, valid_until = null } = releaseSchema.parse(parseJson(text));
  return { sequence, as_of, valid_until };
}

/** The same for Prometheus, in its text format 0.0.4. */
export function metricsText(status: MonitorStatus): string {
  const { alarms, notices, notices_left_out, addresses, tree_size, rounds, release, updated_at } =
    status;
  const seconds = (time: string | null): number => (time === null ? 0 : Date.parse(time) / 1000);
  const each = Object.entries(addresses);
  const kinds = [...new Set(alarms.map(({ kind }) => kind))];
  return [
    gauge('alarms', 'what is wrong now', [['', alarms.length]]),
    gauge(
      'alarm',
      'what is wrong now, by kind',
      kinds.map((kind) => [label('kind', kind), alarms.filter((one) => one.kind === kind).length]),
    ),
    gauge('notices', 'readings that were said in two ways', [['', notices.length]]),
    gauge('notices_left_out', 'notices for which there was no room', [['', notices_left_out]]),
    gauge('tree_size', 'entries of the log', [['', tree_size]]),
    gauge('release_sequence', 'number of the newest release', [['', release?.sequence ?? 0]]),
    gauge('looks', 'looks since the beginning', [['', rounds]]),
    gauge('updated_seconds', 'time of the last look', [['', seconds(updated_at)]]),
    gauge(
      'failures',
      'looks in a row that an address did not answer',
      each.map(([address, { failures }]) => [label('address', address), failures]),
    ),
    gauge(
      'last_success_seconds',
      'time of the last whole look at an address',
      each.map(([address, { last_success }]) => [label('address', address), seconds(last_success)]),
    ),
  ].join('');
}

function gauge(name: string, help: string, rows: readonly (readonly [string, number])[]): string {
  const full = `signalpress_monitor_${name}`;
  const lines = rows.map(([labels, value]) => `${full}${labels} ${value}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join('')}`;
}

function label(name: string, value: string): string {
  return `{${name}="${value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"}`;
}
