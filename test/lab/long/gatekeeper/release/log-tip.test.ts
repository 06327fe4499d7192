import { hash } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openNote } from '../../../../../compiler/contract/checkpoint.ts';
import { completeLevels, leafHash, rangeHash } from '../../../../../compiler/contract/merkle.ts';
import { RELEASE_PROOF_NAME } from '../../../../../compiler/contract/release-leaf.ts';
import {
  decodeBundle,
  logEntry,
  TILE_WIDTH,
  tilePath,
  tilesOf,
} from '../../../../../compiler/contract/tiles.ts';
import { isLeafProven, parseTlogProof } from '../../../../../compiler/contract/tlog-proof.ts';
import { respond } from '../../../../../gatekeeper/answers/respond.ts';
import type { Service } from '../../../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../../../gatekeeper/http/cost.ts';
import { headerFacts } from '../../../../../gatekeeper/http/header-facts.ts';
import { leafProof } from '../../../../../gatekeeper/rooms/proven.ts';
import { compiledService } from '../../../../gatekeeper/tiny-service.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { headHash } from '../../../../verify/resign.ts';

const NOW = '2026-11-20T12:30:00Z';
const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');

afterAll(removeFolders);

/** A shop with so many readings, in a data folder of its own. */
async function shopOf(readings: number, data = join(makeFolder(), 'data')) {
  const rows = Array.from({ length: readings }, (_, at) =>
    reading(`coin-${at}`, { price_usd: at + 1 }),
  );
  const snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) });
  const { release } = await compileFolder(snapshots, { data });
  return { data, release, snapshots, service: await compiledService(data, NOW) };
}

async function ask(service: Service, target: string, method = 'GET') {
  const facts = headerFacts([]);
  const readBody = async () => Buffer.alloc(0);
  const request = { method, target, facts, spend: FOR_EVERYBODY, readBody };
  const { reply, etag } = await respond(request, service);
  const header = (name: string) => reply.headers.find(([each]) => each === name)?.[1];
  return { status: reply.status, body: Buffer.from(reply.body), etag, header };
}

async function textOf(service: Service, target: string): Promise<string> {
  const { status, body } = await ask(service, target);
  expect([target, status]).toEqual([target, 200]);
  return body.toString('utf8');
}

/** What `/log/checkpoint` states, and the entries of that tree as the bundles give them. */
async function servedLog(service: Service) {
  const note = await textOf(service, '/log/checkpoint');
  const checkpoint = openNote(note)?.checkpoint ?? null;
  if (checkpoint === null) throw new Error('no checkpoint');
  const entries: string[] = [];
  for (const tile of tilesOf(checkpoint.size)) {
    const { status, body, header } = await ask(service, `/${tilePath(tile)}`);
    expect([tilePath(tile), status]).toEqual([tilePath(tile), 200]);
    expect(header('cache-control')).toContain('immutable');
    if (tile.level === 'entries') entries.push(...decodeBundle(body));
  }
  return { ...checkpoint, note, entries };
}

/** So many readings that the log has a size before the head comes in. */
async function readingsFor(size: number): Promise<number> {
  const { release } = await shopOf(3);
  return 3 + size - (release.log_index ?? 0);
}

