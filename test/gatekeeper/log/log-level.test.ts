import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { levelOf } from '../../../gatekeeper/log/log-level.ts';

describe('levelOf()', () => {
  it.each([
    [{ status: 200 }, 'info'],
    [{ status: 402 }, 'info'],
    [{ status: 499 }, 'info'],
    [{ status: 500 }, 'warn'],
    [{ event: 'started' }, 'info'],
    [{ event: 'payment_failed' }, 'error'],
    [{ event: 'no_verdict' }, 'warn'],
    [{ event: 'an event that nobody has thought of' }, 'warn'],
    [{ event: 'payment_failed', status: 200 }, 'error'],
  ])('of %j is %s', (entry, level) => {
    expect(levelOf(entry)).toBe(level);
  });

  it('names only events that are logged somewhere', () => {
    const root = join(import.meta.dirname, '../../../gatekeeper');
    const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('log-level.ts'))
      .map((path) => readFileSync(join(root, path), 'utf8'))
      .join('\n');
    const table = readFileSync(join(root, 'log/log-level.ts'), 'utf8');
    const named = [...table.matchAll(/^ {2}'([a-z_]+)',$/gm)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !sources.includes(`event: '${name}'`))).toEqual([]);
  });
});
