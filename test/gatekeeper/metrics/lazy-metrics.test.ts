import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../gatekeeper');
const SOURCES = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
);

/** Files that load a module as soon as they are loaded; types are gone by then. */
function loadersOf(name: string): string[] {
  const loads = new RegExp(`^import (?!type )[^;]*from '[^']*${name}';`, 'm');
  return SOURCES.filter((path) => loads.test(readFileSync(join(ROOT, path), 'utf8')));
}

describe('the library of metrics', () => {
  it('is loaded by nothing that a start without metrics loads', () => {
    expect(loadersOf('prom-client')).toEqual(['metrics/instruments.ts']);
    expect(loadersOf('/instruments.ts')).toEqual(['metrics/open-metrics.ts']);
    expect(loadersOf('/open-metrics.ts')).toEqual([]);
    expect(readFileSync(join(ROOT, 'rooms.ts'), 'utf8')).toContain(
      "() => import('./metrics/open-metrics.ts')",
    );
  });

  it('would be seen where it is loaded', () => {
    expect(loadersOf('/metered.ts')).toContain('payment/open-payment-services.ts');
  });
});
