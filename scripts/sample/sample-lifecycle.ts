import { DAY_MS } from '../../compiler/contract/iso-time.ts';
import type { Line, Signal } from '../../compiler/contract/lines.ts';
import type { Values } from './sample-signals.ts';
import { fixedNumber } from './sample-values.ts';

const NOTE = 'generated sample; says nothing about a real subject';

/** Where a generated life goes: the days on which it begins, falters and ends. */
interface Life {
  readonly birthAt: string;
  readonly riskAt?: string;
  readonly endAt?: string;
  readonly endState?: 'ended' | 'dead';
  readonly deathType?: string;
}

/** Ids of the table that exist in the world keep their public dates. */
const PUBLIC_LIVES: Readonly<Record<string, Life>> = {
  'kyoto-protocol': {
    birthAt: '2005-02-16T00:00:00Z',
    endAt: '2020-12-31T00:00:00Z',
    endState: 'ended',
    deathType: 'expired',
  },
  'eu-ets': { birthAt: '2005-01-01T00:00:00Z' },
  'us-inflation-reduction-act': {
    birthAt: '2022-08-16T00:00:00Z',
    riskAt: '2026-10-20T00:00:00Z',
  },
  'au-carbon-pricing': {
    birthAt: '2012-07-01T00:00:00Z',
    endAt: '2014-07-01T00:00:00Z',
    endState: 'dead',
    deathType: 'rescinded',
  },
};

/** The first subject of a line falters, the second ends: lately on some lines, long ago on others. */
function lifeOf(row: Line, entity: string): Life {
  const known = PUBLIC_LIVES[entity];
  if (known !== undefined) return known;
  const birthAt = daysBefore('2023-06-01T00:00:00Z', Math.floor(fixedNumber(entity) * 1500));
  const day = Math.floor(fixedNumber(`${entity}:turn`) * 20);
  if (row.entities.indexOf(entity) === 0) {
    return { birthAt, riskAt: daysBefore('2026-11-10T00:00:00Z', day) };
  }
  const lately = fixedNumber(`${row.id}:lately`) < 0.5;
  const endAt = daysBefore(lately ? '2026-11-15T00:00:00Z' : '2025-03-15T00:00:00Z', day);
  return {
    birthAt,
    riskAt: daysBefore(endAt, 30),
    endAt,
    endState: lately ? 'dead' : 'ended',
    deathType: row.states?.[4] ?? 'ceased',
  };
}

function daysBefore(at: string, days: number): string {
  return isoSeconds(Date.parse(at) - days * DAY_MS);
}

/** A time in seconds, as every file of the sample writes it. */
export function isoSeconds(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

function stateAt(life: Life, observedAt: string): string {
  if (life.endAt !== undefined && observedAt >= life.endAt) return life.endState ?? 'ended';
  return life.riskAt !== undefined && observedAt >= life.riskAt ? 'at_risk' : 'operating';
}

/** `current` and, on the signal that states the life cycle, `lifecycle` as known at one time. */
export function lifecycleReading(row: Line, signal: Signal, at: { entity: string; time: string }) {
  if (signal.metrics[0] !== 'state') return { current: countOf(signal, at) };
  const life = lifeOf(row, at.entity);
  const state = stateAt(life, at.time);
  const over = life.endAt !== undefined && at.time >= life.endAt;
  const until = over ? (life.endAt ?? at.time) : at.time;
  const ageDays = Math.floor((Date.parse(until) - Date.parse(life.birthAt)) / DAY_MS);
  return {
    current: { state, age_days: ageDays },
    lifecycle: {
      state,
      birth_at: life.birthAt,
      end_at: over ? until : null,
      death_type: over ? (life.deathType ?? null) : null,
      context: state === 'operating' ? null : { note: NOTE },
    },
  };
}

function countOf(signal: Signal, at: { entity: string; time: string }): Values {
  const month = at.time.slice(0, 7);
  const count = Math.floor(fixedNumber(`${signal.id}/${at.entity}/${month}`) * 7);
  return { [signal.metrics[0]]: count };
}
