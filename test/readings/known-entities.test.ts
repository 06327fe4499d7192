import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  KnownEntities,
  ShelfNotes,
  type Shelves,
  shelfOf,
  shelvesFor,
} from '../../compiler/readings/known-entities.ts';
import { formatKnown, type KnownEntity } from '../../compiler/readings/past-text.ts';
import type { Reading } from '../../compiler/readings/reading.ts';
import { ForgottenError } from '../../compiler/system/compile-error.ts';
import { grownOf } from '../grown-of.ts';
import { makeFolder, reading, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

function knownOf(entity: string, files: string, name = 'x'): KnownEntity {
  const one = reading(entity, { price_usd: 1 }, { entity_name: name }) as Reading;
  const { past, recent } = grownOf('crypto.spot', [one]);
  const record_hash = recent[0]?.record_hash ?? '';
  return { latest: { reading: one, record_hash, looked_at: one.collected_at }, past, files };
}

/** Writes the entities of one compile upon those of another. */
function written(entities: readonly KnownEntity[], before: Shelves | null, count = 16): Shelves {
  const folder = makeFolder();
  const notes = new ShelfNotes(join(folder, 'spill'), before, { count, signals: 100 });
  for (const known of entities) notes.add(Buffer.from(formatKnown(known)));
  const files = [...notes.before];
  for (const [shelf, bytes] of notes.changed()) {
    const path = join(folder, `${shelf}`);
    writeFileSync(path, bytes);
    files[shelf] = { path, sha256: hash('sha256', bytes, 'hex') };
  }
  return { files };
}

const NAMES = Array.from({ length: 500 }, (_, at) => `e${at}`);

describe('KnownEntities', () => {
  it('gives back each entity as it was left, in any order, and no other', () => {
    const shelves = written(
      NAMES.map((name) => knownOf(name, name)),
      null,
    );
    const known = new KnownEntities(shelves);
    for (const name of ['e7', 'e499', 'e0', 'e7']) {
      expect(known.get(name)).toEqual(knownOf(name, name));
      expect(known.latest(name)?.reading.entity).toBe(name);
    }
    expect([known.get('e500'), known.latest('e')]).toEqual([null, null]);
    expect([...known.all()].map(({ reading: one }) => one.entity).sort()).toEqual(
      [...NAMES].sort(),
    );
    expect(new KnownEntities(null).get('e7')).toBeNull();
  });

  it('I56: replaces what changed, and leaves every other shelf alone', () => {
    const first = written(
      NAMES.map((name) => knownOf(name, 'old')),
      null,
    );
    const next = written([knownOf('e3', 'new'), knownOf('more', 'new')], first);
    const touched = new Set(['e3', 'more'].map((name) => shelfOf(name, 16)));
    for (const [shelf, file] of next.files.entries()) {
      expect(file === first.files[shelf]).toBe(!touched.has(shelf));
    }
    const known = new KnownEntities(next);
    expect(['e3', 'more', 'e4'].map((name) => known.get(name)?.files)).toEqual([
      'new',
      'new',
      'old',
    ]);
    expect([...known.all()]).toHaveLength(501);
  });

  it('gives back every entity, however much had to be put aside', () => {
    const name = 'x'.repeat(2000);
    const many = NAMES.map((entity) => knownOf(entity, entity, name));
    const long = [
      ...many,
      ...many.map(({ files, ...known }) => ({ ...known, files: `${files}+` })),
    ];
    const known = new KnownEntities(written(long, null, 4));
    for (const entity of NAMES) expect(known.get(entity)?.files).toBe(`${entity}+`);
  });

  it('I16: uses no shelf that is not what was written', () => {
    const shelves = written(
      NAMES.map((name) => knownOf(name, name)),
      null,
    );
    const at = shelfOf('e7', 16);
    const path = shelves.files[at]?.path ?? '';
    writeFileSync(path, 'e7\t{}\t{}\n');
    const known = new KnownEntities(shelves);
    expect(() => known.get('e7')).toThrow(ForgottenError);
    expect(() => [...known.all()]).toThrow(ForgottenError);
    const other = NAMES.find((name) => shelfOf(name, 16) !== at) ?? '';
    expect(known.get(other)?.files).toBe(other);
  });

  it('takes more shelves for more lines, and goes through each once', () => {
    expect([0, 100_000, 2_000_000].map(shelvesFor)).toEqual([1, 16, 256]);
    const known = new KnownEntities({ files: Array.from({ length: 16 }, () => null) });
    const order = known.byShelf(NAMES).map((name) => shelfOf(name, 16));
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});
