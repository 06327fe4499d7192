import { afterAll, describe, expect, it } from 'vitest';
import { deathRow } from '../../roster-rows.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { printed } from './printed.ts';

afterAll(removeFolders);

const deaths = (...rows: readonly object[]) => printed({ 'stablecoin.death': rows });
const records = (out: ReturnType<typeof printed>) =>
  out.body('roster/stablecoin-deaths.json').records as { name: string; record_hash: string }[];

describe('deathsPart()', () => {
  it('publishes two coins of one symbol that died of different facts', () => {
    const other = { name: 'Other Dollar', confirmed_dead_at: '2026-05-11T00:00:00Z' };
    const out = deaths(deathRow('ZED'), deathRow('ZED', other));
    expect(out.faults).toEqual([]);
    expect(new Set(records(out).map((row) => row.record_hash)).size).toBe(2);
  });

  it('I36: refuses two names for the same facts, in one batch and in two', () => {
    const renamed = deathRow('ZED', { name: 'Zed Classic' });
    const out = deaths(deathRow('ZED'), renamed);
    expect(out.faults).toMatchObject([{ code: 'conflict', line: 2, field: 'name' }]);
    expect(out.faults[0]?.message).toBe(
      '"Zed Classic" tells the same facts as "ZED Dollar" in line 1 of "2026-11-19/stablecoin.death.ndjson", ' +
        'and the record hash holds no name; keep one of the two',
    );
    const later = deaths(deathRow('ZED'), { ...renamed, collected_at: '2026-11-20T07:00:00Z' });
    expect(later.faults).toMatchObject([{ file: '2026-11-20/stablecoin.death.ndjson', line: 1 }]);
  });

  it('I36: refuses a name for facts that another one had before its revision', () => {
    const at = (day: string) => ({ collected_at: `${day}T07:00:00Z` });
    const revised = deathRow('ZED', { death_type: 'redemption-halt', ...at('2026-11-20') });
    const renamed = deathRow('ZED', { name: 'Zed Classic', ...at('2026-11-20') });
    expect(deaths(deathRow('ZED'), revised).faults).toEqual([]);
    expect(deaths(deathRow('ZED'), revised, renamed).faults).toMatchObject([
      { code: 'conflict', line: 2, field: 'name' },
    ]);
  });

  it('takes the same name again for a repeat, and lets rows without a hash be', () => {
    const again = { collected_at: '2026-11-20T07:00:00Z' };
    const repeat = deaths(deathRow('ZED'), deathRow('ZED', again));
    expect([repeat.faults, records(repeat).length]).toEqual([[], 1]);
    const imported = deaths(
      deathRow('ZED', { imported: true }),
      deathRow('ZED', { imported: true, name: 'Zed Classic' }),
    );
    expect([imported.faults, records(imported).length]).toEqual([[], 2]);
  });
});
