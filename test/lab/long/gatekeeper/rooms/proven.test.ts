import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { withoutProof } from '../../../../../compiler/contract/citation.ts';
import { defined } from '../../../../../compiler/contract/defined.ts';
import { storedPath } from '../../../../../compiler/contract/path.ts';
import { FILES_NAME, parseFiles } from '../../../../../compiler/contract/release.ts';
import { RELEASE_PROOF_NAME } from '../../../../../compiler/contract/release-leaf.ts';
import { bodyOfText } from '../../../../../compiler/contract/series-csv.ts';
import { parseTlogProof } from '../../../../../compiler/contract/tlog-proof.ts';
import { readPlain } from '../../../../../compiler/verify/plain-file.ts';
import { verifyBody } from '../../../../../compiler/verify/verify-body.ts';
import { answer } from '../../../../../gatekeeper/answers/answers.ts';
import type { Content, Service } from '../../../../../gatekeeper/answers/service.ts';
import { deliveredHashes, proven } from '../../../../../gatekeeper/rooms/proven.ts';
import { SOLD_TARGETS, type SoldShop, soldShop, VARIANT_TARGETS } from '../../../../gate.ts';
import { compiledService, question } from '../../../../gatekeeper/tiny-service.ts';
import { hasPython, pythonVerdicts } from '../../../../verify/python-judge.ts';

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

function judged(text: string) {
  const now = Date.parse(shop.now);
  return verifyBody(bodyOfText(text), { trust: [shop.did], now });
}

