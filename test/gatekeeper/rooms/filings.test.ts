import { describe, expect, it } from 'vitest';
import type { HashedFiling } from '../../../compiler/contract/filing.ts';
import { formatFilingLine } from '../../../compiler/contract/filing-index.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { listsOf } from '../../../gatekeeper/rooms/filings.ts';
import { tinyService } from '../tiny-service.ts';

const FILING: HashedFiling = {
  accession: '0000123456-26-000001',
  form: '10-K',
  items: [],
  event_time: null,
  filing_date: '2026-02-01',
  disclosure_time: '2026-02-01T15:00:00Z',
  acceptance_basis: 'utc',
  snapshot_date: '2026-11-20T10:00:00Z',
  source: 'sec-edgar',
  source_ref: null,
  source_tier: 'T1',
  record_hash: `sha256:${'00'.repeat(32)}`,
};

/** A release in which every filer has a list of about so many bytes. */
async function releaseOf(bytes: number): Promise<Service['release']> {
  const line = formatFilingLine({ ...FILING, source_ref: 'x'.repeat(bytes) });
  const { release } = await tinyService();
  return Object.create(release, {
    has: { value: () => true },
    body: { value: async () => ({ bytes: Buffer.from(line), sha256: '', points: [] }) },
  });
}

/** Units that the lists of a filer cost. */
async function spent(cik: string, release: Service['release']): Promise<number> {
  let units = 0;
  const spend = (more: number): void => {
    units += more;
  };
  await listsOf(cik, { release, spend });
  return units;
}

describe('listsOf()', () => {
  it('I54: costs what its list is long, and nothing while it is kept', async () => {
    const [short, long] = [await releaseOf(10_000), await releaseOf(1_000_000)];
    expect(await spent('1', short)).toBeGreaterThan(9);
    expect(await spent('1', long)).toBeGreaterThan(900);
    expect([await spent('1', short), await spent('1', long)]).toEqual([0, 0]);
  });

  it('I54: keeps as many as their bytes allow, the last ones asked for', async () => {
    const release = await releaseOf(1_000_000);
    const filers = Array.from({ length: 20 }, (_, at) => String(at));
    for (const cik of filers) await spent(cik, release);
    const kept: string[] = [];
    for (const cik of filers.toReversed()) {
      if ((await spent(cik, release)) > 0) break;
      kept.push(cik);
    }
    expect(kept.length).toBeGreaterThan(3);
    expect(kept.length).toBeLessThan(10);
  });

  it('keeps many short ones', async () => {
    const release = await releaseOf(1000);
    const filers = Array.from({ length: 500 }, (_, at) => String(at));
    for (const cik of filers) await spent(cik, release);
    for (const cik of filers) expect(await spent(cik, release)).toBe(0);
  });
});
