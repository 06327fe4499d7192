import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../built.ts';
import { loadedModules } from '../loaded-modules.ts';
import { removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const loaded = (...args: readonly string[]) =>
  loadedModules('gatekeeper/signalpress-gate.js', args);

describe('the shipped gatekeeper (needs a build)', () => {
  it('loads few modules at its start, and nothing that only commands or a chain need', () => {
    const { status, modules } = loaded('--version');
    expect(status).toBe(0);
    expect(modules.some((url) => url.endsWith('/build/gatekeeper/bundle.js'))).toBe(true);
    expect(modules.length).toBeLessThan(60);
    expect(modules.filter((url) => /viem|commander|open-chain|-command-/.test(url))).toEqual([]);
  });

  it('loads a command only when that is asked for', () => {
    const { status, modules } = loaded('ledger', '--help');
    expect(status).toBe(0);
    expect(modules.filter((url) => /-command-/.test(url))).toEqual([
      expect.stringMatching(/\/ledger-command-/),
      expect.stringMatching(/\/books-command-/),
    ]);
  });

  it.each(['ledger', 'books', 'dashboard', 'doctor'])(
    'has the %s in a part that it loads on demand',
    (name) => {
      const text = readFileSync(built('gatekeeper/bundle.js'), 'utf8');
      const part = `\\./bundle-parts/${name}-command-[\\w-]+\\.js`;
      expect(text.match(new RegExp(`import\\("${part}"\\)`, 'g'))).toHaveLength(1);
      expect(text.match(new RegExp(part, 'g'))).toHaveLength(1);
    },
  );
});
