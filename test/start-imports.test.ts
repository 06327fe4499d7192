import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** What a program loads before its first line runs: `import … from`, without types and without `import()`. */
const LOADED = /^(?:import|export) (?!type\b)(?:[^'"]*? from )?'([^']+)';$/gms;

/** Names of the packages that a source file loads, itself or by others. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return new Set();
  seen.add(file);
  const names = [...readFileSync(file, 'utf8').matchAll(LOADED)].map(([, name = '']) => name);
  return new Set(
    names.flatMap((name) =>
      name.startsWith('.') ? [...packagesOf(join(dirname(file), name), seen)] : [name],
    ),
  );
}

const cli = join(import.meta.dirname, '../compiler/cli/cli.ts');

describe('the start of signalpress', () => {
  it('loads commander and nothing else of npm', () => {
    const packages = [...packagesOf(cli)].filter((name) => !name.startsWith('node:'));
    expect(packages).toEqual(['commander']);
  });

  it('loads no HTTP client for a compile or a verification', () => {
    for (const command of ['compile', 'verify']) {
      const packages = packagesOf(join(dirname(cli), `${command}-cli.ts`));
      expect([...packages]).toEqual(expect.arrayContaining(['zod', 'node:crypto']));
      expect(packages).not.toContain('undici');
      expect(packages).not.toContain('viem');
    }
  });

  it('is read as it is loaded: the client of agencies does load undici', () => {
    expect(packagesOf(join(dirname(cli), '../sources/fetch/agency-client.ts'))).toContain('undici');
  });
});
