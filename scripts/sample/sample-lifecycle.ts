import type { Line, Signal } from '../../compiler/contract/catalog/line.ts';
import { DAY_MS, isoTime } from '../../compiler/contract/iso-time.ts';
import type { SampleSubject } from './sample-recipe.ts';
import { monthCollectedAt } from './sample-times.ts';
import { fixedNumber, sampleValues } from './sample-values.ts';

const NOTE = 'generated sample; says nothing about a real subject';

/** Where a generated life goes: the days on which it begins, falters and ends. */
interface Life {
  readonly birthAt: string;
  readonly riskAt?: string;
  readonly endAt?: string;
  readonly endState?: 'ended' | 'dead';
  readonly deathType?: string;
}

/** Ids of the table that exist in the world keep their public dates; one of them falters since this many days, generated. */
const PUBLIC_LIVES: Readonly<Record<string, Life & { readonly atRiskDays?: number }>> = {
  'kyoto-protocol': {
    birthAt: '2005-02-16T00:00:00Z',
    endAt: '2020-12-31T00:00:00Z',
    endState: 'ended',
    deathType: 'expired',
  },
  'eu-ets': { birthAt: '2005-01-01T00:00:00Z' },
  'us-inflation-reduction-act': {
    birthAt: '2022-08-16T00:00:00Z',
    atRiskDays: 26,
  },
  'au-carbon-pricing': {
    birthAt: '2012-07-01T00:00:00Z',
    endAt: '2014-07-01T00:00:00Z',
    endState: 'dead',
    deathType: 'rescinded',
  },
};

/**
 * The first subject of a line falters, the second ends: lately on some lines, long ago on others. The third goes on. Turns
 * are counted back from the middle of a month, so that lives are the same all month.
 */
function lifeOf(row: Line, { entity, hour }: SampleSubject): Life {
  const turn = `${monthCollectedAt(hour).slice(0, 10)}T00:00:00Z`;
  const known = PUBLIC_LIVES[entity];
  if (known?.atRiskDays !== undefined)
    return { ...known, riskAt: daysBefore(turn, known.atRiskDays) };
  if (known !== undefined) return known;
  const birthAt = daysBefore('2023-06-01T00:00:00Z', Math.floor(fixedNumber(entity) * 1500));
  const day = Math.floor(fixedNumber(`${entity}:turn`) * 20);
  const place = row.entities.indexOf(entity);
  if (place > 1) return { birthAt };
  if (place === 0) return { birthAt, riskAt: daysBefore(turn, 5 + day) };
  const lately = fixedNumber(`${row.id}:lately`) < 0.5;
  const endAt = daysBefore(lately ? turn : '2025-03-15T00:00:00Z', day);
  return {
    birthAt,
    riskAt: daysBefore(endAt, 30),
    endAt,
    endState: lately ? 'dead' : 'ended',
    deathType: row.states?.[4] ?? 'ceased',
  };
}

function daysBefore(at: string, days: number): string {
  return isoTime(Date.parse(at) - days * DAY_MS);
}

function stateAt(life: Life, observedAt: string): string {
  if (life.endAt !== undefined && observedAt >= life.endAt) return life.endState ?? 'ended';
  return life.riskAt !== undefined && observedAt >= life.riskAt ? 'at_risk' : 'operating';
}

/** What a life-cycle line says of one of its subjects at one time. */
export function lifecycleReading(row: Line, signal: Signal, at: SampleSubject) {
  const life = lifeOf(row, at);
  if (signal.id === `${row.id}.lifecycle`) return stateReading(life, at.time);
  if (signal.id === `${row.id}.industry-timeline`) return { current: yearOf(row, at.time) };
  const severity = severityIn(stateAt(life, at.time), `${signal.id}/${at.entity}`, at.time);
  return { current: sampleValues(signal, { ...at, severity }) };
}

/** Known as of one time: `current`, and the life cycle itself. */
function stateReading(life: Life, time: string) {
  const state = stateAt(life, time);
  const over = life.endAt !== undefined && time >= life.endAt;
  const until = over ? (life.endAt ?? time) : time;
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

/** From how bad to how bad it looks in a state: who falters shows it in the legs, who is over shows the worst. */
const SEVERITY: Readonly<Record<string, readonly [number, number]>> = {
  operating: [0.02, 0.4],
  at_risk: [0.5, 0.8],
};
const OVER = [0.86, 1] as const;

/** A level of the subject that moves a little from week to week. */
function severityIn(state: string, series: string, time: string): number {
  const [least, most] = SEVERITY[state] ?? OVER;
  const place = 0.8 * fixedNumber(series) + 0.2 * fixedNumber(`${series}@${time}`);
  return least + (most - least) * place;
}

/** Ends and births of a year are facts of the whole line: the same for each of its subjects. */
function yearOf(row: Line, time: string) {
  const count = (what: string, most: number) =>
    Math.floor(fixedNumber(`${row.id}:${what}/${time.slice(0, 7)}`) * most);
  return { ends_365d_count: 1 + count('ends', 6), births_365d_count: 2 + count('births', 14) };
}
