import { afterAll, describe, expect, it } from 'vitest';
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
    for (const [command, part] of [
      ['ledger', /\/ledger-command-/],
      ['dashboard', /\/dashboard-command-/],
      ['doctor', /\/doctor-command-/],
    ] as const) {
      const { status, modules } = loaded(command, '--help');
      expect([command, status]).toEqual([command, 0]);
      expect(modules.filter((url) => part.test(url))).toHaveLength(1);
    }
  });
});
