import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const OVERALL_FACTOR = 40;
const BURST_S = 2;
const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['compiler', 'gatekeeper', 'scripts', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(folder, path)),
);
/** All documents, except the one that names what is gone. */
const DOCS = [
  ...readdirSync(ROOT),
  ...SOURCES,
  'dist-data/README.md',
  'snapshots/README.md',
].filter((path) => path.endsWith('.md') && path !== 'CHANGELOG.md');
/** What a newcomer may have to read in all. */
const ALL_WORDS_MAX = 23_900;
/** Words, since a newcomer reads words: lines can be made longer. */
const WORDS_MAX: Readonly<Record<string, number>> = {
  'README.md': 900,
  'ARCHITECTURE.md': 1800,
  'gatekeeper/README.md': 900,
  'CONTRIBUTING.md': 200,
  'SECURITY.md': 250,
  'dist-data/README.md': 80,
  'compiler/MONITOR.md': 450,
  'compiler/WITNESSES.md': 500,
  'snapshots/README.md': 700,
  'test/README.md': 300,
};

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** `npm run X`, `npm X` for those that npm knows by themselves. */
function scriptsNamed(text: string): string[] {
  const run = [...text.matchAll(/npm run ([a-z:-]+)/g)].map(([, name = '']) => name);
  const plain = [...text.matchAll(/npm (start|test)\b/g)].map(([, name = '']) => name);
  return [...run, ...plain];
}

