import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseTlogProof } from '../../compiler/contract/tlog-proof.ts';
import { addWitness } from '../../compiler/witness/ask-witnesses.ts';
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
    const line = `witness one.example ${first.vkey} ${first.url}\n`;
    const text = `${line}group witnesses all one.example\nquorum witnesses\n`;
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

  it('demands every witness that it named, until the owner of the policy edits that', async () => {
    const file = join(makeFolder(), 'witnesses.txt');
    const lines: string[] = [];
    const add = async (name: string): Promise<void> => {
      const { line } = await shop.witness(name);
      const [, , vkey = '', url = ''] = line.trim().split(' ');
      lines.push(`witness ${name.toLowerCase()}.example ${vkey} ${url}\n`);
      expect((await addWitness({ data: shop.data, file, vkey, url }, askedNow())).lack).toBeNull();
    };
    const expected = (group: string) => `${lines.join('')}group ${group}\nquorum witnesses\n`;
    await add('One');
    await add('Two');
    expect(policyOf(file)).toBe(expected('witnesses all one.example two.example'));
    expect((await shop.ask(policyOf(file))).lack).toBeNull();
    // The next release: one of both is down.
    await shop.hour(1);
    const down = policyOf(file).replace(/ http\S+\n/, ' http://127.0.0.1:9/\n');
    expect((await shop.ask(down)).lack).toContain('1 of 2 of witnesses (without one.example)');
    expect(await shop.verified(down)).toMatch(/^1 /);
    expect((await shop.ask(policyOf(file))).lack).toBeNull();
    expect(await shop.verified(policyOf(file))).toMatch(/^0 /);
    writeFileSync(file, expected('witnesses any one.example two.example'));
    await add('Three');
    expect(policyOf(file)).toBe(expected('witnesses any one.example two.example three.example'));
    // What an earlier version wrote.
    writeFileSync(file, `${lines.join('')}quorum none\n`);
    await add('Four');
    const names = ['one', 'two', 'three', 'four'].map((name) => `${name}.example`);
    expect(policyOf(file)).toBe(expected(`witnesses all ${names.join(' ')}`));
  });
});
