import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CODINGS, isPacked, packedPath } from '../compiler/format/release.ts';
import { packedBytes } from '../compiler/release/press.ts';
import { isBuilt, noteBuilt, store } from './bundle-notes.ts';
import { withoutTexts } from './without-texts.ts';

// Bundles the browser program of the page into build/compiler/page/: files named by their content, and
// `bundle.json`, which says what the index loads. They are packed here, once and with patience, not by each compile.
// Does nothing when no source has changed since.

const SOURCE = 'compiler/page';
const OUTPUT = 'build/compiler/page';
const NOTES = join(OUTPUT, 'sources.json');
/** Of brotli: the programs stay for many releases, and each visitor loads them. */
const BEST_QUALITY = 11;
/** What else the bundle follows from. */
const SETTINGS = [
  'package-lock.json',
  'scripts/build-site.ts',
  'scripts/without-texts.ts',
  'compiler/page/tsconfig.json',
];

if (!isBuilt(NOTES)) await bundle();

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
    plugins: [await withoutTexts()],
    build: {
      write: false,
      target: 'es2023',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      rolldownOptions: {
        input: {
          site: resolve(SOURCE, 'first-view.ts'),
          pay: resolve(SOURCE, 'pay.ts'),
          docs: resolve(SOURCE, 'docs-search.ts'),
          thing: resolve(SOURCE, 'thing.ts'),
        },
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
  const made = built.output.flatMap((part) => {
    const bytes = Buffer.from(part.type === 'chunk' ? part.code : part.source);
    const codings = isPacked(bytes) ? CODINGS : [];
    const placed = (path: string): string => join(OUTPUT, path.toLowerCase());
    const forms = codings.map((coding) =>
      store(placed(packedPath(part.fileName, coding)), packedBytes(bytes, coding, BEST_QUALITY)),
    );
    return [store(placed(part.fileName), bytes), ...forms];
  });
  const entry = (name: string): string | undefined =>
    built.output.find((part) => part.type === 'chunk' && part.isEntry && part.name === name)
      ?.fileName;
  const styles = built.output.filter(({ fileName }) => /^assets\/site-[^/]*\.css$/.test(fileName));
  const files = {
    script: entry('site'),
    docsScript: entry('docs'),
    styles: styles.map(({ fileName }) => fileName),
  };
  made.push(store(join(OUTPUT, 'bundle.json'), `${JSON.stringify(files)}\n`));
  const sources = built.output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
  noteBuilt(NOTES, sources, [...SETTINGS, ...made]);
}
