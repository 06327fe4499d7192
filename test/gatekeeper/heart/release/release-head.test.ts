import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import {
  builtinCatalog,
  catalogText,
  ownDigest,
} from '../../../../compiler/catalog/whole-catalog.ts';
import { CONTRACT_VERSION } from '../../../../compiler/format/release.ts';
import { canonicalDigest } from '../../../../compiler/system/jcs.ts';
import {
  catalogIn,
  checkFiles,
  checkHead,
  checkIssuer,
  keysOf,
} from '../../../../gatekeeper/heart/release/open-release.ts';
import { StartError } from '../../../../gatekeeper/wire/start-error.ts';
import { TIDE_FILE } from '../../../tide-catalog.ts';
import {
  TINY_BASE_URL,
  type TinyOptions,
  tinyDataDir,
  tinyKey,
  writeTinyRelease,
} from '../../tiny-release.ts';

const ANY = { issuerDid: null, baseUrl: null };

function release(options: TinyOptions = {}): { head: Buffer; files: Buffer } {
  const root = writeTinyRelease(tinyDataDir(), options);
  return {
    head: readFileSync(join(root, 'release.json')),
    files: readFileSync(join(root, 'files.txt')),
  };
}

describe('checkHead()', () => {
  it('takes a signed release of this version, pinned or not', () => {
    const { head } = release();
    expect(checkHead(head, ANY).sequence).toBe(1);
    const pinned = { issuerDid: tinyKey().did, baseUrl: TINY_BASE_URL };
    expect(checkHead(head, pinned).sequence).toBe(1);
  });

  it.each<[string, TinyOptions, RegExp]>([
    [
      'another contract version',
      { head: { contract_version: CONTRACT_VERSION - 1 } },
      /compile again with the signalpress of this version/,
    ],
    ['another format', { head: { format: 'signalpress-release/2' } }, /"format"/],
    ['an unknown member', { head: { extra: 1 } }, /compile again/],
    ['a member changed after signing', { forged: { sequence: 9 } }, /signature/],
    ['a signature of another key', { forged: { issuer_did: tinyKey(2).did } }, /key id|signature/],
    ['a second spelling of the signature', { forged: { signature: 'AA==' } }, /malformed/],
    ['no signature', { forged: { signature: '' } }, /signature/],
    ['a foreign key id', { head: { key_id: `${tinyKey(2).did}#z6Mk` } }, /another issuer/],
  ])('I47: refuses %s', (_, options, message) => {
    const { head } = release(options);
    expect(() => checkHead(head, ANY)).toThrow(StartError);
    expect(() => checkHead(head, ANY)).toThrow(message);
  });

  it('I47: refuses another issuer and another address than demanded, and says what to set', () => {
    const { head } = release();
    const { did } = tinyKey(2);
    const read = checkHead(head, ANY);
    expect(() => checkIssuer(read, keysOf(read, null), did)).toThrow(/SIGNALPRESS_ISSUER_DID/);
    const baseUrl = 'https://other.example';
    expect(() => checkHead(head, { ...ANY, baseUrl })).toThrow(/SIGNALPRESS_BASE_URL/);
  });

  it.each(['', '{', '{"a":1,"a":2}', '[]', '\ufeff{}'])('I47: refuses the head %j', (text) => {
    expect(() => checkHead(Buffer.from(text), ANY)).toThrow(StartError);
  });
});

describe('catalogIn()', () => {
  const tidesHead = () => {
    const table_digest = ownDigest(hash('sha256', catalogText(TIDE_FILE), 'hex'), canonicalDigest);
    return checkHead(release({ head: { table_digest } }).head, ANY);
  };

  it('has the built-in catalogue for a head that was made of it, with or without the file', () => {
    const head = checkHead(release().head, ANY);
    expect(catalogIn(head, null)).toBe(BUILTIN);
    expect(catalogIn(head, Buffer.from(catalogText(builtinCatalog().file)))).toBe(BUILTIN);
  });

  it('has the catalogue that the release carries', () => {
    const { signals } = catalogIn(tidesHead(), Buffer.from(catalogText(TIDE_FILE)));
    expect(signals.map(({ id }) => id)).toEqual(['tides.level', 'tides.waves']);
  });

  it('I47: refuses a release of other tables without the file', () => {
    expect(() => catalogIn(tidesHead(), null)).toThrow(StartError);
    expect(() => catalogIn(tidesHead(), null)).toThrow(/carries no "catalog.json".*compile again/);
  });

  it('I47: has the built-in catalogue for a head that signs its file, and not for one that signs another', () => {
    const own = Buffer.from(catalogText(builtinCatalog().file));
    const signing = (bytes: string | Buffer) => {
      const catalog_sha256 = `sha256:${hash('sha256', bytes, 'hex')}`;
      return checkHead(release({ head: { catalog_sha256 } }).head, ANY);
    };
    expect(catalogIn(signing(own), own)).toBe(BUILTIN);
    for (const file of [null, Buffer.from(catalogText(TIDE_FILE))]) {
      expect(() => catalogIn(signing(own), file)).toThrow(/is not the one that its head signs/);
    }
    expect(() => catalogIn(signing('other'), own)).toThrow(StartError);
  });

  it('I47: refuses a catalogue that is not the one of the head, or of another format', () => {
    const dearer = catalogText({ ...TIDE_FILE, prices: { '/gauge': '9', bundle: '9' } });
    expect(() => catalogIn(tidesHead(), Buffer.from(dearer))).toThrow(/another table/);
    const newer = Buffer.from('{"format":"signalpress-catalog/2"}');
    const table_digest = ownDigest(hash('sha256', newer, 'hex'), canonicalDigest);
    const head = checkHead(release({ head: { table_digest } }).head, ANY);
    expect(() => catalogIn(head, newer)).toThrow(
      /catalog.json" at "\/format": not signalpress-catalog\/1/,
    );
    expect(() => catalogIn(head, newer)).toThrow(StartError);
  });
});

describe('checkFiles()', () => {
  it('lists what the head signs', async () => {
    const { head, files } = release();
    const list = await checkFiles(files, checkHead(head, ANY));
    expect(list.get('free/sample/~.json')?.size).toBeGreaterThan(100);
  });

  it('I24: refuses a list with any byte changed', async () => {
    const { head, files } = release();
    const checked = checkHead(head, ANY);
    for (const at of [0, 70, files.length - 1]) {
      const changed = Buffer.from(files);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(checkFiles(changed, checked)).rejects.toThrow(/files.txt differs/);
    }
  });

  it('says of the list of a mirror what it is, and of no other', async () => {
    const list = Buffer.from('');
    const sha256 = `sha256:${hash('sha256', list, 'hex')}`;
    const open = (public_files: { sha256: string; count: number }) =>
      checkFiles(list, checkHead(release({ head: { public_files } }).head, ANY));
    await expect(open({ sha256, count: 0 })).rejects.toThrow(
      /a mirror of what it gives away.*SIGNALPRESS_DATA/,
    );
    const other = `sha256:${'0'.repeat(64)}`;
    await expect(open({ sha256: other, count: 0 })).rejects.toThrow(/files.txt differs/);
  });

  it('refuses a list of another length than the head says', async () => {
    const { head, files } = release({ head: { files_count: 1 } });
    await expect(checkFiles(files, checkHead(head, ANY))).rejects.toThrow(/not as long/);
  });
});
