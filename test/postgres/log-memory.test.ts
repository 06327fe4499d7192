import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLogMemory } from '../../compiler/publish/anchor/log-memory.ts';
import { openLog } from '../../compiler/release/log-folder.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());
afterAll(removeFolders);

const open = (place: string) => openLogMemory({ place, data: 'data', auth: null, fetch });
const logOf = (size: number, fill = size) => ({
  origin: 'example.org/log',
  size,
  root: new Uint8Array(32).fill(fill),
});

describe('a log that PostgreSQL remembers', () => {
  it('I65: one of many swaps goes on, the first one and a later one', async () => {
    const url = await server.freshUrl();
    expect(await open(url).read()).toBeNull();
    const fills = [1, 2, 3, 4, 5, 6];
    for (const size of [1, 2]) {
      const expected = await open(url).read();
      const ends = await Promise.all(
        fills.map((fill) => open(url).swap(expected, logOf(size, size * 10 + fill))),
      );
      expect(ends.filter((isTaken) => isTaken)).toHaveLength(1);
      const won = size * 10 + (fills[ends.indexOf(true)] ?? 0);
      expect(await open(url).read()).toEqual(logOf(size, won));
      expect(await open(url).swap(expected, logOf(size, won))).toBe(true);
    }
    expect(open(url).name).not.toContain(new URL(url).password || 'no password');
  });

  it('I65: of two machines that compile at once one signs', async () => {
    const url = await server.freshUrl();
    const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
    const at = (hour: number) => `2026-11-20T${hour}:00:00Z`;
    const compiled = (data: string, hour: number) =>
      compileFolder(snapshots, { data, asOf: at(hour), logMemory: open(url) });
    const [one, other] = [join(makeFolder(), 'data'), join(makeFolder(), 'data')];
    await compiled(one, 12);
    cpSync(one, other, { recursive: true, verbatimSymlinks: true });
    const ends = await Promise.allSettled([compiled(one, 13), compiled(other, 14)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([one, other].map((data) => openLog(data)?.signed.size).sort()).toEqual([1, 2]);
  });

  it('I65: a server that is away is told, without its password, and nothing is signed', async () => {
    const snapshots = writeSnapshots(spotPrices('2026-11-20', 2, 100));
    const logMemory = open('postgres://shop:hunter2@127.0.0.1:1/shop');
    const error = await compileFolder(snapshots, { logMemory }).catch((thrown: Error) => thrown);
    expect(String(error)).toContain('the memory of the log is out of reach');
    expect(String(error)).not.toContain('hunter2');
  });
});