/** Sources and documents in backticks; other names are files of a release or paths of the service. */
function pathsNamed(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\s]+)`/g)].map(([, span = '']) => span);
  return spans.filter((span) => /^\w[\w./-]*\.(ts|py|md|sol)$/.test(span));
}

/** Whether a document may mean this file: from the top, from its own folder, or the one file below with these last words. */
function exists(path: string, doc: string): boolean {
  if (existsSync(join(ROOT, path)) || existsSync(join(ROOT, dirname(doc), path))) return true;
  return SOURCES.some((source) => source.endsWith(`/${path}`));
}

/** Variables that the program reads, from the files that name them. */
function variablesKnown(): Set<string> {
  const settings = read('gatekeeper/settings/settings.ts');
  const fields = [...settings.matchAll(/^ {2}([a-z_]+): /gm)].map(([, name = '']) => name);
  const texts = [
    settings,
    read('compiler/system/command-settings.ts'),
    read('compiler/cli/compile-options.ts'),
    read('compiler/publish/keys/key-store.ts'),
    read('compiler/cli/upload-cli.ts'),
    read('compiler/catalog/register.json'),
    read('scripts/quick-start-data.ts'),
  ].join('\n');
  const spelled = [...texts.matchAll(/SIGNALPRESS_[A-Z_]+/g)].map(([name]) => name);
  return new Set([...spelled, ...fields.map((name) => `SIGNALPRESS_${name.toUpperCase()}`)]);
}

describe.each(DOCS)('%s', (doc) => {
  const text = read(doc);

  it('names only scripts of package.json', () => {
    expect(scriptsNamed(text).filter((name) => !(name in scripts))).toEqual([]);
  });

  it('names only files that exist', () => {
    expect(pathsNamed(text).filter((path) => !exists(path, doc))).toEqual([]);
  });

  it('names only variables that are read', () => {
    const known = variablesKnown();
    const named = [...text.matchAll(/SIGNALPRESS_[A-Z_]+[A-Z]/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

const GENERATED: readonly (readonly [document: string, parts: RegExp])[] = [
  ['PRODUCTS.md', /[\s\S]*/],
  ['OBSERVING.md', /^\| `signalpress_\w+` .*$/gm],
  ['SIGNS.md', /^\| `\w+`, `\w+` \| .*$/gm],
  ['SETTINGS.md', /^\| `SIGNALPRESS_\w+` .*$/gm],
];

/**
 * Words that somebody wrote. Programs write PRODUCTS.md, and tables of OBSERVING.md, SIGNS.md and SETTINGS.md; CHANGELOG.md is history.
 */
function handWrittenWords(texts: Readonly<Record<string, string>>): number {
  const own = Object.entries(texts).map(([doc, text]) => {
    if (doc === 'CHANGELOG.md') return 0;
    const generated = GENERATED.find(([name]) => doc.endsWith(name))?.[1];
    return wordsOf(generated === undefined ? text : text.replace(generated, ''));
  });
  return own.reduce((sum, words) => sum + words, 0);
}

it.each(Object.entries(WORDS_MAX))('%s has at most %i words', (doc, max) => {
  expect(wordsOf(read(doc))).toBeLessThanOrEqual(max);
});

describe('the words of all documents', () => {
  const texts = Object.fromEntries(DOCS.map((doc) => [doc, read(doc)]));

  it(`are at most ${ALL_WORDS_MAX}`, () => {
    expect(handWrittenWords(texts)).toBeLessThanOrEqual(ALL_WORDS_MAX);
  });

  it('are too many with one sentence above the limit', () => {
    const spare = ALL_WORDS_MAX - handWrittenWords(texts);
    const longer = { ...texts, 'MORE.md': 'word '.repeat(spare + 1) };
    expect(handWrittenWords(longer)).toBe(ALL_WORDS_MAX + 1);
  });

  it('are those of people: neither PRODUCTS.md nor the changes count', () => {
    const text = 'two words\n```json\n{ "a": 1 }\n```\nand three more\n';
    expect(handWrittenWords({ 'PRODUCTS.md': text })).toBe(0);
    expect(handWrittenWords({ 'OTHER.md': text })).toBe(11);
    expect(handWrittenWords({ 'CHANGELOG.md': text, 'a/README.md': 'one' })).toBe(1);
  });
});

describe('the checks of documents', () => {
  it('see a script, a file and a variable that are not there', () => {
    expect(scriptsNamed('run `npm run nothing-such` and npm test')).toEqual([
      'nothing-such',
      'test',
    ]);
    expect(pathsNamed('see `gatekeeper/nowhere.ts`, `--flag` and `npm start`')).toEqual([
      'gatekeeper/nowhere.ts',
    ]);
    expect(exists('gatekeeper/nowhere.ts', 'README.md')).toBe(false);
    expect(exists('respond.ts', 'README.md')).toBe(true);
    expect(variablesKnown().has('SIGNALPRESS_NOTHING')).toBe(false);
    expect(variablesKnown().has('SIGNALPRESS_PAY_TO')).toBe(true);
  });
});

describe('the commands of "Run it" in README.md', () => {
  const [, section = ''] = read('README.md').split('## Run it\n');
  const folders = [...section.matchAll(/--(?:out|snapshots) (\S+)/g)].map(([, name]) => name);

  it('compile what was imported, and not the sample, under the key of the reader', () => {
    expect(new Set(folders).size).toBe(1);
    expect(folders).toHaveLength(2);
    expect(folders).not.toContain('snapshots');
  });
});

describe('the rate limit in gatekeeper/COSTS.md', () => {
  it('is that of the code', () => {
    const named = /(\d+) times that rate \(either may use (\d+) s/.exec(
      read('gatekeeper/COSTS.md'),
    );
    expect(named?.slice(1).map(Number)).toEqual([OVERALL_FACTOR, BURST_S]);
  });
});

/** The invariants that the titles of a test file name, those of tables of cases too. */
function numbersIn(text: string): Set<number> {
  const titles = [...text.matchAll(/(?:\b(?:it|describe)(?:\.\w+)?|\))\(\s*(['"`])(.*?)\1/g)];
  const numbers = titles.flatMap(([, , title = '']) => [...title.matchAll(/\bI(\d+)\b/g)]);
  return new Set(numbers.map(([, number]) => Number(number)));
}

describe('the promises of test/INVARIANTS.md', () => {
  const promised = [...read('test/INVARIANTS.md').matchAll(/^- I(\d+): \w/gm)].map(([, id]) =>
    Number(id),
  );

  it('stand in their order', () => {
    const kept = [66, 67];
    const numbers = Array.from({ length: 73 }, (_, at) => at + 1);
    expect(promised).toEqual(numbers.filter((number) => !kept.includes(number)));
  });

  it('are exactly those that tests name in their titles', () => {
    const tests = SOURCES.filter((path) => /(?:(?<!\bdocs)\.test|-suite)\.ts$/.test(path));
    const proved = new Set(tests.flatMap((path) => [...numbersIn(read(path))]));
    expect([...proved].sort((one, other) => one - other)).toEqual(promised);
  });

  it.each([
    ["it('I12: sets it', () => {", [12]],
    ["it.each([\n  [1],\n])(\n  'I3, I4: %s pays once', () => {", [3, 4]],
    ['describe(`the rest, I5`, () => {', [5]],
    ["it('sets it', () => { /* I12 */ expect(told('I12')).toBe(1); // I12", []],
    ["['I12: a row of a table', 1],", []],
    ["it('takes MI12 and I123x', () => {", []],
  ])('are looked for in titles alone: %j', (text, numbers) => {
    expect([...numbersIn(text)]).toEqual(numbers);
  });
});
