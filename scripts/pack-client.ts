import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import { defined } from '../compiler/format/errors.ts';
import { isBuilt, noteBuilt, ownSource, store } from './bundle-notes.ts';
import { offerTypes } from './offer-types.ts';
import { withoutTexts } from './without-texts.ts';

// Writes the folder of `signalpress-client`, which `npm pack` makes a package of: the modules that buyers import, bundled with
// all that they need, and one declaration for each. Rolldown bundles both; the declarations are those that TypeScript
// emits for the same sources, but for `offers.ts`, whose types follow from tables and schemas and are written out.

const OUTPUT = 'build/client-package';
const NOTES = `${OUTPUT}-sources.json`;
/** Source of each module of the package. */
const MODULES = {
  client: 'signalpress-client.ts',
  error: 'client-error.ts',
  verify: 'verify.ts',
  tools: 'shop-tools.ts',
  mcp: 'mcp-server.ts',
  'ai-sdk': 'adapters/ai-sdk.ts',
  langchain: 'adapters/langchain.ts',
  'openai-agents': 'adapters/openai-agents.ts',
};
const SETTINGS = [
  'package-lock.json',
  'package.json',
  'scripts/pack-client.ts',
  'scripts/offer-types.ts',
  'scripts/without-texts.ts',
];
const ZOD_TYPES = 'scripts/zod-types.d.ts';
const README = 'compiler/client/README.md';

if (!isBuilt(NOTES)) await pack();

async function pack(): Promise<void> {
  rmSync(OUTPUT, { recursive: true, force: true });
  const sources = await bundleModules();
  const declarations = await bundleDeclarations();
  const root = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = Object.keys(MODULES).map((name) => [
    name === 'client' ? '.' : `./${name}`,
    { types: `./${name}.d.ts`, default: `./${name}.js` },
  ]);
  const manifest = {
    name: 'signalpress-client',
    version: root.version,
    description: 'Searches, quotes, buys and verifies signed official readings over x402',
    license: root.license,
    type: 'module',
    engines: root.engines,
    sideEffects: false,
    exports: Object.fromEntries(entries),
    peerDependencies: { viem: '^2.0.0' },
    peerDependenciesMeta: { viem: { optional: true } },
  };
  const made = [store(join(OUTPUT, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)];
  for (const file of [README, 'LICENSE']) {
    copyFileSync(file, join(OUTPUT, basename(file)));
    made.push(join(OUTPUT, basename(file)));
  }
  noteBuilt(NOTES, sources, [...SETTINGS, README, ZOD_TYPES, ...declarations, ...made]);
}

async function bundleModules(): Promise<string[]> {
  const { build } = await import('vite');
  const entry = Object.fromEntries(
    Object.entries(MODULES).map(([name, path]) => [name, resolve('compiler/client', path)]),
  );
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [await withoutTexts()],
    build: {
      lib: { entry, formats: ['es'] },
      outDir: OUTPUT,
      target: 'es2023',
      minify: true,
      rolldownOptions: {
        external: /^viem(\/|$)/,
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          minify: true,
          comments: { annotation: false },
        },
      },
    },
  });
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  return outputs.flatMap((part) => {
    if (part.type !== 'chunk') throw new RangeError(`Cannot pack "${part.fileName}": no module`);
    const foreign = part.imports.find((name) => !outputs.some(({ fileName }) => fileName === name));
    if (foreign !== undefined) {
      throw new RangeError(`Cannot pack "${part.fileName}": it imports "${foreign}"`);
    }
    return part.moduleIds.flatMap(ownSource);
  });
}

async function bundleDeclarations(): Promise<string[]> {
  // As Vite resolves it: the plugin needs the same one.
  const { rolldown } = await import(createRequire(import.meta.resolve('vite')).resolve('rolldown'));
  const { dts } = await import('rolldown-plugin-dts');
  const input = Object.fromEntries(
    Object.entries(MODULES).map(([name, path]) => [
      `${name}.d`,
      resolve('build/compiler/client', path.replace(/\.ts$/, '.d.ts')),
    ]),
  );
  const offers = {
    name: 'offers',
    transform: (code: string, id: string) =>
      id.endsWith('build/compiler/client/offers.d.ts')
        ? offerTypes(BUILTIN)
        : code.replace(/from 'zod'/, `from '${resolve(ZOD_TYPES)}'`),
  };
  const bundle = await rolldown({
    input,
    plugins: [offers, dts({ dtsInput: true, emitDtsOnly: true })],
    external: /^[^./]/,
  });
  const { output } = await bundle.write({
    dir: OUTPUT,
    chunkFileNames: '[name]-[hash].d.ts',
    entryFileNames: '[name].ts',
  });
  for (const { fileName, imports = [] } of output) {
    const foreign = imports.find(
      (name: string) => !output.some((one: { fileName: string }) => one.fileName === name),
    );
    if (foreign !== undefined)
      throw new RangeError(`Cannot pack "${fileName}": it names "${foreign}"`);
  }
  return Object.values(input).map((path) => defined(path, 'a declaration'));
}
