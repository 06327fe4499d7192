import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { isDocument } from '../../compiler/contract/document-bodies.ts';
import { bodyOfText } from '../../compiler/contract/series-csv.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { withDemands } from '../../compiler/verify/demand-checks.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { removeFolders } from '../snapshot-folder.ts';
import { hasPython, pythonVerdicts } from '../verify/python-judge.ts';
import { productShop } from './product-shop.ts';

const contract = new URL('../../compiler/contract/', import.meta.url);
const PRODUCTS = fileURLToPath(new URL('PRODUCTS.md', contract));
const TEXT = readFileSync(PRODUCTS, 'utf8');
const FORMAT = readFileSync(new URL('FORMAT.md', contract), 'utf8');
/** The table of paths and what every product is, without the examples. */
const WORDS_MAX = 3700;

const did = /`(did:key:\w+)`/.exec(FORMAT)?.[1] ?? '';
const seed = /Its seed is\s+`([0-9a-f]{64})`/.exec(FORMAT)?.[1] ?? '';
/** A request and its answer, which has lines where a series has rows. */
const EXAMPLE = /^(\*\*Example: .+\.\*\* `(\/.+)`\n```json\n)([\s\S]*?)\n```$/gm;
const printed = [...TEXT.matchAll(EXAMPLE)].map(([, , target = '', line = '']) => ({
  target,
  line,
}));
/** The verdict on a body that must answer a request. */
function judged(text: string, expect: string): string {
  const body = parseJson(text);
  const demands = { expect: `GET ${expect}`, catalog: BUILTIN };
  return withDemands(verifyBody(body, { trust: [did] }), body, demands).verdict;
}

describe('PRODUCTS.md', () => {
  let ask: Awaited<ReturnType<typeof productShop>>;
  beforeAll(async () => {
    ask = await productShop(seed);
  });
  afterAll(removeFolders);

  it('shows what each request of an example is answered with, to the byte; vitest writes it with --update', async () => {
    const answers = new Map<string, string>();
    for (const { target } of printed) answers.set(target, await ask(target));
    const made = TEXT.replace(
      EXAMPLE,
      (_, head, target) => `${head}${answers.get(target)}\n\`\`\``,
    );
    expect(answers.size).toBe(TEXT.split('**Example: ').length - 1);
    await expect(made).toMatchFileSnapshot(PRODUCTS);
  });

  it('shows a series as signed CSV, to the byte, that verifies', async () => {
    const path = fileURLToPath(new URL('SERIES-CSV.md', contract));
    const text = readFileSync(path, 'utf8');
    const [, target = '', , lines = ''] =
      /`(\/\S+csv-signed\S+)`([\s\S]+?)```csv\n([\s\S]*?)```/.exec(text) ?? [];
    const sold = await ask(target);
    const made = text.replace(`csv\n${lines}`, () => `csv\n${sold.replaceAll('\r\n', '\n')}`);
    await expect(made).toMatchFileSnapshot(path);
    const verdict = (table: string) => verifyBody(bodyOfText(table), { trust: [did] }).verdict;
    expect(verdict(lines.replaceAll('\n', '\r\n'))).toBe('verified');
    expect(verdict(lines.replaceAll('\n', '\r\n').replace('13.4', '13.5'))).toBe('failed');
  });

  it.each(printed)(
    'has an answer that verifies for $target, and not for another request or year',
    ({ target, line }) => {
      expect(judged(line, target)).toBe('verified');
      expect(judged(line, '/gauge?entity=06714000&signal_id=hydrology.river-level')).toBe('failed');
      expect(judged(line.replace('2026', '2027'), target)).toBe('failed');
    },
  );

  it.skipIf(!hasPython)(
    'shows answers that the second judge verifies, and none of another year',
    () => {
      const lines = printed.map(({ line }) => line.replaceAll('\n', ''));
      const verdicts = (bodies: readonly string[]) =>
        new Set(pythonVerdicts(bodies, [did]).map(({ verdict }) => verdict));
      expect(verdicts(lines)).toEqual(new Set(['verified']));
      expect(verdicts(lines.map((line) => line.replace('2026', '2027')))).toEqual(
        new Set(['failed']),
      );
    },
  );

  it('names every operation, the line of every bundle and the file of every document', () => {
    const named = TEXT.replace(/\s+/g, ' ');
    const unnamed = BUILTIN.operations.filter(({ path, file = '' }) => {
      const [, line] = /^bundle\/([a-z-]+)\//.exec(file) ?? [];
      if (line !== undefined) {
        return path !== `/gauge/${line}-region` && !named.includes(` ${line} \`${path}\``);
      }
      return !named.includes(`\`${path}\``) && !named.includes(`\`${path}?`);
    });
    expect(unnamed.map(({ path }) => path)).toEqual([]);
    const documents = BUILTIN.operations.filter(isDocument);
    expect(documents).toHaveLength(9);
    for (const { path, file } of documents) expect(named).toContain(`\`${path}\` in \`${file}\``);
  });

  it('names the file of every other operation that has one and costs', () => {
    const [, table = ''] = TEXT.split('## 1. Paths and citations');
    const stored = BUILTIN.operations.filter((row) => row.priceUsd !== null && !isDocument(row));
    const folders = stored.flatMap(({ file }) => file?.split('/', 1) ?? []);
    expect(folders.filter((folder) => !table.includes(`\`${folder}/`))).toEqual([]);
    expect(folders.length).toBeGreaterThan(40);
  });

  it('stays short beside its examples', () => {
    expect(TEXT.replace(EXAMPLE, '').split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX);
  });
});
