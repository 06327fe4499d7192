import { isoTime } from '../contract/iso-time.ts';
import type { Contradiction } from './evidence.ts';
import { type Finding, isNotice } from './finding.ts';
import { type AddressState, ALARMS_MAX, type Alarm, type MonitorState } from './monitor-state.ts';

/** Notices that are kept; further ones are counted. */
const NOTICES_MAX = 128;

interface FoundAt {
  readonly state: MonitorState;
  readonly address: string;
  readonly own: AddressState;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Keeps what proves a finding; answers the name of its file. */
  readonly keep: (proof: Contradiction) => string;
  /** Whether the look came to its end: one that broke off proves what it proved, and nothing else. */
  readonly isWhole: boolean;
}

/**
 * Turns what a whole look at an address found into alarms. What is proven is one at once, and stays. What only the monitor
 * saw must be there in two looks in a row, because a service that switches releases may look odd for a moment; it ends when it is
 * seen no longer. Answers a line for each change.
 */
export function raiseAlarms(findings: readonly Finding[], found: FoundAt): string[] {
  if (!found.isWhole) {
    return findings
      .filter(({ proof }) => proof !== undefined)
      .flatMap((each) => raised(each, found));
  }
  const news = findings.flatMap((finding) => raised(finding, found));
  const unproven = findings.filter(({ proof }) => proof === undefined);
  const suspicions = Object.fromEntries(unproven.map((each) => [keyOf(each), each.detail]));
  const ended = found.state.alarms.filter(
    (alarm) =>
      alarm.address === found.address &&
      alarm.evidence === null &&
      alarm.ended_at === null &&
      suspicions[keyOf(alarm)] === undefined,
  );
  for (const alarm of ended) alarm.ended_at = isoTime(found.now);
  found.own.suspicions = suspicions;
  return [...news, ...ended.map(({ kind, detail }) => `no longer so: ${kind}: ${detail}`)];
}

/** Whether something is wrong now. */
export function isOpen(alarm: Alarm): boolean {
  return alarm.ended_at === null && !isNotice(alarm);
}

function raised(finding: Finding, found: FoundAt): string[] {
  const { state, address, own, now, keep } = found;
  const { kind, about = '', detail, proof } = finding;
  const before = state.alarms.find((alarm) => isSame(alarm, finding, address));
  if (before?.ended_at === null) return [];
  if (proof === undefined && own.suspicions[keyOf(finding)] === undefined) {
    return [`seen once, to be looked at again: ${kind}: ${detail}`];
  }
  const line = `${isNotice(finding) ? 'NOTICE' : 'ALARM'} ${kind}: ${detail}`;
  if (isNotice(finding) && state.alarms.filter(isNotice).length >= NOTICES_MAX) {
    state.notices_left_out += 1;
    return state.notices_left_out > 1 ? [] : [`${line}; further ones are only counted`];
  }
  const evidence = proof === undefined ? null : keep(proof);
  const alarm = { kind, address, about, detail, since: isoTime(now), ended_at: null, evidence };
  state.alarms = withRoom(state.alarms.filter((each) => each !== before)).concat(alarm);
  return [evidence === null ? line : `${line} (evidence: ${evidence})`];
}

function isSame(alarm: Alarm, { kind, about = '', proof }: Finding, address: string): boolean {
  const isProven = alarm.evidence !== null;
  return (
    alarm.kind === kind &&
    alarm.address === address &&
    alarm.about === about &&
    isProven === (proof !== undefined)
  );
}

/** The oldest that ended makes room, then the oldest that is not proven. */
function withRoom(alarms: readonly Alarm[]): Alarm[] {
  if (alarms.length < ALARMS_MAX) return [...alarms];
  const ended = alarms.find(({ ended_at }) => ended_at !== null);
  const gone = ended ?? alarms.find(({ evidence }) => evidence === null);
  return alarms.filter((alarm) => alarm !== gone);
}

function keyOf({ kind, about = '' }: Pick<Finding, 'kind' | 'about'>): string {
  return `${kind} ${about}`.trimEnd();
}
