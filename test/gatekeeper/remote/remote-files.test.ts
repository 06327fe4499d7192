import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { DamagedFileError, UnreachableFileError } from '../../../gatekeeper/release/read-body.ts';
import { DiskCache, FETCHES_MAX, RemoteFiles } from '../../../gatekeeper/remote/remote-files.ts';
import {
  HostError,
  type HostFile,
  type HostRequest,
} from '../../../gatekeeper/remote/static-host.ts';

const bytesOf = (at: number): Buffer => Buffer.from(`file ${at} ${'x'.repeat(32_000)}`);
const entryOf = (at: number) => ({
  path: `free/${at}.json`,
  size: bytesOf(at).length,
  sha256: createHash('sha256').update(bytesOf(at)).digest('hex'),
});

/** Files behind a host that answers as a test says. */
function filesOver(get: (request: HostRequest) => Promise<HostFile | null>) {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const logged: Readonly<Record<string, unknown>>[] = [];
  const log = (entry: Readonly<Record<string, unknown>>) => logged.push(entry);
  const cache = new DiskCache({ folder, bytesMax: 1e8, clock: () => 1e12, log });
  const outage: { since: string | null } = { since: null };
  const asked: string[] = [];
  let suspected = 0;
  const host = {
    get(request: HostRequest) {
      asked.push(request.path);
      return get(request);
    },
    close: async () => undefined,
  };
  const suspect = () => {
    suspected += 1;
  };
  const files = new RemoteFiles({ host, cache, outage, suspect, log });
  return { files, cache, outage, asked, logged, suspected: () => suspected };
}

const gives = async ({ path }: HostRequest): Promise<HostFile> => ({
  bytes: bytesOf(Number(/\d+/.exec(path)?.[0])),
  etag: null,
});

describe('RemoteFiles', () => {
  it('charges a read, and a fetch and its bytes beside it only where one is needed', async () => {
    const { files, asked } = filesOver(gives);
    const spent: number[] = [];
    const spend = (units: number): void => void spent.push(units);
    expect(await files.body(entryOf(1), spend)).toEqual(bytesOf(1));
    expect(spent).toEqual([4, 20 + entryOf(1).size / 16_384]);
    expect(await files.body(entryOf(1), spend)).toEqual(bytesOf(1));
    expect(spent.slice(2)).toEqual([4]);
    expect(asked).toHaveLength(1);
  });

  it('fetches 16 at once, lets 256 wait, and refuses more at once', async () => {
    let [running, most] = [0, 0];
    const ends: (() => void)[] = [];
    const { files, asked } = filesOver(async (request) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((done) => ends.push(done));
      running -= 1;
      return gives(request);
    });
    let refusals = 0;
    const asking = Array.from({ length: 400 }, (_, at) =>
      files.body(entryOf(at), FOR_EVERYBODY).then(
        () => 'given',
        (error: unknown) => {
          refusals += 1;
          return error;
        },
      ),
    );
    // Nobody is served before all have come.
    while (refusals < 400 - FETCHES_MAX - 256) await new Promise((done) => setTimeout(done, 5));
    const pump = setInterval(() => ends.shift()?.(), 1);
    const outcomes = await Promise.all(asking);
    clearInterval(pump);
    expect([most, asked.length]).toEqual([FETCHES_MAX, FETCHES_MAX + 256]);
    const refused = outcomes.filter((one) => one !== 'given');
    expect(refused).toHaveLength(400 - FETCHES_MAX - 256);
    expect(refused.every((one) => one instanceof UnreachableFileError)).toBe(true);
  });

  it('asks nobody while the host is away, and gives what it has', async () => {
    const { files, outage, asked } = filesOver(gives);
    await files.body(entryOf(1), FOR_EVERYBODY);
    outage.since = '2026-01-01T00:00:00Z';
    expect(await files.body(entryOf(1), FOR_EVERYBODY)).toEqual(bytesOf(1));
    await expect(files.body(entryOf(2), FOR_EVERYBODY)).rejects.toThrow(UnreachableFileError);
    expect(await files.bring(entryOf(2))).toBe(false);
    expect(asked).toHaveLength(1);
    outage.since = null;
    expect(await files.body(entryOf(2), FOR_EVERYBODY)).toEqual(bytesOf(2));
  });

  it('I24: suspects the host where nothing came, not where something else did', async () => {
    const silent = filesOver(() => Promise.reject(new HostError('status 503', { isFinal: false })));
    await expect(silent.files.body(entryOf(1), FOR_EVERYBODY)).rejects.toThrow(
      UnreachableFileError,
    );
    expect([silent.suspected(), silent.asked.length]).toEqual([1, 3]);
    const other = filesOver(async () => ({ bytes: bytesOf(9), etag: null }));
    for (let time = 0; time < 5; time += 1) {
      await expect(other.files.body(entryOf(1), FOR_EVERYBODY)).rejects.toThrow(DamagedFileError);
    }
    expect([other.suspected(), other.asked.length]).toEqual([0, 1]);
    expect(other.logged).toHaveLength(1);
    expect(await other.cache.has(entryOf(1))).toBe(false);
  });
});
