import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

// Bundles the gatekeeper into few files beside what TypeScript wrote: Node spends more time on finding and opening three
// hundred modules than on running them. `gatekeeper/signalpress-gate.ts` starts the bundle where there is one. What is
// loaded on demand stays in files of its own. Does nothing when no source has changed since.

const SOURCE = 'gatekeeper/main.ts';
const OUTPUT = 'build/gatekeeper';
/** Files that are loaded on demand; emptied before each bundle. */
const PARTS = 'bundle-parts';
const NOTES = join(OUTPUT, PARTS, 'sources.json');
/** What else the bundle follows from. */
const SETTINGS = ['package-lock.json', 'scripts/bundle-gate.ts'];
/** Packages that become part of it, with what they need; any other stays where npm put it. */
const PACKAGES =
  /^(abitype|commander|fast-json-stable-stringify|hash-wasm|isows|ox|undici|viem|zod|@noble\/\w+|@scure\/\w+)(\/|$)/;

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const DEPENDENCIES = Object.keys(dependencies);

if (!isBuilt()) await bundle();

/** Whether every source is as it was when the bundle was made, and everything that was made is there. */
function isBuilt(): boolean {
  if (!existsSync(NOTES)) return false;
  const notes = JSON.parse(readFileSync(NOTES, 'utf8')) as Readonly<Record<string, string>>;
  return Object.entries(notes).every(([path, digest]) => digestOf(path) === digest);
}

async function bundle(): Promise<void> {
  // Only when there is something to bundle: reading the bundler takes longer than looking.
  const { build } = await import('vite');
  rmSync(join(OUTPUT, PARTS), { recursive: true, force: true });
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      write: false,
      target: 'es2023',
      minify: false,
      rolldownOptions: {
        input: { bundle: resolve(SOURCE) },
        external: (id) => isPackage(id) && !PACKAGES.test(id),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: `${PARTS}/[name]-[hash].js`,
        },
      },
    },
  });
  if (!('output' in built))
    throw new RangeError('Cannot bundle the gatekeeper: the bundler watches');
  const sources = new Set<string>(SETTINGS);
  const made: string[] = [];
  for (const part of built.output) {
    if (part.type !== 'chunk') throw new RangeError(`Cannot bundle "${part.fileName}": no program`);
    for (const id of part.moduleIds) for (const path of ownSource(id)) sources.add(path);
    [...part.imports, ...part.dynamicImports].forEach(refuseForeign);
    made.push(store(part.fileName, part.code));
  }
  for (const path of sources) refuseOwnPlace(path);
  const notes = [...sources, ...made].sort().map((path) => [path, digestOf(path)]);
  store(join(PARTS, 'sources.json'), `${JSON.stringify(Object.fromEntries(notes), null, 1)}\n`);
}

function isPackage(id: string): boolean {
  return !/^[./\0]/.test(id) && !isBuiltin(id);
}

/** A file of this repository by its path in it; what is installed follows from the lockfile. */
function ownSource(id: string): string[] {
  const path = relative('.', id.split('?')[0] ?? '');
  return path.startsWith('..') || path.includes('node_modules') || !existsSync(path) ? [] : [path];
}

/** The bundler imports helpers of its own for syntax that it rewrites, such as a template with an end tag of a script. */
function refuseForeign(id: string): void {
  const isInstalled = DEPENDENCIES.some((name) => id === name || id.startsWith(`${name}/`));
  if (isInstalled || isBuiltin(id) || id.startsWith(`${PARTS}/`) || id === 'bundle.js') return;
  throw new RangeError(`Cannot bundle the gatekeeper: it would import "${id}", which users lack`);
}

/** A source that looks for files beside itself finds them from the bundle only if it stands beside that. */
function refuseOwnPlace(path: string): void {
  if (dirname(path) === dirname(SOURCE) || !path.endsWith('.ts') || SETTINGS.includes(path)) return;
  if (!readFileSync(path, 'utf8').includes('import.meta')) return;
  throw new RangeError(
    `Cannot bundle "${path}": it uses import.meta, which names the bundle there; pass it the path from ${SOURCE}`,
  );
}

function store(name: string, text: string): string {
  const path = join(OUTPUT, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
}
