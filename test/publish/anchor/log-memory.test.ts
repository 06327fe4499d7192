import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { logMemoryOf } from '../../../compiler/cli/compile-options.ts';
import { checkpointText } from '../../../compiler/format/checkpoint.ts';
import { openLogMemory } from '../../../compiler/publish/anchor/log-memory.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { memoryStore } from '../log/memory-store.ts';

const stores: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
afterAll(removeFolders);

const logOf = (size: number, fill = size) => ({
  origin: 'example.org/log',
  size,
  root: new Uint8Array(32).fill(fill),
});
async function newStore(options: Parameters<typeof memoryStore>[0] = {}) {
  const store = await memoryStore(options);
  stores.push(store);
  const open = (auth: string | null = null, place = store.url) =>
    openLogMemory({ place, data: 'data', auth, fetch });
  return { store, open };
}

describe('openLogMemory()', () => {
  it('I65: a store with If-Match swaps what is expected, once, and nothing else', async () => {
    const { store, open } = await newStore();
    const memory = open();
    expect(await memory.read()).toBeNull();
    expect(await memory.swap(logOf(1), logOf(2))).toBe(false);
    expect(await memory.swap(null, logOf(1))).toBe(true);
    expect(store.text()).toBe(checkpointText(logOf(1)));
    // An answer that was lost is asked for again.
    expect(await memory.swap(null, logOf(1))).toBe(true);
    expect(await memory.swap(null, logOf(1, 9))).toBe(false);
    expect(await memory.swap(logOf(1), logOf(2))).toBe(true);
    expect(await memory.read()).toEqual(logOf(2));
    expect(store.puts).toEqual([200, 200]);
  });

  it('I65: of two that look at once and write, the store lets one go on', async () => {
    const { store, open } = await newStore();
    const ends = await Promise.all([open().swap(null, logOf(1)), open().swap(null, logOf(1, 2))]);
    expect(ends.sort()).toEqual([false, true]);
    expect(store.puts).toContain(200);
  });

  it('sends its header to the store, and tells one that is refused or gives no strong tag', async () => {
    const { store, open } = await newStore({ auth: 'Bearer word' });
    store.hold(checkpointText(logOf(3)));
    expect(await open('Authorization: Bearer word').read()).toEqual(logOf(3));
    await expect(open().read()).rejects.toThrow('answered 401');
    const weak = await newStore({ isWeak: true });
    weak.store.hold(checkpointText(logOf(3)));
    await expect(weak.open().read()).rejects.toThrow('no strong ETag');
    store.hold('something else\n');
    await expect(open('Authorization: Bearer word').read()).rejects.toThrow('not the checkpoint');
  });

  it('reads what is published, and writes nothing there', async () => {
    const { store, open } = await newStore();
    const memory = open(null, store.url.replace('/memory', '/log/checkpoint'));
    expect(await memory.swap(null, logOf(1))).toBe(true);
    store.hold(checkpointText(logOf(2)));
    expect(await memory.read()).toEqual(logOf(2));
    expect(await memory.swap(null, logOf(1))).toBe(false);
    expect(store.puts).toEqual([]);
  });

  it('keeps a file elsewhere, and refuses one that would be restored with the data', async () => {
    const data = join(makeFolder(), 'data');
    const path = join(makeFolder(), 'memory/log');
    const memory = logMemoryOf({ data }, (name) =>
      name === 'SIGNALPRESS_LOG_MEMORY' ? path : undefined,
    );
    expect(await memory?.read()).toBeNull();
    expect(await memory?.swap(null, logOf(1))).toBe(true);
    expect(await memory?.swap(null, logOf(2))).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe(checkpointText(logOf(1)));
    const within = () =>
      logMemoryOf({ data, logMemory: join(data, 'log-memory') }, () => undefined);
    expect(within).toThrow('it would be lost and restored with');
    const withAuth = (auth: string) => () =>
      logMemoryOf({ data, logMemory: 'https://store.example/log' }, (name) =>
        name === 'SIGNALPRESS_LOG_MEMORY_AUTH' ? auth : undefined,
      );
    expect(withAuth('Authorization: Bearer token')()?.name).toBe('https://store.example/log');
    expect(withAuth('secret')).toThrow(/^Cannot use SIGNALPRESS_LOG_MEMORY_AUTH: not one header/);
    expect(logMemoryOf({ data, logMemory: false }, () => path)).toBeNull();
    expect(logMemoryOf({ data }, () => undefined)).toBeNull();
  });

  it.each([
    'http://example.org/memory',
    'ftp://example.org/memory',
    'https://a:b@example.org/memory',
  ])('refuses %s, which is no safe place', (place) => {
    const open = () => openLogMemory({ place, data: 'data', auth: null, fetch });
    expect(open).toThrow('Cannot remember the log at');
  });
});
