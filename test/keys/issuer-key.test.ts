import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { KeyError, readIssuerKey, writeIssuerKey } from '../../compiler/keys/key-store.ts';
import { issuerDid, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);
const SECRET = '0123456789abcdef'.repeat(4);

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('writeIssuerKey()', () => {
  it('writes a key that its owner alone can read, and returns its DID', () => {
    const path = join(makeFolder(), 'new', 'issuer.key');
    const did = writeIssuerKey(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    expect(issuerDid(signingKey(readIssuerKey(path)))).toBe(did);
  });

  it('makes another key each time', () => {
    const folder = makeFolder();
    expect(writeIssuerKey(join(folder, 'a'))).not.toBe(writeIssuerKey(join(folder, 'b')));
  });

  it('never replaces a file, nor what a symlink points at', () => {
    const folder = makeFolder();
    const path = join(folder, 'issuer.key');
    writeFileSync(path, SECRET);
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'));
    const refused = errorOf(() => writeIssuerKey(path));
    expect(refused).toBeInstanceOf(KeyError);
    expect(inspect(refused)).not.toContain(SECRET);
    expect(() => writeIssuerKey(join(folder, 'link'))).toThrow();
    expect(readFileSync(path, 'utf8')).toBe(SECRET);
  });
});

describe('readIssuerKey()', () => {
  it('reads the seed itself, or a file with or without a line end', () => {
    const path = join(makeFolder(), 'issuer.key');
    const seed = new Uint8Array(Buffer.from(SECRET, 'hex'));
    for (const text of [SECRET, `${SECRET}\n`]) {
      writeFileSync(path, text);
      expect(readIssuerKey(path)).toEqual(seed);
    }
    expect(readIssuerKey(SECRET)).toEqual(seed);
  });

  it.each([undefined, ''])('says how to make a key when there is none: %j', (setting) => {
    expect(() => readIssuerKey(setting)).toThrow('signalpress keygen');
  });

  it.each([
    ['in capitals', SECRET.toUpperCase()],
    ['with a prefix', `0x${SECRET}`],
    ['with a line end', `${SECRET}\n`],
    ['cut short', SECRET.slice(0, 60)],
    ['with one digit more', `${SECRET}0`],
  ])('I49: never repeats a secret that is spelled %s, not even as a cause', (_, setting) => {
    const error = errorOf(() => readIssuerKey(setting));
    expect(error).toBeInstanceOf(KeyError);
    expect(inspect(error, { depth: 10 }).toLowerCase()).not.toContain(SECRET.slice(0, 16));
  });

  it('I49: never repeats the content of a file that holds no key', () => {
    const path = join(makeFolder(), 'issuer.key');
    writeFileSync(path, `${SECRET}${SECRET}`);
    const error = errorOf(() => readIssuerKey(path));
    expect(error).toBeInstanceOf(KeyError);
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET.slice(0, 16));
  });
});
