import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vectorFiles } from './vectors.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { BODIES_NAME, type BodyVectors } from './body-vector.ts';
import { bodiesText, readerCases, readingVectors, settlementVectors, signedTables } from './bodies.ts';
import { seeded } from '../campaign.ts';
import { readingShop, settlementShop } from '../forgeries/shops.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import { readerVectors } from './reader-cases.ts';
import type { Open } from '../forgeries/body-forgeries.ts';
import { soldShop } from '../../gate.ts';

describe('vectorFiles()', () => {
  it.each([...vectorFiles()])('I18: writes test/vectors/%s again, byte for byte', (name, text) => {
    expect(readFileSync(`test/vectors/${name}`, 'utf8')).toBe(text);
  });
  it('gives every row a comment of its own and either a result or an error', () => {
    for (const text of vectorFiles().values()) {
      const rows = JSON.parse(text) as { comment: string; want?: unknown; error?: unknown }[];
      expect(new Set(rows.map(({ comment }) => comment)).size).toBe(rows.length);
      for (const row of rows) expect(row.want === undefined).toBe(row.error !== undefined);
      expect(rows.some((row) => row.error !== undefined)).toBe(true);
    }
  });
});

const MOST = 60;
/** Of all genuine answers one in so many is used. */
const EVERY = 16;

let parts: BodyVectors[];
beforeAll(async () => {
  const draw = { most: MOST, random: seeded(24) };
  const filings = await settlementShop();
  const answers = filings.answers.filter((_, at) => at % EVERY === 0);
  const shop = await readingShop();
  const moments = new Map([...shop.moments].filter((_, at) => at % EVERY === 0));
  parts = [
    await settlementVectors({ ...filings, answers }, draw),
    await readingVectors({ ...shop, moments }, await signedTables(shop), draw),
  ];
});
afterAll(removeFolders);

describe('body vectors, a sample', () => {
  it('are judged alike by the command, the service, and the client', () => {
    const rows = parts.flatMap((part) => part.rows);
    expect(parts.flatMap((part) => part.disputed)).toEqual([]);
    expect(rows.length).toBeGreaterThan(MOST);
    const verdicts = rows.map(({ verdict }) => verdict);
    expect(verdicts.filter((one) => one === 'failed').length).toBeGreaterThan(MOST / 2);
    expect(verdicts.filter((one) => one === 'verified').length).toBeGreaterThan(MOST / 4);
  });

  it('name the check that fails, and none of a body that is accepted', () => {
    for (const { verdict, check } of parts.flatMap((part) => part.rows)) {
      expect(check !== null).toBe(verdict === 'failed');
    }
  });
});

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
