import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import { CHECK_COST_MAX, checkCost, judgingCost } from '../../../gatekeeper/rooms/check.ts';

const rows = (count: number): JsonValue => Array.from({ length: count }, () => ({ a: 1 }));

describe('checkCost()', () => {
  it('counts citations wherever they stand, and no text that looks like one', () => {
    const body = { _citation: {}, parts: [{ _citation: {} }, { inner: { _citation: null } }] };
    expect(checkCost(body).citations).toBe(3);
    expect(checkCost({ a: '_citation', b: ['_citation'] }).citations).toBe(0);
  });

  it('I39: grows with the body, and with every hash over it', () => {
    const { cost } = checkCost(rows(1000));
    expect(checkCost(rows(2000)).cost / cost).toBeCloseTo(2, 1);
    const covered = checkCost({ rows: rows(1000), record_hash: '' }).cost;
    expect(covered / cost).toBeGreaterThan(1.9);
    const twice = checkCost({ inner: { rows: rows(1000), _citation: {} }, _citation: {} }).cost;
    expect(twice / cost).toBeGreaterThan(2.9);
  });

  it('counts the signature of a proof, wherever somebody writes one', () => {
    const bare = checkCost({ a: { b: 1 } });
    const proven = checkCost({ a: { b: 1, _proof: '' } });
    expect(judgingCost(proven) - judgingCost(bare)).toBeGreaterThan(20);
    expect(
      checkCost({ parts: Array.from({ length: 100 }, () => ({ _proof: '' })) }).cost,
    ).toBeGreaterThan(CHECK_COST_MAX);
  });

  it('I43: grows with the length of texts and names, once for every hash over them', () => {
    const long = 'a'.repeat(64_000);
    const text = checkCost({ text: long }).cost;
    expect(text - checkCost({ text: '' }).cost).toBeCloseTo(1000, 0);
    expect(checkCost({ text: long, record_hash: '' }).cost / text).toBeGreaterThan(1.9);
    expect(checkCost({ [long]: 1, record_hash: '' }).cost).toBeGreaterThan(1000);
  });

  it.each(['_proof', 'checkpoint'])(
    'I43: grows with the length of a signed note in "%s"',
    (name) => {
      const [short, long] = ['', 'a'.repeat(131_072)].map((note) =>
        checkCost({ a: { [name]: note } }),
      );
      const [plain] = ['a'.repeat(131_072)].map((note) => checkCost({ a: { [`${name}_`]: note } }));
      expect(Number(long?.cost) - Number(short?.cost)).toBeGreaterThan(4 * Number(plain?.cost));
    },
  );

  it('lets a long list of plain values pass, and not the same number of objects', () => {
    const count = CHECK_COST_MAX / 5;
    expect(checkCost(Array.from({ length: count }, () => 1)).cost).toBeLessThan(CHECK_COST_MAX);
    expect(checkCost(rows(count)).cost).toBeGreaterThan(CHECK_COST_MAX);
  });
});