describe('what is sold', () => {
  const targets = [...SOLD_TARGETS, ...VARIANT_TARGETS, SIGNED_CSV];

  it('I72: brings a proof of its reading or of its statement, which holds and changes nothing else of the body', async () => {
    for (const target of targets.filter((one) => one !== '/gauge/subscribe')) {
      const plain = (await shop.ask(target)).toString('utf8');
      const text = (await sold(target)).toString('utf8');
      const { body, proof } = withoutProof(bodyOfText(text));
      expect(body, target).toEqual(bodyOfText(plain));
      expect(proof, target).toBeDefined();
      expect(judged(text).checks, target).toContainEqual(expect.objectContaining(LOGGED));
    }
    expect(targets.length).toBeGreaterThan(60);
  });

  it.skipIf(!hasPython)(
    'is judged alike by the second verifier (skipped without python3)',
    async () => {
      const sold64 = SOLD_TARGETS.filter((one) => one !== '/gauge/subscribe');
      const bodies = await Promise.all(
        sold64.map(async (target) => (await sold(target)).toString('utf8').replaceAll('\n', '')),
      );
      const forged = bodies
        .filter((_, at) => at % 8 === 0)
        .map((text) => text.replace(/(tlog-proof@v1\\nindex \d+\\n)./, '$1#'));
      const now = Date.parse(shop.now);
      const verdicts = pythonVerdicts([...bodies, ...forged], [shop.did], now);
      const wanted = [...bodies.map(() => 'verified'), ...forged.map(() => 'failed')];
      expect(verdicts.map(({ verdict }) => verdict)).toEqual(wanted);
      expect(verdicts[0]?.detail).toContain('its proof leads to the log');
    },
  );

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
      expect(judged(text)).toMatchObject({ verdict: 'verified' });
      expect(judged(text).checks).toContainEqual(
        expect.objectContaining({ ...LOGGED, where: 'sample._proof' }),
      );
      const { body } = withoutProof(bodyOfText(text));
      expect(body, target).toEqual(bodyOfText((await shop.ask(target)).toString('utf8')));
      const { sample } = JSON.parse(text);
      expect(judged(JSON.stringify(sample)).checks).toContainEqual(expect.objectContaining(LOGGED));
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
const LOGGED = { check: 'logged', status: 'pass' };

/** A copy of the shop, and where the bytes of one of its files stand. */
function copied(path: string): { readonly data: string; readonly place: string } {
  const data = join(mkdtempSync(join(tmpdir(), 'signalpress-proven-')), 'data');
  cpSync(shop.data, data, { recursive: true, verbatimSymlinks: true });
  const list = readPlain(join(realpathSync(join(data, 'current')), FILES_NAME), 10_000_000);
  const entry = parseFiles(list.toString()).find((one) => one.path === path);
  if (entry === undefined) throw new Error(`Cannot find "${path}": not in the release`);
  return { data, place: join(data, storedPath(path, entry.sha256)) };
}

describe('a log that cannot be read', () => {
  it('I72: sells nothing with a proof, and everything without', async () => {
    const { index } = parseTlogProof(String(JSON.parse(String(await sold(RECORD)))._proof));
    const { data, place } = copied(
      `log/tile/0/${String(Math.floor(index / 256)).padStart(3, '0')}`,
    );
    writeFileSync(place, 'damaged');
    const service = await compiledService(data, shop.now);
    await expect(sold(RECORD, service)).rejects.toThrow('hash differs');
    expect(await sold(`${RECORD}&proof=0`, service)).toEqual(await shop.ask(RECORD));
  });
});

describe('a checkpoint that a witness signs while it is served', () => {
  const linesOf = (sold: Buffer): number =>
    parseTlogProof(String(JSON.parse(sold.toString())._proof)).note.signatures.length;
  const THIN = `${RECORD}&format=thin`;

  it('comes with the next purchases, of bodies that do not change too, and the index of the head', async () => {
    let steadyMs = 0;
    const { data } = copied('log/checkpoint');
    const service = await compiledService(data, shop.now, { now: () => steadyMs });
    const before = await Promise.all([RECORD, THIN].map((target) => sold(target, service)));
    expect(before.map(linesOf)).toEqual([1, 1]);
    const file = join(realpathSync(join(data, 'current')), RELEASE_PROOF_NAME);
    const own = readFileSync(file, 'utf8');
    writeFileSync(file, `${own}\u2014 witness.example ${Buffer.alloc(76, 7).toString('base64')}\n`);
    expect(await sold(THIN, service)).toEqual(before[1]);
    steadyMs += 61_000;
    const boughtNow = async () =>
      Promise.all([RECORD, THIN].map((target) => sold(target, service)));
    await vi.waitFor(async () => expect((await boughtNow()).map(linesOf)).toEqual([2, 2]), 60_000);
    for (const body of await boughtNow()) {
      expect(judged(body.toString()).checks).toContainEqual(expect.objectContaining(LOGGED));
    }
    const { index, signed } = parseTlogProof(own);
    expect(
      parseTlogProof(String(JSON.parse(String((await boughtNow())[0]))._proof)).signed,
    ).toEqual(signed);
    expect(signed.size).toBe(index + 1);
  });
});

describe('the hashes of delivered bytes', () => {
  const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
  const bytes = (text: string) => Buffer.from(text);
  const citation = `"_citation":{"record_hash":"${hash('c')}"}`;

  it('are the record hash at the top and the statement, whatever stands inside', () => {
    const text = `{"a":{"record_hash":"${hash('1')}"},"b":["\\"record_hash\\":\\"${hash('2')}","}"],"record_hash":"${hash('3')}",${citation}}`;
    const found = deliveredHashes(bytes(text), 'reading');
    expect(found).toEqual({
      citationAt: text.indexOf('"_citation"'),
      hashes: [hash('3'), hash('c')],
    });
    expect(deliveredHashes(bytes(text), 'statement')?.hashes).toEqual([hash('c')]);
  });

  it('are the statement alone where no record hash is at the top, or none that can be', () => {
    for (const head of [
      '"a":{"b":1}',
      `"legs":{"x":{"record_hash":"${hash('1')}"}}`,
      '"record_hash":null',
      '"record_hash":"none"',
    ]) {
      expect(deliveredHashes(bytes(`{${head},${citation}}\n`), 'reading')?.hashes).toEqual([
        hash('c'),
      ]);
    }
  });

  it('are none without a citation', () => {
    expect(deliveredHashes(bytes('{"token":"x"}'), 'reading')).toBeNull();
  });
});
