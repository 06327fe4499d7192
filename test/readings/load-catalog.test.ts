import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { catalogOf } from '../../compiler/catalog/catalog.ts';
import { builtinCatalog, catalogText, parseCatalog } from '../../compiler/catalog/whole-catalog.ts';
import { loadCatalog } from '../../compiler/readings/load-catalog.ts';
import { CompileError } from '../../compiler/system/compile-error.ts';
import { makeFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { TIDE_FILE } from '../tide-shop.ts';

afterAll(removeFolders);

type Files = Readonly<Record<string, unknown>>;

function folderOf(files: Files): string {
  const texts = Object.entries(files).map(([name, value]) => {
    return [`catalog/${name}`, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return writeSnapshots(Object.fromEntries(texts));
}

function load(files: Files) {
  return loadCatalog(folderOf(files));
}

function problemsAt(root: string) {
  try {
    loadCatalog(root);
  } catch (error) {
    if (error instanceof CompileError) return error.faults;
    throw error;
  }
  return [];
}

const faultsOf = (files: Files) => problemsAt(folderOf(files));

const ADDED = { ...TIDE_FILE, extends: 'builtin' };
const EARTHQUAKES = BUILTIN.lineById.get('earthquake');

describe('loadCatalog()', () => {
  it('gives the built-in catalogue where the folder is missing', () => {
    expect(loadCatalog(makeFolder()).catalog).toBe(BUILTIN);
  });

  it('gives what the files say and nothing else where they extend nothing', () => {
    const { catalog } = load({ 'tides.json': TIDE_FILE });
    expect(catalog.signals.map(({ id }) => id)).toEqual(['tides.level', 'tides.waves']);
    expect(catalog).toEqual(catalogOf([TIDE_FILE]));
  });

  it('adds to the built-in catalogue', () => {
    const { catalog } = load({ 'tides.json': ADDED });
    expect(catalog.lines.map(({ id }) => id)).toEqual([
      ...BUILTIN.lines.map(({ id }) => id),
      'tides',
    ]);
    expect(catalog.operationByPath.get('/gauge/tide-region')?.priceUsd).toBe('0.4');
    expect(catalog.operationByPath.get('/gauge')?.priceUsd).toBe('0.02');
    expect(catalog.operationByPath.get('/gauge/census')?.priceUsd).toBe(
      BUILTIN.operationByPath.get('/gauge/census')?.priceUsd,
    );
  });

  it('puts a line of the same id in the place of the built-in one', () => {
    const { file } = builtinCatalog();
    const rows = file.lines?.filter(({ id }) => id === 'earthquake') ?? [];
    const lines = rows.map((row) => ({ ...row, title: 'quakes' }));
    const { catalog } = load({ 'a.json': { format: file.format, extends: 'builtin', lines } });
    expect(catalog.lines.map(({ id }) => id)).toEqual(BUILTIN.lines.map(({ id }) => id));
    expect(catalog.lineById.get('earthquake')).toEqual({ ...EARTHQUAKES, title: 'quakes' });
  });

  it('takes a ruler of the built-in catalogue, and refuses one that nobody has', () => {
    const fileWith = (rulers: readonly string[], metric: string) => {
      const signal = {
        id: 'tides.level',
        measures: 'level',
        cadence: 'hourly',
        metrics: [metric],
        rulers,
      };
      const line = {
        id: 'tides',
        industry: 'ports',
        title: 'tides',
        entities: ['A'],
        signals: [signal],
      };
      return { 'a.json': { format: TIDE_FILE.format, extends: 'builtin', lines: [line] } };
    };
    const [[id, ruler] = []] = BUILTIN.rulerById;
    const { catalog } = load(fileWith([String(id)], String(ruler?.metric)));
    expect(catalog.entryById.get('tides.level')?.signal.rulers).toEqual([ruler]);
    expect(faultsOf(fileWith([`${id}-x`], String(ruler?.metric)))).toMatchObject([
      { code: 'bad_catalog', file: 'catalog/a.json', field: '/lines/0/signals/0/rulers/0' },
    ]);
  });

  it('gathers what is wrong in all files', () => {
    const faults = faultsOf({
      'a.json': '{',
      'b.json': { ...TIDE_FILE, linez: [] },
      'c.json': { ...TIDE_FILE, extends: 'built-in' },
      'Tides.json': TIDE_FILE,
      'notes.txt': '',
    });
    expect(faults.map(({ file, field }) => [file, field])).toEqual([
      ['catalog/Tides.json', undefined],
      ['catalog/notes.txt', undefined],
      ['catalog/a.json', undefined],
      ['catalog/b.json', undefined],
      ['catalog/c.json', '/extends'],
    ]);
    expect(faults[3]?.message).toContain('did you mean "lines"?');
  });

  it('refuses files that extend different things, and a signal that is twice', () => {
    const { lines, ...rest } = TIDE_FILE;
    expect(
      faultsOf({ 'a.json': TIDE_FILE, 'b.json': { ...rest, extends: 'builtin' } }),
    ).toMatchObject([{ file: 'catalog/b.json', field: '/extends' }]);
    const second = {
      ...rest,
      lines: lines?.map((line) => ({ ...line, id: 'tides-two', bundle: undefined })),
    };
    const fields = faultsOf({ 'a.json': TIDE_FILE, 'b.json': second }).map(({ field }) => field);
    expect(fields).toContain('/lines/0/signals/0/id');
  });

  it('refuses an empty folder and a link in place of a file', () => {
    const root = makeFolder();
    mkdirSync(join(root, 'catalog'));
    expect(problemsAt(root)).toMatchObject([{ code: 'bad_catalog', file: 'catalog' }]);
    symlinkSync(join(root, 'elsewhere.json'), join(root, 'catalog/tides.json'));
    expect(problemsAt(root)).toMatchObject([{ code: 'bad_name', file: 'catalog/tides.json' }]);
  });

  it('keeps the meaning of built-in signals, by which readers judge a body alone', () => {
    const signal = {
      id: 'tides.level',
      measures: 'level',
      cadence: 'hourly',
      metrics: ['level_m'],
    };
    const [known] = BUILTIN.signals;
    const fileWith = (row: object) => ({
      'a.json': {
        ...TIDE_FILE,
        lines: [
          { id: 'tides', industry: 'ports', title: 'tides', entities: ['A'], signals: [row] },
        ],
      },
    });
    const { rulers: _, unitOf: _units, ...same } = { ...signal, ...known };
    expect(faultsOf(fileWith(same))).toEqual([]);
    expect(faultsOf(fileWith({ ...signal, id: known?.id }))).toMatchObject([
      { code: 'bad_catalog', file: 'catalog/a.json', field: '/lines/0' },
    ]);
  });
});

describe('parseCatalog()', () => {
  it('reads what catalogText() wrote, of own files and of the built-in catalogue', () => {
    for (const { catalog, file } of [load({ 'tides.json': TIDE_FILE }), builtinCatalog()]) {
      const read = parseCatalog(Buffer.from(catalogText(file)));
      expect(read.lines).toEqual(catalog.lines);
      expect(read.operations).toEqual(catalog.operations);
      expect(read.namedByLine).toEqual(catalog.namedByLine);
    }
  });

  it('refuses a member of another version', () => {
    const bytes = Buffer.from(catalogText({ ...TIDE_FILE, tides: 1 } as typeof TIDE_FILE));
    expect(() => parseCatalog(bytes)).toThrow('unknown member "tides"');
  });
});