describe('the log that strangers see', () => {
  it.each([TILE_WIDTH - 2, TILE_WIDTH - 1, TILE_WIDTH, TILE_WIDTH + 1])(
    'ends in the head of the release, with all of its tiles, behind %d entries',
    async (size) => {
      const { service, release } = await shopOf(await readingsFor(size));
      expect(release.log_index).toBe(size);
      const log = await servedLog(service);
      expect([log.size, log.entries.length]).toEqual([size + 1, size + 1]);
      expect(log.entries.at(-1)).toBe(headHash(release));
      const leaves = log.entries.map((entry) => leafHash(logEntry(entry), sha256));
      const levels = completeLevels(leaves, sha256);
      expect(Uint8Array.from(rangeHash({ start: 0, end: size + 1 }, levels, sha256))).toEqual(
        Uint8Array.from(log.root),
      );
      for (const tile of tilesOf(size + 1)) {
        if (tile.level === 'entries') continue;
        const { body } = await ask(service, `/${tilePath(tile)}`);
        const start = tile.index * TILE_WIDTH;
        const want = levels[8 * tile.level]?.slice(start, start + tile.width) ?? [];
        expect(body).toEqual(Buffer.concat(want));
      }
      for (const tile of tilesOf(size)) {
        expect((await ask(service, `/${tilePath(tile)}`)).status).toBe(200);
      }
      expect((await ask(service, `/${tilePath({ level: 0, index: 9, width: 9 })}`)).status).toBe(
        404,
      );
    },
  );

  it('proves every entry, the head too, against the newest checkpoint', async () => {
    const { service, release } = await shopOf(await readingsFor(TILE_WIDTH - 1));
    const { entries, note } = await servedLog(service);
    const reader = { release: service.release, spend: FOR_EVERYBODY };
    for (const [at, entry] of entries.entries()) {
      if (at % 7 > 0 && entry !== headHash(release)) continue;
      const proof = parseTlogProof((await leafProof(entry, reader)) ?? '');
      expect([proof.index, proof.checkpoint]).toEqual([at, note]);
      expect(isLeafProven(proof, leafHash(logEntry(entry), sha256), sha256)).toBe(true);
      expect(
        isLeafProven(
          proof,
          leafHash(
            logEntry(`${entry.slice(0, -1)}x`.replace(/x$/, entry.endsWith('0') ? '1' : '0')),
            sha256,
          ),
          sha256,
        ),
      ).toBe(false);
    }
  });

  it('gives the proof of the head, and answers look-ups of it', async () => {
    const { service, release, data } = await shopOf(3);
    const url = '/.well-known/release.tlog-proof';
    const proof = await textOf(service, url);
    expect(proof).toBe(readFileSync(join(data, 'current', RELEASE_PROOF_NAME), 'utf8'));
    expect((await ask(service, url, 'POST')).status).toBe(405);
    const own = headHash(release);
    const answer = JSON.parse(await textOf(service, `/proof/${own}`));
    expect(answer).toMatchObject({
      found: true,
      kind: 'release',
      record_status: { state: 'current' },
      inclusion: { index: release.log_index, size: (release.log_index ?? 0) + 1 },
      anchor: { ots_state: 'unstamped' },
    });
    const list = JSON.parse(await textOf(service, '/gauge/anchor'));
    expect(list.log).toMatchObject({ size: (release.log_index ?? 0) + 1 });
    expect(JSON.parse(await textOf(service, `/gauge/verify?hash=${own}`))).toMatchObject({
      found: true,
      record_status: { state: 'current' },
      statement: expect.stringContaining('the signed head of 000001-'),
    });
    const other = `sha256:${'0'.repeat(64)}`;
    expect(JSON.parse(await textOf(service, `/proof/${other}`)).found).toBe(false);
  });

  it('goes on in the next release, whose listed tiles are those that were made here', async () => {
    const { data, service, release, snapshots } = await shopOf(3);
    const first = await servedLog(service);
    const paths = tilesOf(first.size).map(tilePath);
    const before = await Promise.all(
      paths.map(async (path) => (await ask(service, `/${path}`)).body),
    );
    await compileFolder(snapshots, { data, asOf: '2026-11-20T15:00:00Z' });
    const next = await compiledService(data, NOW);
    for (const [at, path] of paths.entries()) {
      expect((await ask(next, `/${path}`)).body).toEqual(before[at]);
    }
    expect((await servedLog(next)).entries.slice(0, first.size)).toEqual(first.entries);
    const answer = JSON.parse(await textOf(next, `/proof/${headHash(release)}`));
    expect(answer).toMatchObject({ kind: 'release', record_status: { state: 'superseded' } });
  });
});

describe('the proof of a release', () => {
  const witness = (byte: number): string =>
    `\u2014 witness.example/${byte} ${Buffer.alloc(76, byte).toString('base64')}\n`;
  const proofIn = (data: string): string =>
    join(realpathSync(join(data, 'current')), RELEASE_PROOF_NAME);
  let steadyMs = 0;
  const now = (): number => steadyMs;
  /** What is served once a proof is no longer taken to be the newest, and was read again. */
  const later = async (service: Service): Promise<string> => {
    steadyMs += 61_000;
    await ask(service, '/log/checkpoint');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return textOf(service, '/log/checkpoint');
  };

  it('is taken up with more signatures without a restart, and never with fewer', async () => {
    const { data } = await shopOf(3);
    const service = await compiledService(data, NOW, { now });
    const good = readFileSync(proofIn(data), 'utf8');
    const note = await textOf(service, '/log/checkpoint');
    writeFileSync(proofIn(data), good + witness(1));
    expect(await textOf(service, '/log/checkpoint')).toBe(note);
    expect(await later(service)).toBe(note + witness(1));
    for (const worse of [good, good + witness(2), 'torn', good.replace('index 4', 'index 3')]) {
      writeFileSync(proofIn(data), worse);
      expect(await later(service)).toBe(note + witness(1));
    }
    writeFileSync(proofIn(data), good + witness(1) + witness(2));
    expect(await later(service)).toBe(note + witness(1) + witness(2));
  });

  it('is taken without its witnesses where somebody added lines without end', async () => {
    const { data, service } = await shopOf(3);
    const good = readFileSync(proofIn(data), 'utf8');
    const note = await textOf(service, '/log/checkpoint');
    const many = Array.from({ length: 90 }, (_, at) => witness(at)).join('');
    writeFileSync(proofIn(data), good + many);
    expect(await textOf(await compiledService(data, NOW), '/log/checkpoint')).toBe(note + many);
    const long = `\u2014 witness.example/long ${Buffer.alloc(12_900, 7).toString('base64')}\n`;
    writeFileSync(proofIn(data), good + long);
    expect(await textOf(await compiledService(data, NOW), '/log/checkpoint')).toBe(note);
  });

  it('is not served when it is damaged or gone, and the rest of the log is', async () => {
    const { data, service } = await shopOf(3);
    const good = readFileSync(proofIn(data), 'utf8');
    for (const bad of ['', good.replace('\n\n', '\n'), good.replace(/A(?=[^\n]*\n$)/, 'B')]) {
      writeFileSync(proofIn(data), bad === good ? '' : bad);
      const broken = await compiledService(data, NOW);
      expect((await ask(broken, '/log/checkpoint')).status).toBeGreaterThanOrEqual(500);
      expect((await ask(broken, '/.well-known/release.tlog-proof')).status).toBeGreaterThanOrEqual(
        500,
      );
      expect((await ask(broken, '/log/vkey')).status).toBe(200);
    }
    writeFileSync(proofIn(data), good);
    expect((await ask(await compiledService(data, NOW), '/log/checkpoint')).status).toBe(200);
    expect((await ask(service, '/log/checkpoint')).status).toBe(200);
  });
});
