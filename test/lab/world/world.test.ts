import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowOf } from '../../../compiler/catalog/register.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import type { Asked } from '../../sources/fetch/agency.ts';
import { AGENCIES, FAULTS } from './agencies.ts';
import { factsAt, growth, lossesOf, rudeness, Stored, Truth, Turns, vagueness } from './checks.ts';
import { World } from './world.ts';

const NOW = Date.parse('2026-11-20T11:07:00Z');
const world = new World({ seed: 24, hours: 15, publishEvery: 12, faultsAnHour: 4 });
const days: string[] = [];
beforeAll(() => world.live((line) => days.push(line)));
afterAll(removeFolders);

describe('a recorded world, its short form', () => {
  it('breaks nothing that must hold, whatever fails', () => {
    expect(world.breaches).toEqual([]);
    expect(days).toEqual([expect.stringMatching(/^day 1: 30 steps, .*, 0 breaches$/)]);
    expect(world.counts.verified).toBeGreaterThan(1);
    expect(world.counts.bought).toBeGreaterThan(40);
  });

  it('plays every fault, and each one that can be noticed is', () => {
    const { tallies } = world;
    expect([...tallies.keys()].sort()).toEqual(Object.keys(FAULTS).sort());
    const missed = [...tallies].filter(
      ([name, { injected, noticed }]) => FAULTS[name]?.isHarmless !== true && noticed < injected,
    );
    expect(missed).toEqual([]);
    expect(tallies.get('kill -9 of run')?.noticed).toBeGreaterThan(0);
  });
});

describe('the checks of the world', () => {
  const facts = factsAt(NOW);
  const fact = defined(
    facts.find(({ signal }) => signal === 'hydrology.river-level'),
    'a stage',
  );
  const truth = new Truth();
  truth.learn(NOW);
  const told = (more: object) => truth.breaches([{ ...fact, ...more }], NOW);

  it('take what was true, and a value that nobody could read', () => {
    expect(truth.breaches(facts, NOW)).toEqual([]);
    expect(told({ current: { stage_ft: null } })).toEqual([]);
  });

  it.each([
    ['a value that was altered', { current: { stage_ft: 99 } }, /stage_ft 99, not/],
    ['a reading of a time of which nothing was said', { at: fact.at - 60_000 }, /nothing was said/],
    ['a reading from the future', { at: NOW + 60_000 }, /is yet to come/],
  ])('notice %s', (_, more, words) => {
    expect(told(more)).toEqual([expect.stringMatching(words)]);
  });

  it('notice what was offered and is not stored, or only without its value', () => {
    const { readings } = new Stored(makeFolder());
    expect(lossesOf([fact], readings)).toHaveLength(1);
    const key = `${fact.signal} ${fact.entity} ${new Date(fact.at).toISOString().replace('.000', '')}`;
    readings.set(key, { ...fact, current: { stage_ft: null } });
    expect(lossesOf([fact], readings)).toHaveLength(1);
    readings.set(key, fact);
    expect(lossesOf([fact], readings)).toEqual([]);
  });

  it('notice a request too many, and one that comes before its time', () => {
    const row = rowOf('faa-nas');
    const asked = (count: number, gap: number, retryAfter: string | null = null): Asked[] =>
      Array.from({ length: count }, (_, at) => {
        const request = { host: 'a.gov', path: '/', headers: {}, status: 200, retryAfter };
        return { ...request, at: NOW + at * gap };
      });
    const most = row.pace.per_minute;
    expect(rudeness(asked(20, 60_000 / most), row)).toEqual([]);
    expect(rudeness(asked(most + 2, 1000), row)).toHaveLength(1);
    expect(rudeness(asked(2, 30_000, '20'), row)).toEqual([]);
    expect(rudeness(asked(2, 10_000, '20'), row)).toHaveLength(1);
    const date = new Date(NOW + 20_000).toUTCString();
    expect(rudeness(asked(2, 10_000, date), row)).toHaveLength(1);
    const hourly = { ...row, pace: { ...row.pace, per_hour: 3 } };
    expect(rudeness(asked(5, HOUR_MS / 10), hourly)).toHaveLength(1);
  });

  it('notice who is not asked in so many steps as there are addresses', () => {
    const turns = new Turns();
    const { entities, partOf } = defined(AGENCIES.nwps, 'its gauges');
    const paths = entities.map((entity) => partOf?.(entity) ?? '');
    for (let step = 0; step < entities.length; step += 1) {
      expect(turns.after('nwps', paths.slice(1))).toEqual([]);
    }
    expect(turns.after('nwps', paths.slice(1))).toEqual([expect.stringContaining('EADM7')]);
    expect(turns.after('nwps', paths)).toEqual([]);
  });

  it('notice a message without its address, or without its entity', () => {
    const url = 'https://api.water.noaa.gov/nwps/v1/gauges/EADM7';
    expect(vagueness('nwps', `Cannot fetch "${url}" (EADM7): gone`)).toEqual([]);
    expect(vagueness('nwps', `Cannot fetch "${url}": gone`)).toHaveLength(1);
    expect(vagueness('nwps', 'Cannot fetch EADM7')).toHaveLength(1);
  });

  it('notice what a step leaves behind', () => {
    const folder = makeFolder();
    expect(growth(folder)).toEqual([]);
    writeFileSync(`${folder}/.incoming-1-1`, '');
    expect(growth(folder)).toEqual([expect.stringContaining('.incoming-1-1')]);
  });
});
