import { beforeAll, describe, expect, it } from 'vitest';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import type { BodyVectors } from './body-vector.ts';
import { readerVectors } from './reader-vectors.ts';
import { seeded } from '../campaign.ts';
import type { Open } from '../forgeries/forgery.ts';
import { readerCases } from './bodies.ts';
import { soldShop } from '../../gate.ts';

const DAY_MS = 86_400_000;
const PAIR = 'entity=us-denver&signal_id=airquality.aqi';
/** A record, an add-on, a series, bodies that join readings, and a settlement answer. */
const TARGETS = [
  `/gauge?${PAIR}`,
  `/gauge/ruler?${PAIR}`,
  `/gauge/history-series?${PAIR}&days=5`,
  '/resolve?cutoff=2026-11-18&entity=AAPL&form=10-K',
  '/gauge/nas-region?entity=bos',
  `/gauge?${PAIR}&format=thin`,
];

let made: BodyVectors;
beforeAll(async () => {
  const shop = await soldShop();
  const served = await Promise.all(
    TARGETS.map(async (target) => {
      const body = parseJson((await shop.ask(target)).toString('utf8')) as Open;
      return { target, body };
    }),
  );
  const now = Date.parse(shop.now) + 30 * DAY_MS;
  const cases = readerCases(served, { now, random: seeded(24) });
  made = await readerVectors(cases, { did: shop.did, now });
});

describe('vectors of readers, a sample', () => {
  it('have the verdict that was written by hand, by the command, the library and Python', () => {
    expect(made.disputed).toEqual([]);
  });

  it('accept some of each class, and refuse more', () => {
    const classes = new Set(made.rows.map((row) => row.class));
    for (const name of ['basket', 'keys', 'receipt', 'age']) {
      const verdicts = made.rows.flatMap((row) => (row.class === name ? row.verdict : []));
      const accepted = verdicts.filter((verdict) => verdict === 'verified').length;
      expect([name, accepted > 0, verdicts.length > accepted]).toEqual([name, true, true]);
    }
    expect([...classes]).toContain('own request');
    const ofOthers = made.rows.filter((row) => row.class === 'form of another issuer');
    expect(new Set(ofOthers.map((row) => row.verdict))).toEqual(
      new Set(['partly_verified', 'failed', 'unsigned']),
    );
    expect(made.rows.length).toBeGreaterThan(280);
  });
});
