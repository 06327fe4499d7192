import { afterAll, describe, expect, it } from 'vitest';
import { articleRow, legsRow } from '../../roster-rows.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { printed } from './printed.ts';

afterAll(removeFolders);

const LATER = { collected_at: '2026-11-20T07:00:00Z' };
const documents = (...document: readonly object[]) => printed({ document });
const TAIWAN = 'document/taiwan-region.json';

describe('documentPart()', () => {
  it('takes the newest batch, whatever the order, and keeps the old hash findable', () => {
    const old = articleRow('/pay/tier2');
    const now = articleRow('/pay/tier2', {}, { ...LATER, text: 'A later text.' });
    for (const rows of [
      [old, now],
      [now, old],
    ]) {
      const out = documents(...rows);
      expect(out.body('document/tier2.json')).toMatchObject({ text: 'A later text.', count: 1 });
      const entries = out.lookUps.filter(({ kind }) => kind === 'row');
      expect(entries.map(({ file }) => file)).toEqual(['document/tier2.json']);
      const facts = { kind: 'row', signal_id: 'document', entity: '/pay/tier2' };
      expect(out.leaves).toMatchObject([facts, facts]);
    }
  });

  it('refuses two documents for one request in one batch', () => {
    const out = documents(articleRow('/pay/tier2'), articleRow('/pay/tier2', {}, { text: null }));
    expect(out.faults).toMatchObject([{ code: 'conflict', line: 2 }]);
  });

  it('keeps legs in their causal order, each with its own hash and time', () => {
    const out = documents(legsRow('/gauge/taiwan-region'));
    const body = out.body(TAIWAN);
    expect(Object.keys(body.legs as object)).toEqual(['notices', 'transits']);
    expect(body).toMatchObject({
      legs: { notices: { position: 1 }, transits: { position: 2 } },
      cross_line_narrative:
        'Leg 1, notices: notices count at taiwan read notices_count 3 at 2026-11-19T01:00:00Z. ' +
        'Leg 2, transits: transits count at taiwan read transits_count 9 at 2026-11-19T04:00:00Z.',
      data_timespans: [
        { leg: 'notices', hours_since: 6 },
        { leg: 'transits', hours_since: 3 },
      ],
      provenance: { oldest_leg_as_of: '2026-11-19T01:00:00Z', data_as_of: '2026-11-19T04:00:00Z' },
    });
    expect(out.lookUps.filter(({ kind }) => kind === 'row').map(({ file }) => file)).toEqual([
      TAIWAN,
      TAIWAN,
    ]);
  });

  it('lists a leg of two documents once', () => {
    const out = documents(
      legsRow('/gauge/chokepoint-region', { loc: 'a' }),
      legsRow('/gauge/chokepoint-region', { loc: 'b' }),
    );
    expect(out.lookUps.filter(({ kind }) => kind === 'row')).toHaveLength(2);
    expect(out.leaves).toHaveLength(2);
  });

  it('offers only swaps that a document is stored for', () => {
    const alone = documents(legsRow('/gauge/chokepoint-region', { loc: 'hormuz' }));
    const body = alone.body('document/chokepoint-region/hormuz.json');
    expect(body.decision_points).toMatchObject({ count: 0, points: [] });
    const both = documents(
      legsRow('/gauge/chokepoint-region', { loc: 'hormuz' }),
      legsRow('/gauge/chokepoint-region', { loc: 'malacca strait' }),
    );
    expect(both.body('document/chokepoint-region/hormuz.json').decision_points).toMatchObject({
      points: [
        {
          tag: 'loc',
          current: 'hormuz',
          swappable: ['malacca strait'],
          how: 'GET /gauge/chokepoint-region?loc=malacca%20strait',
        },
      ],
    });
  });

  it('swaps one parameter beside the same others, never into a pair that is not stored', () => {
    const plus = (loc: string, topic: string) => legsRow('/shadow/region-plus', { loc, topic });
    const out = documents(
      plus('us-denver', 'energy'),
      plus('us-chicago', 'energy'),
      plus('us-memphis', 'water'),
    );
    expect(out.body('document/region-plus/us-denver/energy.json').decision_points).toMatchObject({
      count: 1,
      points: [{ tag: 'loc', current: 'us-denver', swappable: ['us-chicago'] }],
    });
    expect(out.body('document/region-plus/us-memphis/water.json').decision_points).toMatchObject({
      count: 0,
    });
  });
});
