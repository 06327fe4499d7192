import { afterAll, describe, expect, it } from 'vitest';
import { PERSISTENT_ABSENCES } from '../../../compiler/products/shapes/roster-views.ts';
import { coinRow } from '../../roster-rows.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { printed } from './printed.ts';

const TERMINATED_BELOW = 0.1;

afterAll(removeFolders);

const DAYS = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const anchors = DAYS.map((day) => coinRow('anchor', day, { market_cap_usd: 1 }));
const stable = (rows: readonly object[]) => printed({ 'stable.coin': [...anchors, ...rows] });

/** The census row and the graveyard row of a coin with these prices on successive days; null for absent, '?' for unknown. */
function coin(prices: readonly (number | null | '?')[]) {
  const rows = prices.flatMap((price, index) => {
    const price_in_peg = price === '?' ? null : price;
    return price === null ? [] : [coinRow('c', DAYS[index] ?? '', { price_in_peg })];
  });
  const out = stable(rows);
  type Rows = { entity: string; lifecycle?: object }[];
  const find = (rows: unknown) => ((rows ?? []) as Rows).find(({ entity }) => entity === 'c');
  return {
    life: find(out.body('roster/stable/census.json').rows)?.lifecycle,
    death: find(out.bodies.get('roster/stable/graveyard.json')?.deaths),
  };
}

describe('stablePart()', () => {
  it('terminates below the price, exactly, on the first day of the run', () => {
    expect(coin([1, 1, 1, TERMINATED_BELOW, TERMINATED_BELOW])).toMatchObject({
      life: { state: 'at_risk', terminated: false, depegged: true, end_at: null },
      death: undefined,
    });
    expect(coin([1, 1, 0.09, 0.0999, 0.05])).toMatchObject({
      life: { state: 'dead', terminated: true, end_at: '2026-11-18' },
      death: { state: 'dead', died_on: '2026-11-18', confirm_absences: null },
    });
    expect(coin([1, 0.01, 1, 0.01, 0.01]).death).toMatchObject({ died_on: '2026-11-19' });
    expect(coin([1, 0.01, 0.01, 0.01, 0.99])).toMatchObject({
      life: { state: 'operating' },
      death: undefined,
    });
  });

  it('takes a price that becomes unknown for no recovery, and for no death', () => {
    const dead = { state: 'dead', terminated: true, depegged: true };
    expect(coin([1, 0.05, 0.05, '?', '?'])).toMatchObject({
      life: { ...dead, end_at: '2026-11-17' },
      death: { state: 'dead', died_on: '2026-11-17', last_seen: '2026-11-20' },
    });
    expect(coin([1, '?', 0.05, '?', 0.05]).death).toMatchObject({ died_on: '2026-11-18' });
    expect(coin([0.05, '?', 1, '?', '?'])).toMatchObject({
      life: { state: 'operating', terminated: false, depegged: false, end_at: null },
      death: undefined,
    });
    expect(coin([1, 0.9, '?', '?', '?']).life).toMatchObject({ state: 'at_risk', depegged: true });
    expect(coin([0.05, '?', null, null, null]).death).toMatchObject({
      state: 'dead',
      died_on: '2026-11-16',
    });
  });

  it('names the chain of the same coin only where one is stored', () => {
    const chain = 'bundle/stablecoin/anchor.json';
    const companionOf = (stored: readonly string[]) => {
      const { bodies } = printed({ 'stable.coin': anchors }, stored);
      const coins = [...bodies].filter(([path]) => path.startsWith('subject/stable/'));
      expect(coins).toHaveLength(1);
      return coins[0]?.[1].companion;
    };
    expect(companionOf([chain])).toBe(
      'peg distress and redemption flight: /gauge/stablecoin-region?entity=anchor',
    );
    expect(companionOf([])).toBeUndefined();
    expect(companionOf(['bundle/stablecoin/another.json'])).toBeUndefined();
  });

  it('judges a coin that never had a price by its presence alone', () => {
    const unjudged = { terminated: false, depegged: false };
    expect(coin(['?', '?', '?', '?', '?'])).toMatchObject({
      life: { state: 'operating', ...unjudged, end_at: null },
      death: undefined,
    });
    expect(coin(['?', '?', null, null, null])).toMatchObject({
      life: { state: 'absent', ...unjudged },
      death: { state: 'absent', died_on: '2026-11-19' },
    });
  });

  it('takes a persistent absence for a death, and one absence not yet', () => {
    expect(PERSISTENT_ABSENCES).toBe(2);
    expect(coin([1, 1, 1, 1, null])).toMatchObject({
      life: { state: 'missing' },
      death: undefined,
    });
    expect(coin([1, 1, 1, null, null])).toMatchObject({
      life: { state: 'absent', last_seen: '2026-11-18', end_at: '2026-11-20' },
      death: { state: 'absent', died_on: '2026-11-20', lifespan_days: 2, confirm_absences: 2 },
    });
    expect(coin([1, null, null, null, 1])).toMatchObject({
      life: { state: 'operating', first_seen: '2026-11-16' },
      death: undefined,
    });
  });

  it('flags a coin off its peg in units of that peg', () => {
    for (const edge of [0.95, 1.05]) {
      expect(coin([1, 1, 1, 1, edge]).life).toMatchObject({ depegged: false });
    }
    expect(coin([1, 1, 1, 1, 1.06]).life).toMatchObject({ depegged: true, state: 'at_risk' });
    expect(coin([1, 1, 1, 1, 0.94]).life).toMatchObject({ depegged: true, terminated: false });
  });

  it('ranks by market cap, an unknown one last, equal ones by id', () => {
    const rows = [
      coinRow('b', DAYS[4], { market_cap_usd: 5 }),
      coinRow('a', DAYS[4], { market_cap_usd: 5 }),
      coinRow('u', DAYS[4], { market_cap_usd: null }),
      coinRow('z', DAYS[4], { market_cap_usd: 7 }),
    ];
    const { rows: ranked } = stable(rows).body('roster/stable/census.json') as {
      rows: { rank: number; entity: string }[];
    };
    expect(ranked.map(({ rank, entity }) => `${rank} ${entity}`)).toEqual([
      '1 z',
      '2 a',
      '3 b',
      '4 anchor',
      '5 u',
    ]);
  });

  it('answers a shared symbol with the largest coin and names the others', () => {
    const out = stable([
      coinRow('small', DAYS[4], { symbol: 'TWIN', market_cap_usd: 1 }),
      coinRow('big', DAYS[4], { symbol: 'TWIN', market_cap_usd: 2 }),
    ]);
    expect(out.body('subject/stable/~54~57~49~4e.json')).toMatchObject({
      coin_id: 'big',
      same_symbol: ['small'],
    });
    const small = out.lookUps.find(({ entity, kind }) => entity === 'small' && kind === 'row');
    expect(small?.file).toBe('verifiable/roster/stable/census.json');
  });

  it('takes the lifespan that the source states, else the days between captures', () => {
    const out = stable([coinRow('c', DAYS[4], { price_in_peg: 0, lifespan_days: 1257 })]);
    expect(out.body('roster/stable/graveyard.json').deaths).toMatchObject([
      { entity: 'c', lifespan_days: 1257 },
    ]);
  });
});
