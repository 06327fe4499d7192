import { readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { isBuilt, noteBuilt, ownSource, store } from './bundle-notes.ts';

// Bundles both programs into few files beside what TypeScript wrote: Node spends more time on finding and opening four
// hundred modules than on running them. `signalpress-gate.ts` and `signalpress.ts` start the bundle where there is one.
// What is loaded on demand stays in files of its own. Does nothing when no source has changed since.

interface Program {
  /** Where the bundle is written, below build/. */
  readonly output: string;
  /** Folder below it of what is loaded on demand; emptied before each bundle. */
  readonly parts: string;
  /** Source by name in the bundle: the program, and the threads that it starts. */
  readonly sources: Readonly<Record<string, string>>;
  /** Sources that look for files beside themselves, and find them from the bundle too, but not from its folder of parts. */
  readonly placed: readonly string[];
  /** Packages that stay where npm put them, since few starts load them. */
  readonly apart: readonly string[];
  /** What so many commands and threads load lies in one file; undefined for files as small as can be. */
  readonly shared?: number;
}

const GATEKEEPER: Program = {
  output: 'build/gatekeeper',
  parts: 'bundle-parts',
  sources: {
    bundle: 'gatekeeper/main.ts',
    'signature-worker': 'gatekeeper/heart/payment/signature-worker.ts',
  },
  placed: ['gatekeeper/main.ts', 'gatekeeper/start.ts'],
  apart: [],
};

/** All files lie in one folder, so that whoever starts a thread finds it beside itself. */
const COMPILER: Program = {
  output: 'build/compiler/bundle',
  parts: '',
  sources: {
    cli: 'compiler/cli/cli.ts',
    'signal-worker': 'compiler/publish/assemble/signal-worker.ts',
    'verify-worker': 'compiler/verify/verify-worker.ts',
  },
  placed: [
    'compiler/system/package-folder.ts',
    'compiler/publish/assemble/job-runner.ts',
    'compiler/verify/verify-pool.ts',
  ],
  apart: ['undici'],
  shared: 5,
};

/** What a start needs before it knows the command: not with what the commands share. */
const START = {
  name: 'start',
  test: /compiler\/system\/(package-folder|plain-file|error-text)/,
  priority: 1,
};

/** What else a bundle follows from. */
const SETTINGS = ['package-lock.json', 'scripts/bundle-programs.ts'];
/** Packages that become part of it, with what they need; any other stays where npm put it. */
const PACKAGES =
  /^(abitype|anynum|commander|csv-parse|d3-[a-z-]+|fast-json-stable-stringify|fast-xml-\w+|hash-wasm|internmap|is-unsafe|isows|minisearch|ox|path-expression-matcher|strnum|undici|viem|xml-naming|zod|@noble\/\w+|@nodable\/\w+|@scure\/\w+)(\/|$)/;

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const DEPENDENCIES = Object.keys(dependencies);

for (const program of [GATEKEEPER, COMPILER]) {
  if (!isBuilt(notesOf(program))) await bundle(program);
}

function notesOf({ output, parts }: Program): string {
  return join(output, parts, 'sources.json');
}

async function bundle(program: Program): Promise<void> {
  rmSync(join(program.output, program.parts), { recursive: true, force: true });
  // Only when there is something to bundle: reading the bundler takes longer than looking.
  const { build } = await import('vite');
  const input = Object.entries(program.sources).map(([name, path]) => [name, resolve(path)]);
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
        input: Object.fromEntries(input),
        external: (id) =>
          !/^[./\0]/.test(id) &&
          !isBuiltin(id) &&
          (program.apart.includes(id) || !PACKAGES.test(id)),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: join(program.parts, '[name]-[hash].js'),
          ...(program.shared === undefined ? {} : { codeSplitting: splitBy(program.shared) }),
        },
      },
    },
  });
  if (!('output' in built)) throw new RangeError('Cannot bundle: the bundler watches');
  const chunks = built.output.map((part) => {
    if (part.type === 'chunk') return part;
    throw new RangeError(`Cannot bundle "${part.fileName}": no program`);
  });
  const names = new Set(chunks.map(({ fileName }) => fileName));
  const imported = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  for (const id of imported) {
    const isInstalled = DEPENDENCIES.some((name) => id === name || id.startsWith(`${name}/`));
    if (names.has(id) || isInstalled || isBuiltin(id)) continue;
    throw new RangeError(`Cannot bundle: a program would import "${id}", which users lack`);
  }
  const sources = chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(ownSource));
  const below = chunks.filter(({ fileName }) => fileName.includes('/'));
  below.flatMap(({ moduleIds }) => moduleIds.flatMap(ownSource)).forEach(refuseOwnPlace);
  sources.filter((path) => !program.placed.includes(path)).forEach(refuseOwnPlace);
  const made = chunks.map(({ fileName, code }) => store(join(program.output, fileName), code));
  noteBuilt(notesOf(program), [], [...SETTINGS, ...sources, ...made]);
}

function splitBy(minShareCount: number) {
  return { groups: [START, { name: 'shared', minShareCount }] };
}

/** A source that looks for files beside itself finds others beside the bundle. */
function refuseOwnPlace(path: string): void {
  if (!path.endsWith('.ts')) return;
  if (!readFileSync(path, 'utf8').includes('import.meta')) return;
  throw new RangeError(
    `Cannot bundle "${path}": it uses import.meta, which names the bundle there; pass it the path from the program`,
  );
}
