import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { addWitness } from '../../compiler/witness/add-witness.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';
import { AskedShop, askedNow } from './asked-shop.ts';
import { InventedWitness } from './invented-witness.ts';

let shop: AskedShop;
beforeEach(async () => {
  shop = await AskedShop.open();
});
afterEach(() => shop.close());
afterAll(removeFolders);

describe('addWitness()', () => {
  const policyOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

  it('names a witness in a policy once it cosigned, and no other', async () => {
    const file = join(makeFolder(), 'witnesses.txt');
    const [one, two] = [await shop.witness('One'), await shop.witness('Two')];
    const [first, second] = [one, two].map(({ line }) => {
      const [, , vkey = '', url = ''] = line.trim().split(' ');
      return { data: shop.data, file, vkey, url };
    });
    if (!first || !second) throw new Error('no witnesses');
    expect((await addWitness(first, askedNow())).lack).toBeNull();
    const text = `witness one.example ${first.vkey} ${first.url}\nquorum none\n`;
    expect(policyOf(file)).toBe(text);
    const strange = { ...second, vkey: new InventedWitness('two.example', 5).vkey };
    expect((await addWitness(strange, askedNow())).lack).toContain('no cosignature of two.example');
    const gone = { ...second, url: await shop.liar(() => ({ status: 404, body: 'what log?\n' })) };
    expect((await addWitness(gone, askedNow())).lack).not.toBeNull();
    expect(policyOf(file)).toBe(text);
    // It stands above the group that may name it, and what the file said stays.
    const grouped = `# ours\nwitness W ${first.vkey} ${first.url}\ngroup G any W\nquorum G\n`;
    writeFileSync(file, grouped);
    expect((await addWitness(second, askedNow())).lack).toBeNull();
    expect(policyOf(file)).toBe(
      grouped.replace('group', `witness two.example ${second.vkey} ${second.url}\ngroup`),
    );
    await expect(addWitness(second, askedNow())).rejects.toThrow('stands in an earlier line');
    await expect(addWitness({ ...second, vkey: 'me' }, askedNow())).rejects.toThrow(
      'Cannot add the witness',
    );
    expect(parseTlogProof(shop.proofText).note.signatures).toHaveLength(3);
  });
});
