import { describe, expect, it } from 'vitest';
import { isZone, zoneInstants } from '../../compiler/import/local-time.ts';

const at = (wall: string, zone: string) =>
  zoneInstants(Date.parse(`${wall}Z`), zone).map((instant) => new Date(instant).toISOString());

describe('zoneInstants()', () => {
  it.each([
    ['2026-11-20T04:30:00', 'America/Chicago', '2026-11-20T10:30:00.000Z'],
    ['2026-07-20T04:30:00', 'America/Chicago', '2026-07-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', 'Asia/Kathmandu', '2026-11-19T22:45:00.000Z'],
    ['2026-01-01T00:15:00', 'Pacific/Auckland', '2025-12-31T11:15:00.000Z'],
    ['2026-11-20T04:30:00', 'EST', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20T04:30:00', '-03:30', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T04:30:00', 'UTC', '2026-11-20T04:30:00.000Z'],
  ])('finds when clocks show %s in %s', (wall, zone, instant) => {
    expect(at(wall, zone)).toEqual([instant]);
  });

  it('finds no instant in the hour that is left out, and two in the one that comes twice', () => {
    expect(at('2026-03-29T02:30:00', 'Europe/Berlin')).toEqual([]);
    expect(at('2026-03-29T03:00:00', 'Europe/Berlin')).toEqual(['2026-03-29T01:00:00.000Z']);
    expect(at('2026-10-25T02:30:00', 'Europe/Berlin')).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
  });

  it.each(['Chicago', 'America/Chicgo', 'MEZ', '+2', '+02:60', '', '../etc'])(
    'does not know "%s"',
    (zone) => {
      expect(isZone(zone)).toBe(false);
      expect(at('2026-11-20T04:30:00', zone)).toEqual([]);
    },
  );
});
