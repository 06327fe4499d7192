import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { decodeUtf8, type JsonValue, parseJson } from '../../../../compiler/format/strict-json.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { type Shop, smallShop } from '../../../shop.ts';
import { flipBit } from '../../../verify/overlay-disk.ts';

const signer = vi.hoisted(() => ({ genuine: null as string | null, answers: new Map() }));

/**
 * The forger of these tests signs any changed statement at will, so that the other checks stand alone (and
 * so that they take seconds). Over the genuine statement Ed25519 itself is asked, once for each question.
 */
vi.mock('@noble/ed25519', async (original) => {
  const ed = await original<typeof import('@noble/ed25519')>();
  const verify: typeof ed.verify = (...asked) => {
    const [signature, message, publicKey] = asked.map((each) => String(each));
    signer.genuine ??= message ?? '';
    if (message !== signer.genuine) return true;
    const question = `${signature} ${publicKey}`;
    const answer = signer.answers.get(question) ?? ed.verify(...asked);
    signer.answers.set(question, answer);
    return answer;
  };
  return { ...ed, verify };
});

let release: Shop;
beforeAll(async () => {
  release = await smallShop();
});
afterAll(() => release.dispose());

/** Bits whose flip still gives a verified body; a step of 9 tries one bit of nearly every byte, each time another. */
function undetected(path: string, step: 1 | 9): number[] {
  const bytes = Buffer.from(release.text(path));
  const isVerified = (body: JsonValue): boolean =>
    verifyBody(body, { trust: [release.did], isStored: true }).verdict === 'verified';
  signer.genuine = null;
  signer.answers.clear();
  expect(isVerified(release.body(path))).toBe(true);
  const missed: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += step) {
    const body = parsed(flipBit(bytes, bit));
    if (body !== undefined && isVerified(body)) missed.push(bit);
  }
  return missed;
}

function parsed(bytes: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(decodeUtf8(bytes));
  } catch {
    return undefined;
  }
}

describe('I24: verifyBody() refuses a body with any one bit flipped', () => {
  it.each([
    ['lifecycle/kyoto-protocol.json', 1],
    ['thin/calibrated/airquality.aqi/us-denver.json', 9],
    ['thin/bundle/filing/~41~41~50~4c.json', 9],
    ['free/sample/filing.insider.json', 9],
  ] as const)('I24: %s, bits %s apart', (path, step) => {
    expect(undetected(path, step)).toEqual([]);
  });
});
