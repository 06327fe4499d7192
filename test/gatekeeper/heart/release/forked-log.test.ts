import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openNote } from '../../../../compiler/format/checkpoint.ts';
import { adoptLog } from '../../../../compiler/publish/mirror/keep-command.ts';
import { issuerDid, signingKey } from '../../../../compiler/system/sealer.ts';
import type { Gatekeeper } from '../../../../gatekeeper/start.ts';
import { sampleGate } from '../../../gate.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  SEED,
  spotPrices,
  writeSnapshots,
} from '../../../snapshot-folder.ts';

const COPY = { recursive: true, verbatimSymlinks: true } as const;
const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;
const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
const compiled = (data: string, hour: number) => compileFolder(snapshots, { data, asOf: at(hour) });

/** A shop after its first release and after its second, and a fork of three releases. */
const [first, second, fork] = ['first', 'second', 'fork'].map((name) => join(makeFolder(), name));
beforeAll(async () => {
  await compiled(`${first}`, 12);
  for (const folder of [second, fork]) cpSync(`${first}`, `${folder}`, COPY);
  await compiled(`${second}`, 13);
  await compiled(`${fork}`, 14);
  await compiled(`${fork}`, 15);
});

const gates: Gatekeeper[] = [];
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
});
afterAll(removeFolders);

/** A gatekeeper of a copy of a folder, and what it says of releases. */
async function gateOf(folder: string, state = mkdtempSync(join(tmpdir(), 'signalpress-state-'))) {
  const data = join(makeFolder(), 'data');
  cpSync(folder, data, COPY);
  const said: Readonly<Record<string, unknown>>[] = [];
  const settings = { state };
  const gate = await sampleGate(data, { settings, log: (entry) => void said.push(entry) });
  gates.push(gate);
  return {
    gate,
    data,
    state,
    /** Puts the bytes of another folder in the place of its own. */
    async replaceBy(other: string) {
      rmSync(data, { recursive: true });
      cpSync(other, data, COPY);
      await gate.checkRelease();
    },
    refusals: () =>
      said.flatMap(({ event, error }) => (event === 'release_refused' ? [error] : [])),
    /** Size of the log and sequence of the release that clients get. */
    async served() {
      const note = await (await fetch(`${gate.url}/log/checkpoint`)).text();
      const head = await (await fetch(`${gate.url}/.well-known/release.json`)).json();
      return [openNote(note)?.checkpoint.size, (head as { sequence: number }).sequence];
    },
  };
}

const noteOf = (state: string) =>
  JSON.parse(readFileSync(join(state, 'newest-release.json'), 'utf8'));

describe('a gatekeeper and a log that forks', () => {
  it('I65: serves on what it has, at a running service and at a start, whatever its number', async () => {
    const shop = await gateOf(`${second}`);
    expect(await shop.served()).toEqual([2, 2]);
    expect(noteOf(shop.state)).toMatchObject({ sequence: 2, log: { size: 2 } });
    await shop.replaceBy(`${fork}`);
    expect(shop.refusals()).toEqual([
      expect.stringContaining('its log is a fork: it has other entries than the 2'),
    ]);
    expect((await shop.served())[1]).toBe(2);
    const again = gateOf(`${fork}`, shop.state);
    await expect(again).rejects.toThrow('signalpress adopt');
    // The state that remembers is lost: nobody here can tell any more.
    expect(await (await gateOf(`${fork}`)).served()).toEqual([3, 3]);
  });

  it('I65: takes what goes on from the served log, also made in a folder that had lost it', async () => {
    const shop = await gateOf(`${second}`);
    const lost = join(makeFolder(), 'data');
    const issuers = [issuerDid(signingKey(SEED))];
    await adoptLog({ from: shop.gate.url, data: lost, issuers, fetch });
    await compiled(lost, 16);
    await shop.replaceBy(lost);
    expect([await shop.served(), shop.refusals()]).toEqual([[3, 3], []]);
    expect(noteOf(shop.state)).toMatchObject({ sequence: 3, log: { size: 3 } });
    await expect(gateOf(`${second}`, shop.state)).rejects.toThrow('older than release 3');
  });

  it('I65: a release that was served is served again while its log cannot be read, and no other', async () => {
    const shop = await gateOf(`${second}`);
    const bare = join(makeFolder(), 'bare');
    const next = join(makeFolder(), 'next');
    for (const folder of [bare, next]) cpSync(`${second}`, folder, COPY);
    rmSync(join(bare, 'log/tile'), { recursive: true });
    const { gate } = await gateOf(bare, shop.state);
    expect((await fetch(`${gate.url}/.well-known/release.json`)).status).toBe(200);
    expect(noteOf(shop.state)).toMatchObject({ log: { size: 2 } });
    await compiled(next, 16);
    rmSync(join(next, 'log/tile'), { recursive: true });
    await shop.replaceBy(next);
    expect(shop.refusals()).toEqual([expect.stringContaining('its log cannot be read')]);
  });
});
