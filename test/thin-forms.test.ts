import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Citation, REQUEST_TIME_FIELDS } from '../compiler/format/citation.ts';
import { defined } from '../compiler/format/errors.ts';
import type { JsonObject } from '../compiler/format/strict-json.ts';
import { factOf } from '../compiler/products/shapes/fact.ts';
import type { SignalRecord } from '../compiler/products/shapes/record.ts';
import { deliveredText } from '../compiler/products/shapes/request-time.ts';
import { verifyBody } from '../compiler/verify/verify-body.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import type { Gatekeeper } from '../gatekeeper/start.ts';
import { printedBy } from './client/python-gate.ts';
import { sampleGate } from './gate.ts';
import { payer } from './gatekeeper/payer.ts';
import { BUYER_ADDRESS } from './gatekeeper/tiny-gate.ts';
import { SAMPLE_HOUR } from './shared-folder.ts';
import { type CompiledSample, compiledSample } from './shop.ts';
import { makeFolder, removeFolders } from './snapshot-folder.ts';
import { hasPython } from './verify/python-judge.ts';

/** What of the full form the short one may have. Its citation alone has some 440 tokens, hashes and a signature. */
const FORMS = [
  ['record', { bytes: 0.38, tokens: 0.46 }],
  ['bundle', { bytes: 1 / 3, tokens: 0.4 }],
] as const;

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});
afterAll(removeFolders);

/** A path of each signal or line, with both texts. */
function pairs(folder: string): { path: string; thin: string; full: string }[] {
  const start = `thin/${folder}/`;
  const paths = sample.paths.filter((path) => path.startsWith(start));
  const first = new Map(paths.map((path) => [path.split('/')[2], path]));
  return [...first.values()].map((path) => {
    return { path, thin: sample.text(path), full: sample.text(path.slice('thin/'.length)) };
  });
}

