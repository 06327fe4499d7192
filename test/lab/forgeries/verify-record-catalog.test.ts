import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { parseJson } from '../../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { type SoldShop, soldShop } from '../../sold-shop.ts';
import { hasPython, VERIFY_RECORD } from '../../verify/python-judge.ts';
import { seeded } from '../campaign.ts';
import { signedAgain } from './body-forgeries.ts';
import type { Delivery } from './forgery.ts';
import { chosen } from './plan.ts';

const OTHER = 'made under another catalogue';
const EDITS = 400;
/** Bodies of several readings, each on a scale of its own. */
const OF_SCALES = ['/gauge/air?loc=us-denver', '/gauge/precip?loc=us-denver'];
/** What a catalogue says something of. */
const OF_CATALOG = /standard_ruler|band|lit|current/;

let shop: SoldShop;
let sold: Delivery[];
beforeAll(async () => {
  shop = await soldShop();
  const files = join(shop.data, 'files');
  const records = readdirSync(files, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.startsWith('record/') && path.endsWith('.json'))
    .sort()
    .map((target) => ({ target, text: readFileSync(join(files, target), 'utf8') }))
    .filter(({ text }) => text.includes('"standard_ruler":{'));
  const asked = OF_SCALES.map(async (target) => ({
    target,
    text: (await shop.ask(target)).toString('utf8'),
  }));
  sold = [...records, ...(await Promise.all(asked))].map(
    ({ target, text }) => ({ target, body: parseJson(text) }) as Delivery,
  );
});
afterAll(removeFolders);

/** Verdict of verify_record.py on each body, and whether it found another catalogue. */
function ofPython(texts: readonly string[]): string[] {
  const flags = ['--issuer', shop.did, '--now', shop.now, '--catalog', shop.data];
  const options = { input: texts.join('\n'), encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const args = [VERIFY_RECORD, '--no-proof', '--json', '--lines', '-', ...flags];
  const { stdout } = spawnSync('python3', args, options);
  const rows = stdout.split('\n').filter((line) => line !== '');
  return rows.map((line) => {
    const { verdict, detail } = JSON.parse(line);
    return spoken(verdict, detail);
  });
}

function ofOwn(text: string): string {
  const judgedBy = { catalog: BUILTIN, isOfBody: false };
  const trust = { trust: [shop.did], now: Date.parse(shop.now), judgedBy };
  const { verdict, checks } = verifyBody(parseJson(text), trust);
  return spoken(verdict, checks.map(({ detail }) => detail).join());
}

function spoken(verdict: string, detail: string): string {
  return verdict === 'verified' && detail.includes(OTHER) ? 'of another catalogue' : verdict;
}

describe.skipIf(!hasPython)('verify_record.py --catalog (skipped without python3)', () => {
  it('finds nothing that differs in what is sold', () => {
    const texts = sold.map(({ body }) => JSON.stringify(body));
    expect(texts.length).toBeGreaterThan(10);
    expect(ofPython(texts)).toEqual(texts.map(() => 'verified'));
  });

  it('agrees with our own judge on what an issuer could sign', () => {
    const edits = sold.flatMap((one) => [...signedAgain(one)]);
    const some = chosen(
      edits.filter(({ where }) => OF_CATALOG.test(where)),
      { most: EDITS, random: seeded(24) },
    );
    const texts = some.map((edit) => edit.make());
    const own = texts.map(ofOwn);
    const python = ofPython(texts);
    const off = some.flatMap(({ target, where }, at) =>
      own[at] === python[at] ? [] : [`${target} ${where}: ${own[at]}, ${python[at]}`],
    );
    expect(off).toEqual([]);
    expect(own.filter((one) => one === 'of another catalogue').length).toBeGreaterThan(20);
  });
});
