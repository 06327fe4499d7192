import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { bodyWithin, credentialSchema } from '../../compiler/contract/credential.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../compiler/contract/${name}`, import.meta.url), 'utf8');
const TEXT = read('CREDENTIALS.md');
const linesOf = (text: string): string[] =>
  [...text.matchAll(/```json\n(.*)\n```/g)].map(([, line = '']) => line);
const [whole = '', options = ''] = linesOf(TEXT);
const [delivered = ''] = linesOf(read('FORMAT.md'));
const hashes = [...TEXT.matchAll(/^`(sha256:[0-9a-f]{64})`$/gm)].map(([, hash]) => hash);
const hashOf = (value: object): string =>
  `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;

describe('CREDENTIALS.md', () => {
  const credential = credentialSchema.parse(parseJson(whole));
  const judged = (text: string, now = Date.parse('2026-11-21T12:00:00Z')): string =>
    verifyBody(parseJson(text), { trust: [credential.issuer], now }).verdict;

  it('shows a credential of the body of FORMAT.md that holds, and no longer after one changed digit', () => {
    expect(bodyWithin(parseJson(whole))).toEqual(parseJson(delivered));
    expect(canonicalJson(parseJson(whole))).toBe(whole);
    expect(judged(whole)).toBe('verified');
    expect(judged(whole.replace('"validUntil":"2026', '"validUntil":"2027'))).toBe('failed');
    expect(judged(whole, Date.parse('2027-01-01T00:00:00Z'))).toBe('failed');
  });

  it('hashes as it says', () => {
    const { proof, ...document } = credential;
    const { proofValue: _, ...rest } = proof;
    expect(canonicalJson(rest)).toBe(options);
    expect(hashes).toEqual([hashOf(rest), hashOf(document)]);
  });

  it('lists the members that are read, and no other', () => {
    const listed = [...TEXT.matchAll(/^\| `([@\w]+)` \|/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(Object.keys(credentialSchema.shape).sort());
  });
});
