import { afterAll, describe, expect, it } from 'vitest';
import { serviceRow } from '../../roster-rows.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { printed } from './printed.ts';

afterAll(removeFolders);

const DAYS = ['2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'] as const;
const trust = (rows: readonly object[]) => printed({ 'trust.service': rows });
/** One service a day, so that every day is a capture day. */
const anchors = DAYS.map((day) => serviceRow('anchor.example', day));

describe('trustPart()', () => {
  it('lists a service on its first absence, and no more when it is back', () => {
    const on = (days: readonly string[]) => {
      const rows = days.map((day) => serviceRow('a.example', day));
      const graveyard = trust([...anchors, ...rows]).bodies.get('roster/trust/graveyard.json');
      return graveyard?.deaths ?? null;
    };
    expect(on(DAYS)).toBeNull();
    expect(on(DAYS.slice(0, 3))).toMatchObject([
      {
        entity: 'a-example',
        name: 'a.example',
        state: 'absent',
        died_on: '2026-11-20',
        first_seen: '2026-11-17',
        last_seen: '2026-11-19',
        lifespan_days: 2,
        confirm_absences: 1,
      },
    ]);
    expect(on(DAYS.slice(0, 1))).toMatchObject([{ died_on: '2026-11-18', lifespan_days: 0 }]);
    expect(on([DAYS[0], DAYS[3]])).toBeNull();
    expect(on([DAYS[0], DAYS[2]])).toMatchObject([
      { died_on: '2026-11-20', first_seen: '2026-11-17' },
    ]);
  });

  it('does not depend on the order of rows', () => {
    const rows = [...anchors, serviceRow('a.example', DAYS[0]), serviceRow('b.example', DAYS[3])];
    expect([...trust(rows.toReversed()).bodies].sort()).toEqual([...trust(rows).bodies].sort());
  });

  it('scores the services of the newest capture only, by their newest row', () => {
    const rows = [...anchors, serviceRow('a.example', DAYS[1], { score_total: 1 })];
    rows.push(serviceRow('b.example', DAYS[2], { score_total: 2 }));
    rows.push(serviceRow('b.example', DAYS[3], { score_total: 3 }));
    const { rows: scored } = trust(rows).body('roster/trust/scorecard.json') as { rows: object[] };
    expect(scored).toMatchObject([
      { service: 'anchor-example' },
      { service: 'b-example', score_total: 3, demand_class: 'REAL' },
    ]);
  });

  it('tells the model by the capture day, with the members of that model alone', () => {
    const out = trust([
      serviceRow('old.example', '2026-08-15'),
      serviceRow('new.example', '2026-08-16'),
    ]);
    const old = out.body('subject/trust/old-example.json');
    const now = out.body('subject/trust/new-example.json');
    expect(old).toMatchObject({ model: 'legacy-registry', hash_core_version: '3' });
    expect(now).toMatchObject({ model: 'demand-v1', demand_class: 'REAL', demand_depth: null });
    expect(old).not.toHaveProperty('demand_class');
    expect(old).not.toHaveProperty('model_note');
    expect(now).not.toHaveProperty('source_note');
    expect(old.source_note).toContain('test source');
    expect(String(now.model_note)).toContain('never a sum');
  });

  it('hashes the demand class: another class is another record', () => {
    const hashOf = (more: object) =>
      trust([serviceRow('a.example', DAYS[0], more)]).body('subject/trust/a-example.json')
        .record_hash;
    expect(hashOf({ demand_class: 'WASH?' })).not.toBe(hashOf({ demand_class: 'WASH' }));
    expect(hashOf({ name: 'A' })).toBe(hashOf({ name: 'B' }));
  });

  it('takes a later batch as a revision, whose old hash stays findable', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const later = { ...first, score_total: 99, collected_at: '2026-11-19T07:00:00Z' };
    const out = trust([first, later]);
    expect(out.body('subject/trust/a-example.json').score_total).toBe(99);
    const rows = out.lookUps.filter(({ kind }) => kind === 'row');
    expect(rows.map(({ file }) => file)).toEqual(['subject/trust/a-example.json']);
    const facts = { kind: 'row', signal_id: 'trust.service', entity: 'a-example' };
    expect(out.leaves).toMatchObject([
      { ...facts, record_hash: rows[0]?.record_hash },
      { ...facts, observed_at: first.observed_at },
    ]);
  });

  it('keeps the first collection of a repeat', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const out = trust([first, { ...first, collected_at: '2026-11-19T07:00:00Z' }]);
    expect(out.leaves).toEqual(trust([first]).leaves);
  });

  it('takes what is not hashed from the newest repeat, but none from an import without hashes', () => {
    const first = serviceRow('a.example', DAYS[0], { name: 'Old', grade: 'old' });
    const collected_at = '2026-11-19T07:00:00Z';
    const again = { ...first, collected_at, name: 'New', grade: 'new' };
    const out = trust([first, again]);
    expect(out.body('subject/trust/a-example.json')).toMatchObject({
      name: 'New',
      grade: 'new',
      data_age_hours: 1,
      _citation: { retrieved_at: first.collected_at },
    });
    const imported = trust([first, { ...again, imported: true }]);
    expect(imported.body('subject/trust/a-example.json')).toMatchObject({ name: 'Old' });
  });

  it('I37: refuses two facts of one batch also where one of them was told before', () => {
    const first = serviceRow('a.example', DAYS[0]);
    const repeat = { ...first, collected_at: '2026-11-19T07:00:00Z' };
    const other = { ...repeat, score_total: 99 };
    for (const batch of [
      [repeat, other],
      [other, repeat],
    ]) {
      expect(trust([first, ...batch]).faults).toMatchObject([{ code: 'conflict', line: 2 }]);
    }
    expect(trust([first, repeat, repeat]).faults).toEqual([]);
  });

  it('refuses two rows of one day in one batch, and two hosts of one id', () => {
    const twice = trust([
      serviceRow('a.example', DAYS[0]),
      serviceRow('a.example', DAYS[0], { score_total: 0 }),
    ]);
    expect(twice.faults).toMatchObject([{ code: 'conflict', line: 2 }]);
    const shared = trust([serviceRow('a-b.example', DAYS[0]), serviceRow('a.b.example', DAYS[1])]);
    expect(shared.faults).toMatchObject([{ code: 'conflict' }]);
    expect(shared.faults[0]?.message).toContain('share the id "a-b-example"');
  });
});
