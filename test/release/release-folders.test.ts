import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { validUntilByCadence } from '../../compiler/release/release-folders.ts';

const asOf = '2026-11-20T12:00:00Z';
const of = (cadence: string): string => {
  const found = [...BUILTIN.entryById.values()].find(({ signal }) => signal.cadence === cadence);
  if (found === undefined) throw new Error(`no signal of cadence "${cadence}"`);
  return found.signal.id;
};
const until = (signals: string[], changed: string[]): string =>
  validUntilByCadence({ catalog: BUILTIN, asOf, signals, changed });

describe('validUntilByCadence()', () => {
  it('is twice the longest cadence of what changed', () => {
    const [hourly, daily, monthly] = [of('hourly'), of('daily'), of('monthly')];
    const all = [hourly, daily, monthly];
    expect(until(all, [hourly])).toBe('2026-11-20T14:00:00Z');
    expect(until(all, [daily, hourly])).toBe('2026-11-22T12:00:00Z');
    expect(until([hourly], [hourly])).toBe('2026-11-20T14:00:00Z');
  });

  it('is at most a week from now, also for what has no cadence in hours', () => {
    const all = [of('hourly'), of('monthly'), of('as-events')];
    for (const id of all.slice(1)) expect(until(all, [id])).toBe('2026-11-27T12:00:00Z');
    expect(until([], [])).toBe('2026-11-27T12:00:00Z');
  });

  it('counts all signals where none of them changed', () => {
    const [hourly, monthly] = [of('hourly'), of('monthly')];
    expect(until([hourly], [])).toBe('2026-11-20T14:00:00Z');
    expect(until([hourly], ['mcp'])).toBe('2026-11-20T14:00:00Z');
    expect(until([hourly, monthly], ['mcp'])).toBe('2026-11-27T12:00:00Z');
  });
});
