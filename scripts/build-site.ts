import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CODINGS, isPacked, packedPath } from '../compiler/contract/codings.ts';
import { packedBytes } from '../compiler/stages/publish/packed-bytes.ts';
import { ownSource } from './own-source.ts';

// Bundles the browser program of the page into build/compiler/site/: files named by their content, and
// `bundle.json`, which says what the index loads. They are packed here, once and with patience, not by each compile.
// Does nothing when no source has changed since.

const SOURCE = 'compiler/site';
const OUTPUT = 'build/compiler/site';
const NOTES = join(OUTPUT, 'sources.json');
/** Of brotli: the programs stay for many releases, and each visitor loads them. */
const BEST_QUALITY = 11;
/** What else the bundle follows from. */
const SETTINGS = ['package-lock.json', 'scripts/build-site.ts', 'compiler/site/tsconfig.json'];

if (!isBuilt()) await bundle();

/** Whether every source is as it was when the bundle was made, and everything that was made is there. */
function isBuilt(): boolean {
  if (!existsSync(NOTES)) return false;
  const { sources, made } = JSON.parse(readFileSync(NOTES, 'utf8')) as SiteNotes;
  const isSame = ([name, digest]: readonly [string, string]): boolean => digestOf(name) === digest;
  return [...Object.entries(sources), ...Object.entries(made)].every(isSame);
}

interface SiteNotes {
  /** sha256 by path. */
  readonly sources: Readonly<Record<string, string>>;
  readonly made: Readonly<Record<string, string>>;
}

async function bundle(): Promise<void> {
  // Only when there is something to bundle: reading the bundler takes longer than looking.
  const { build } = await import('vite');
  // Other notes in there are TypeScript's: what tests import is compiled too.
  rmSync(join(OUTPUT, 'assets'), { recursive: true, force: true });
  const built = await build({
    root: SOURCE,
    base: '/site/',
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: { site: resolve(SOURCE, 'main.ts') },
        output: {
          hashCharacters: 'hex',
          entryFileNames: 'assets/[name]-[hash].js',
          chunkFileNames: 'assets/[name]-[hash].js',
          assetFileNames: 'assets/[name]-[hash][extname]',
        },
      },
    },
  });
  if (!('output' in built)) throw new RangeError('Cannot bundle the page: the bundler watches');
  const made = built.output.flatMap((part) =>
    storeForms(part.fileName, Buffer.from(part.type === 'chunk' ? part.code : part.source)),
  );
  const entry = built.output.find((part) => part.type === 'chunk' && part.isEntry);
  const styles = built.output.filter(({ fileName }) => /^assets\/site-[^/]*\.css$/.test(fileName));
  const files = { script: entry?.fileName, styles: styles.map(({ fileName }) => fileName) };
  made.push(store('bundle.json', Buffer.from(`${JSON.stringify(files)}\n`)));
  const sources = built.output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  note([...new Set([...sources.flatMap(ownSource), ...SETTINGS])].sort(), made);
}

/** Stores a file, and a long one under each coding too. */
function storeForms(name: string, bytes: Buffer): string[] {
  const codings = isPacked(bytes) ? CODINGS : [];
  const forms = codings.map((coding) =>
    store(packedPath(name, coding), packedBytes(bytes, coding, BEST_QUALITY)),
  );
  return [store(name, bytes), ...forms];
}

function store(name: string, bytes: Uint8Array): string {
  const path = join(OUTPUT, name.toLowerCase());
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

function note(sources: readonly string[], made: readonly string[]): void {
  const digests = (paths: readonly string[]) =>
    Object.fromEntries(paths.map((path) => [path, digestOf(path)]));
  const notes = { sources: digests(sources), made: digests(made) };
  writeFileSync(NOTES, `${JSON.stringify(notes, null, 1)}\n`);
}

function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}