describe.each(FORMS)('format=thin of a %s', (folder, most) => {
  it('has at most its share of the full form', () => {
    const all = pairs(folder);
    expect(all.length).toBeGreaterThan(25);
    for (const { path, thin, full } of all) {
      expect(thin.length / full.length, path).toBeLessThan(most.bytes);
      expect(countTokens(thin) / countTokens(full), path).toBeLessThan(most.tokens);
    }
  });

  it('is verified by itself, and not with another reading or less of it', () => {
    const { thin } = pairs(folder).at(0) ?? { thin: '{}' };
    const body = JSON.parse(thin);
    const verdict = (value: object): string =>
      verifyBody(value as never, { trust: [body._citation.issuer_DID] }).verdict;
    expect(verdict(body)).toBe('verified');
    expect(
      verdict(JSON.parse(thin.replaceAll(/"observed_at":"2026/g, '"observed_at":"2025'))),
    ).toBe('failed');
    const { nature, ...selected } = body;
    expect(verdict(selected)).toBe('failed');
  });

  it('has no member that depends on the time of the request', () => {
    for (const { thin } of pairs(folder)) {
      for (const name of Object.keys(REQUEST_TIME_FIELDS)) expect(thin).not.toContain(`"${name}"`);
    }
  });
});

describe('format=fact of a record', () => {
  const FACT_TOKENS_MAX = 160;
  const delivered = (path: string): JsonObject =>
    JSON.parse(deliveredText(sample.text(path), Date.parse(SAMPLE_HOUR)));
  const inFolder = (folder: string) => sample.paths.filter((path) => path.startsWith(folder));

  it('has at most 160 tokens for every signal and entity, and names value and unit as its citation does', () => {
    const paths = inFolder('record/');
    expect(paths.length).toBeGreaterThan(800);
    for (const path of paths) {
      const body = delivered(path);
      const fact = defined(factOf(body, '0.005'), path);
      expect(countTokens(JSON.stringify(fact)), path).toBeLessThanOrEqual(FACT_TOKENS_MAX);
      const { current, _citation } = body as unknown as SignalRecord & { _citation: Citation };
      const [main = null] = Object.values(current ?? {});
      expect([path, fact.value]).toEqual([path, main]);
      const words = [fact.value ?? 'no value', fact.unit].filter((one) => one !== null).join(' ');
      expect(_citation.fact).toContain(` read ${words} at ${fact.observed_at}`);
      expect(fact.subject).toBe(_citation.claim);
    }
  });

  it('is made the same whatever the order of its metrics, which nobody signs', () => {
    const several = inFolder('record/').map(delivered);
    const turned = several.filter(({ current }) => Object.keys(current ?? {}).length > 1);
    expect(turned.length).toBeGreaterThan(100);
    for (const body of turned) {
      const current = Object.fromEntries(Object.entries(body.current as JsonObject).reverse());
      expect(factOf({ ...body, current }, '0.005')).toEqual(factOf(body, '0.005'));
    }
  });

  it('I62: is made of nothing else: not of a record that lacks what it says, and of no other body', () => {
    const path = defined(inFolder('record/hydrology.river-level/')[0], 'a record');
    const body = delivered(path);
    expect(factOf(body, '0.005')).not.toBeNull();
    const { _citation, provenance } = body as unknown as Record<string, JsonObject>;
    const broken: JsonObject[] = [
      ...['_citation', 'provenance', 'observed_at', 'record_hash', 'current', 'signal_id'].map(
        (name) => ({ ...body, [name]: null }),
      ),
      { ...body, current: { stage_ft: 1 } },
      { ...body, entity: 'another' },
      { ...body, provenance: { ...provenance, age_hours_now: null } },
      { ...body, _citation: { ..._citation, fact: 'another sentence' } },
    ];
    for (const one of broken) expect(factOf(one, '0.005')).toBeNull();
    const others = ['thin/record/', 'calibrated/', 'ruler/', 'bundle/', 'census/'];
    for (const folder of others) {
      const other = defined(inFolder(folder)[0], folder);
      expect([other, factOf(delivered(other), '0.005')]).toEqual([other, null]);
    }
  });
});

describe.skipIf(!hasPython)('fact_of() of the client in Python (skipped without Python)', () => {
  const PROGRAM = `
import json, sys
from signalpress_answers import fact_of
from signalpress_verify import parse
with open(sys.argv[1], "rb") as lines: print(json.dumps([fact_of(parse(line), "0.005") for line in lines]))`;

  it('I31: says of every record what the service says', async () => {
    const texts = sample.paths
      .filter((path) => path.startsWith('record/'))
      .map((path) => deliveredText(sample.text(path), Date.parse(SAMPLE_HOUR)));
    const file = join(makeFolder(), 'records.ndjson');
    writeFileSync(file, texts.join('\n'));
    const made = texts.map((text) => factOf(JSON.parse(text), '0.005'));
    expect(await printedBy(PROGRAM, [file])).toEqual(made);
  });
});

describe('a payment is for one form', () => {
  const full = '/gauge?signal_id=airquality.aqi&entity=us-denver';
  let gate: Gatekeeper;
  beforeAll(async () => {
    gate = await sampleGate(sample.data);
  });
  afterAll(() => gate.close());

  async function ask(target: string, payment?: string) {
    const headers =
      payment === undefined ? BUYER_ADDRESS : { ...BUYER_ADDRESS, 'x-payment': payment };
    const answer = await fetch(gate.url + target, { headers });
    return { status: answer.status, text: await answer.text() };
  }

  async function paymentFor(target: string): Promise<string> {
    const { accepts } = JSON.parse((await ask(target)).text);
    return payer(NETWORKS['base-sepolia']).header(accepts[0]);
  }

  it.each([
    [full, `${full}&format=thin`],
    [`${full}&format=thin`, full],
  ])('that of %s buys nothing at %s, and delivers its own again', async (bought, other) => {
    const payment = await paymentFor(bought);
    const first = await ask(bought, payment);
    expect(first.status).toBe(200);
    const refused = await ask(other, payment);
    expect(refused.status).toBe(402);
    expect(refused.text).not.toContain('"signature"');
    expect(await ask(bought, payment)).toEqual(first);
  });

  it('a parameter that selects members is refused uncharged, and keeps nobody from what was paid', async () => {
    const payment = await paymentFor(full);
    const selecting = `${full}&fields=current`;
    expect((await ask(selecting)).status).toBe(422);
    const refused = await ask(selecting, payment);
    expect(refused.status).toBe(422);
    expect(JSON.parse(refused.text)).toMatchObject({ no_charge: true, miss: 'illegal_value' });
    const first = await ask(full, payment);
    expect(JSON.parse(first.text)).toHaveProperty('_citation');
    // Whoever paid for this spelling before it was refused gets the answer again.
    expect(await ask(selecting, payment)).toEqual(first);
  });
});
