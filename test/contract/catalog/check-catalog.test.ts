import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CatalogFile, formatFaults } from '../../../compiler/contract/catalog/catalog-file.ts';
import { catalogFaults } from '../../../compiler/contract/catalog/check-catalog.ts';
import { type Edit, editedFiles } from '../../harbour-catalog.ts';

// `broken-catalogs.test.ts` has a row for each fault.

const FOLDER = 'compiler/contract/catalog/builtin';

/** Places of the faults after some edits. */
function faultsAfter(edits: readonly Edit[]): string[] {
  const files = Object.entries(editedFiles(edits)).map(([file, text]) => {
    return { file, value: JSON.parse(text) as CatalogFile };
  });
  // Only what the format allows is a matter of this check.
  expect(files.flatMap(formatFaults)).toEqual([]);
  return catalogFaults(files).map(({ file, pointer }) => `${file} ${pointer}`);
}

describe('catalogFaults()', () => {
  it('finds none where everything fits', () => {
    expect(faultsAfter([])).toEqual([]);
  });

  it('finds none in the built-in catalogue', () => {
    const files = readdirSync(FOLDER).map((file) => {
      const value: CatalogFile = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
      return { file, value };
    });
    expect(catalogFaults(files)).toEqual([]);
  });

  it('asks for no price of a bundle where the built-in prices are taken over', () => {
    const unpriced: Edit = ['harbour.json', '/prices/bundle', undefined];
    expect(faultsAfter([unpriced])).toEqual(['tides.json /lines/1/lifecycle/path']);
    const both = ['harbour.json', 'tides.json'].map((file): Edit => [file, '/extends', 'builtin']);
    expect(faultsAfter([unpriced, ...both])).toEqual([]);
  });

  it('names all faults at once', () => {
    const all = faultsAfter([
      ['harbour.json', '/rulers/surge/actionBand', 'flod'],
      ['tides.json', '/lines/0/signals/1/metrics/0', 'height'],
      ['tides.json', '/lines/0/places/0/longitude', undefined],
    ]);
    expect(all).toHaveLength(3);
  });
});
