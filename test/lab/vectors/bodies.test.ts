import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BODIES_NAME, type BodyVectors } from './body-vector.ts';
import { readingVectors, settlementVectors } from './bodies.ts';
import { signedTables } from './bodies.ts';
import { seeded } from '../campaign.ts';
import { readingShop } from '../forgeries/shops.ts';
import { settlementShop } from '../forgeries/shops.ts';
import { bodiesText } from './bodies.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

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
