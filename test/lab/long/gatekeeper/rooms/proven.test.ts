import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  citationSchema,
  citedTarget,
  withoutProof,
} from '../../../../../compiler/format/citation.ts';
import { defined } from '../../../../../compiler/format/errors.ts';
import { leafHash, verifyInclusion } from '../../../../../compiler/format/merkle.ts';
import { FILES_NAME, parseFiles } from '../../../../../compiler/format/release.ts';
import { type ReleaseEntry, takenLeaf } from '../../../../../compiler/format/release-entry.ts';
import { BLOCKS_PATH } from '../../../../../compiler/format/statement-tree.ts';
import { isObject, type JsonValue } from '../../../../../compiler/format/strict-json.ts';
import { CHECKPOINT_PATH, tilePath } from '../../../../../compiler/format/tiles.ts';
import { isLeafProven, parseTlogProof } from '../../../../../compiler/format/tlog-proof.ts';
import {
  isStatementProven,
  parseProofExtra,
} from '../../../../../compiler/products/shapes/body-proof.ts';
import { storedPath } from '../../../../../compiler/products/shapes/path.ts';
import { bodyOfText } from '../../../../../compiler/products/shapes/series-csv.ts';
import { readPlain } from '../../../../../compiler/system/plain-file.ts';
import { answer } from '../../../../../gatekeeper/heart/answers/answers.ts';
import type { Content, Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import { headHash } from '../../../../../gatekeeper/heart/release/open-release.ts';
import { sha256 } from '../../../../../gatekeeper/heart/release/read-body.ts';
import { proof } from '../../../../../gatekeeper/rooms/proof.ts';
import { proven } from '../../../../../gatekeeper/rooms/proven.ts';
import { SOLD_TARGETS, type SoldShop, soldShop, VARIANT_TARGETS } from '../../../../gate.ts';
import { compiledService, jsonOf, question } from '../../../../gatekeeper/tiny-service.ts';

/** A delivered body taken apart: what its proof states, and whether that leads from its statement to the root of the log. */
function openedProof(delivered: string) {
  const { body, proof } = withoutProof(bodyOfText(delivered));
  const read = parseTlogProof(String(proof));
  const extra = parseProofExtra(read.extra ?? new Uint8Array(0));
  const signed = isObject(body) && isObject(body.sample) ? body.sample : body;
  const citation = citationSchema.parse((signed as { _citation?: JsonValue })._citation);
  const statement = { target: citedTarget(citation) ?? '', statement: citation.record_hash };
  return {
    body,
    read,
    entry: extra.entry,
    isProven:
      isLeafProven(read, leafHash(extra.entryBytes, sha256), sha256) &&
      isStatementProven(extra, statement, sha256),
  };
}

const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const SIGNED_CSV = `/gauge/history-series?entity=us-denver&format=csv-signed&signal_id=airquality.aqi`;

let shop: SoldShop;
beforeAll(async () => {
  shop = await soldShop();
});

async function sold(target: string, service: Service = shop.service): Promise<Buffer> {
  const asked = question(target);
  const answered = await answer(asked, service);
  if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no answer`);
  return (await proven(answered.content, asked, service)).body;
}

const placeSchema = z.looseObject({
  found: z.boolean(),
  inclusion: z
    .looseObject({
      index: z.number(),
      inclusion_proof: z.array(z.string()),
      entry: z.custom<ReleaseEntry>(),
    })
    .nullable(),
});

/** What `/proof` says of a hash. */
async function place(hash: string) {
  return placeSchema.parse(jsonOf(await proof(question(`/proof/${hash}`), shop.service)));
}

describe('what is sold', () => {
  const targets = [...SOLD_TARGETS, ...VARIANT_TARGETS, SIGNED_CSV];

  it('I72: brings a proof of its statement, which holds and changes nothing else of the body', async () => {
    const { head } = shop.service.release;
    const failed: string[] = [];
    for (const target of targets.filter((one) => one !== '/gauge/subscribe')) {
      const plain = (await shop.ask(target)).toString('utf8');
      const text = await sold(target).then(String, () => '');
      if (text === '') {
        failed.push(target);
        continue;
      }
      const { body, entry, isProven } = openedProof(text);
      expect(body, target).toEqual(bodyOfText(plain));
      if (!isProven) failed.push(target);
      expect([entry.sequence, entry.as_of, entry.head]).toEqual([
        head.sequence,
        head.as_of,
        headHash(head),
      ]);
    }
    expect(failed).toEqual([]);
    expect(targets.length).toBeGreaterThan(60);
  });

  it('I72: has no proof that holds for another body, or for another word of this one', async () => {
    const [one, other] = await Promise.all(
      [RECORD, `${RECORD}&format=thin`].map(async (target) =>
        JSON.parse(String(await sold(target))),
      ),
    );
    expect(openedProof(JSON.stringify({ ...one, _proof: other._proof })).isProven).toBe(false);
    const { _citation } = one;
    for (const changed of [
      { record_hash: other._citation.record_hash },
      { source: { ..._citation.source, url: other._citation.source.url } },
    ]) {
      const forged = { ...one, _citation: { ..._citation, ...changed } };
      forged._citation.verify_url = _citation.verify_url.replace(
        _citation.record_hash,
        forged._citation.record_hash,
      );
      expect(openedProof(JSON.stringify(forged)).isProven).toBe(false);
    }
  });

  it('I72: names no reading or row that has no place in the log, as far back as a series goes', async () => {
    const [, wrong] = await Promise.all([sold(RECORD), place(`sha256:${'0'.repeat(64)}`)]);
    expect(wrong).toMatchObject({ found: false, inclusion: null });
    const told = targets.filter((target) => /^\/gauge\/history/.test(target));
    const hashes = new Set<string>();
    for (const target of told.filter((one) => !one.includes('format=csv'))) {
      const { _citation, ...body } = JSON.parse(String(await shop.ask(target)));
      for (const [, hash] of JSON.stringify(body).matchAll(
        /"record_hash":"(sha256:[0-9a-f]{64})"/g,
      ))
        hashes.add(String(hash));
    }
    const missing: string[] = [];
    for (const hash of hashes) {
      const { inclusion } = await place(hash);
      const entry = inclusion?.entry;
      const root = Buffer.from(String(entry?.new.root).slice('sha256:'.length), 'hex');
      const path = (inclusion?.inclusion_proof ?? []).map((hex) => Buffer.from(hex, 'hex'));
      const at = { index: inclusion?.index ?? 0, size: entry?.new.count ?? 0 };
      if (!verifyInclusion({ ...at, leaf: takenLeaf(hash, sha256), root, proof: path }, sha256))
        missing.push(hash);
    }
    expect(missing).toEqual([]);
    expect(hashes.size).toBeGreaterThan(6);
  });

  it('is short', async () => {
    const { _proof } = JSON.parse(String(await sold(RECORD)));
    expect(_proof.length).toBeLessThan(2500);
  });

  it('is what it was with proof=0, and a token or a bare table never has one', async () => {
    expect(await sold(`${RECORD}&proof=0`)).toEqual(await shop.ask(RECORD));
    const table = SIGNED_CSV.replace('csv-signed', 'csv');
    expect(await sold(table)).toEqual(await shop.ask(table));
    expect(question('/gauge/subscribe?proof=0').route.target).toBe('/gauge/subscribe');
    expect(question(`${RECORD}&proof=1`).route.target).toBe(question(RECORD).route.target);
    expect(question(`${RECORD}&proof=0`).route.target).toContain('&proof=0');
    expect(question(`${RECORD}&proof=2`).route.fault).toMatchObject({ name: 'proof' });
    expect(
      question('/gauge/sample?signal_id=airquality.aqi&proof=0').route.values,
    ).not.toHaveProperty('proof');
  });

  it('is brought by the record of a free sample too, and by nothing else that is free', async () => {
    for (const target of ['/gauge/sample', '/gauge/sample?signal_id=airquality.aqi']) {
      const text = (await sold(target)).toString('utf8');
      const { body, isProven } = openedProof(text);
      expect(body, target).toEqual(bodyOfText((await shop.ask(target)).toString('utf8')));
      expect(isProven).toBe(true);
    }
    for (const target of ['/resolve/preview', '/gauge/coverage?summary=1']) {
      expect(await sold(target)).toEqual(await shop.ask(target));
    }
  });

  it('is the same buffer again while its members of request time are', async () => {
    expect(await sold(RECORD)).toBe(await sold(RECORD));
  });

  it('I34: is kept within a budget, whoever still holds the bytes without the proof', async () => {
    const { _citation, ...record } = JSON.parse(String(await shop.ask(RECORD)));
    const padded = (pad: string) =>
      JSON.stringify({ ...record, pad: pad.repeat(500_000), _citation });
    const asked = question(RECORD);
    const first = { ...SOLD_JSON, body: Buffer.from(padded('0')) };
    const sell = async (content: Content) => (await proven(content, asked, shop.service)).body;
    const before = await sell(first);
    const others = [...'12345'].map((pad) => ({ ...SOLD_JSON, body: Buffer.from(padded(pad)) }));
    await sell(defined(others[0], 'body'));
    expect(await sell(first)).toBe(before);
    for (const other of others) await sell(other);
    const after = await sell(first);
    expect(after).not.toBe(before);
    expect(after).toEqual(before);
  });
});

const SOLD_JSON = { contentType: 'application/json', keepMs: 0 };

/** A copy of the shop. */
function copied(): string {
  const data = join(mkdtempSync(join(tmpdir(), 'signalpress-proven-')), 'data');
  cpSync(shop.data, data, { recursive: true, verbatimSymlinks: true });
  return data;
}

/** Where the bytes of listed files of a shop stand. */
function placesIn(data: string, isMeant: (path: string) => boolean): string[] {
  const list = readPlain(join(realpathSync(join(data, 'current')), FILES_NAME), 10_000_000);
  const meant = parseFiles(list.toString()).filter(({ path }) => isMeant(path));
  return meant.map(({ path, sha256 }) => join(data, storedPath(path, sha256)));
}

describe('a log that cannot be read', () => {
  const tile = tilePath({ level: 0, index: 0, width: 1 });
  const cases: readonly (readonly [string, (data: string) => readonly string[], string])[] = [
    [
      'the list of blocks',
      (data) => placesIn(data, (path) => path === BLOCKS_PATH),
      'hash differs',
    ],
    ['the blocks', (data) => placesIn(data, (path) => path.endsWith('.bin')), 'hash differs'],
    ['the checkpoint', (data) => [join(data, CHECKPOINT_PATH)], 'not the signed note'],
    ['a tile', (data) => [join(data, tile)], 'bytes instead of 32'],
    ['a bundle', (data) => [join(data, tile.replace('/0/', '/entries/'))], 'cut off'],
  ];

  it.each(cases)(
    'I72: sells nothing with a proof, and everything without: %s',
    async (_, of, why) => {
      const data = copied();
      for (const place of of(data)) writeFileSync(place, 'damaged');
      const service = await compiledService(data, shop.now);
      await expect(sold(RECORD, service)).rejects.toThrow(why);
      expect(await sold(`${RECORD}&proof=0`, service)).toEqual(await shop.ask(RECORD));
    },
  );
});

describe('a checkpoint that a witness signs while it is served', () => {
  const linesOf = (sold: Buffer): number => openedProof(String(sold)).read.note.signatures.length;
  const THIN = `${RECORD}&format=thin`;

  it('comes with the next purchases, of bodies that do not change too', async () => {
    let steadyMs = 0;
    const data = copied();
    const service = await compiledService(data, shop.now, { now: () => steadyMs });
    const before = await Promise.all([RECORD, THIN].map((target) => sold(target, service)));
    expect(before.map(linesOf)).toEqual([1, 1]);
    const file = join(data, CHECKPOINT_PATH);
    const own = readFileSync(file, 'utf8');
    writeFileSync(file, `${own}\u2014 witness.example ${Buffer.alloc(76, 7).toString('base64')}\n`);
    expect(await sold(THIN, service)).toEqual(before[1]);
    steadyMs += 61_000;
    const boughtNow = async () =>
      Promise.all([RECORD, THIN].map((target) => sold(target, service)));
    await vi.waitFor(async () => expect((await boughtNow()).map(linesOf)).toEqual([2, 2]), 60_000);
    for (const body of await boughtNow()) expect(openedProof(String(body)).isProven).toBe(true);
  });
});
