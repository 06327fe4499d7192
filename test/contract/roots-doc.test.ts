import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { firstHistory, readKeyHistory, withRoots } from '../../compiler/contract/key-history.ts';
import type { RootStatement } from '../../compiler/contract/root-statement.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { issuerDid, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';

const TEXT = readFileSync(new URL('../../compiler/contract/ROOTS.md', import.meta.url), 'utf8');
const [, statement = ''] = /```json\n(.*)\n```/.exec(TEXT) ?? [];
const stated = parseJson(statement) as unknown as RootStatement;
const listWith = (root: RootStatement) => withRoots(firstHistory(stated.issuer), [root]);

describe('ROOTS.md', () => {
  it('I29: shows a version that two of three root keys and the key of FORMAT.md signed', () => {
    const list = listWith(stated);
    expect(readKeyHistory(JSON.parse(JSON.stringify(list)), isSignedBy)).toEqual(list);
    expect(canonicalJson(stated)).toBe(statement);
    const seeds = ['a1', 'b2', 'c3'].map((byte) => Buffer.from(byte.repeat(32), 'hex'));
    expect(stated.root_keys).toEqual(seeds.map((seed) => issuerDid(signingKey(seed))));
    const fewer = { ...stated, signatures: stated.signatures.slice(1) };
    expect(() => readKeyHistory(listWith(fewer), isSignedBy)).toThrow('1 of the 2');
    const lower = { ...stated, stated_at: '2026-11-19T00:00:00Z' };
    expect(() => readKeyHistory(listWith(lower), isSignedBy)).toThrow('is not that of');
  });

  it('names every member of a version', () => {
    const listed = [...TEXT.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(Object.keys(stated).sort());
  });

  it('speaks of no machine', () => {
    expect(TEXT).not.toMatch(/\/(home|tmp|work)\//);
  });
});
