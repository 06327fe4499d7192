import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { facilitatorAuth } from '../../../gatekeeper/facilitator/remote-facilitator.ts';

const call = { method: 'POST', url: 'https://f.example/settle' } as const;
const folder = mkdtempSync(join(tmpdir(), 'signalpress-auth-'));
let modules = 0;

function moduleOf(text: string): string {
  modules += 1;
  const path = join(folder, `auth-${modules}.mjs`);
  writeFileSync(path, text);
  return path;
}
const made = async (text: string) => {
  const auth = await facilitatorAuth({ header: null, module: moduleOf(text) });
  return auth?.(call);
};

describe('facilitatorAuth()', () => {
  it('facilitatorAuth() sends nothing where nothing is set', async () => {
    expect(await facilitatorAuth({ header: null, module: null })).toBeUndefined();
  });

  it('facilitatorAuth() sends one fixed header', async () => {
    const auth = await facilitatorAuth({ header: 'X-Api-Key:  a b:c', module: null });
    expect(await auth?.(call)).toEqual({ 'X-Api-Key': 'a b:c' });
  });

  it('facilitatorAuth() asks a module for each call', async () => {
    const text = 'export async function authHeaders({method,url}) { return { a: method + url } }';
    expect(await made(text)).toEqual({ a: 'POSThttps://f.example/settle' });
  });

  it('facilitatorAuth() takes from a module only headers', async () => {
    for (const value of ["{ a: 'b\\r\\nc: d' }", "{ 'a b': 'c' }", '{ a: 1 }', 'null']) {
      const text = `export const authHeaders = () => (${value})`;
      await expect(made(text), value).rejects.toThrow();
    }
  });

  it('facilitatorAuth() starts with no module that does not load or exports nothing of use', async () => {
    await expect(made('syntax error')).rejects.toThrow(/does not load/);
    await expect(made('export const other = 1')).rejects.toThrow(/no function "authHeaders"/);
  });
});
