import { describe, expect, it } from 'vitest';
import { type Catalog, catalogOf } from '../../../compiler/contract/catalog/catalog.ts';
import { soldChanges } from '../../../compiler/stages/publish/changed-sales.ts';
import { TIDE_FILE } from '../../tide-catalog.ts';

const PATH = '/gauge/tide-region';

/** A shop of one line that takes any entity. */
function openLine(upperCase: boolean): Catalog {
  const lines = (TIDE_FILE.lines ?? []).map((line) => ({ ...line, open: true, upperCase }));
  return catalogOf([{ ...TIDE_FILE, lines }]);
}

describe('soldChanges()', () => {
  it('names a parameter that no longer takes any case, and not one that begins to', () => {
    const [anyCase, asWritten] = [openLine(true), openLine(false)];
    const changes = (before: Catalog, now: Catalog): string[] => {
      const sold = { catalog: before, entities: new Map(), paths: new Set([PATH]) };
      return soldChanges(sold, now).map(({ change }) => change);
    };
    expect(changes(anyCase, asWritten)).toEqual([
      `"${PATH}" took "entity" in any case, and now only as it is written`,
    ]);
    expect(changes(asWritten, anyCase)).toEqual([]);
  });
});
