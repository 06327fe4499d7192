import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import { filerPath, filingListPath } from '../../compiler/contract/filing-index.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { checkFiler } from '../../compiler/verify/filing-relations.ts';
import type { Related } from '../../compiler/verify/relation.ts';
import { CIK, FILINGS, filingSet, listingRow } from '../filing-rows.ts';
import { compileFolder, filesBelow, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

let files: ReadonlyMap<string, Buffer>;
beforeAll(async () => {
  const { folder } = await compileFolder(writeSnapshots(filingSet([listingRow(), ...FILINGS])));
  files = new Map([...filesBelow(folder)].map(([path, bytes]) => [path, Buffer.from(bytes)]));
});
afterAll(removeFolders);

const LIST = filingListPath(CIK);

/** What is wrong with the filer's statement beside its filings, either of them changed. */
function faultsOf(change: { readonly body?: object; readonly list?: string }): string[] {
  const path = filerPath(CIK);
  const text = (name: string): string =>
    name === LIST && change.list !== undefined ? change.list : String(files.get(name));
  const faults: string[] = [];
  const filer: Related = {
    path,
    body: { ...JSON.parse(text(path)), ...change.body },
    bodies: {
      get: (name: string) => (files.has(name) ? JSON.parse(text(name)) : 'absent'),
      text,
      list: {
        find: (name: string) => files.get(name) ?? null,
        count: (start: string) => [...files.keys()].filter((name) => name.startsWith(start)).length,
      },
    } as unknown as Related['bodies'],
    catalog: BUILTIN,
    ownTables: true,
    fault: (where) => void faults.push(where),
    count: () => undefined,
  };
  checkFiler(filer);
  return faults;
}

const listsOf = (): JsonObject[] => JSON.parse(String(files.get(filerPath(CIK)))).lists;

describe('checkFiler()', () => {
  it('I53: accepts the lists that follow from the stored filings', () => {
    expect(faultsOf({})).toEqual([]);
  });

  it.each([
    ['root', '0'.repeat(64)],
    ['count', 3],
    ['amendments', 1],
    ['lead_days', 30],
    ['event_class', '3.01'],
  ])('I53: refuses a list whose %s does not, whoever signed it', (name, value) => {
    const lists = listsOf().map((each, at) => (at === 0 ? { ...each, [name]: value } : each));
    expect(faultsOf({ body: { lists } })).toEqual(['lists']);
  });

  it('I53: refuses a list that is left out, invented or in another place', () => {
    const [first = {}, ...others] = listsOf();
    for (const lists of [others, [...others, first], [first, ...others, { ...first, form: '9' }]]) {
      expect(faultsOf({ body: { lists } })).toEqual(['lists']);
    }
  });

  it('refuses a list of filings that is short of one, and one that cannot be read', () => {
    const text = String(files.get(LIST));
    expect(faultsOf({ list: text.slice(text.indexOf('\n') + 1) })).toContain('lists');
    expect(faultsOf({ list: 'no json\n' })).toEqual(expect.arrayContaining(['lists']));
  });
});
