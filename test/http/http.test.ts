import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loggedRelease } from '../gatekeeper/logged-service.ts';
import { type TinyGate, tinyGate } from '../gatekeeper/tiny-gate.ts';
import { runScript } from './run-script.ts';

const FOLDER = import.meta.dirname;

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate({ release: loggedRelease() });
});
afterAll(async () => {
  await gate.close();
});

describe('request scripts', () => {
  it.each(readdirSync(FOLDER).filter((name) => name.endsWith('.txt')))('%s', async (name) => {
    const checks = await runScript(readFileSync(join(FOLDER, name), 'utf8'), gate.url);
    expect(checks).toBeGreaterThan(5);
  });

  it('runScript() fails for a check that does not hold, and for a line that it cannot read', async () => {
    await expect(runScript('GET /gauge\ncode == 200', gate.url)).rejects.toThrow(/line 2/);
    await expect(runScript('GET /gauge\ncode 402', gate.url)).rejects.toThrow(/Cannot read line 2/);
  });

  it('I42: runScript() sends bytes as they are written, and counts their answers', async () => {
    const bytes = 'SEND GET /gauge/sample HTTP/1.1\\r\\nHost: gate\\r\\n\\r\\n';
    expect(await runScript(`${bytes}\ncodes == 200`, gate.url)).toBe(1);
    await expect(runScript(`${bytes}\ncodes == 400`, gate.url)).rejects.toThrow(/line 2/);
    await expect(runScript(`${bytes}\ncodes == 200 200`, gate.url)).rejects.toThrow(/line 2/);
  });
});
