import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../gatekeeper/config/load-config.ts';
import { dataUrl, isRemote } from '../../../gatekeeper/config/settings.ts';
import { tinyKey } from '../tiny-release.ts';

const { did } = tinyKey();
const URL_OF_DATA = 'https://static.example.com/shop';

/** The faults of some settings, none for settings that hold. */
function faults(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig({ options: {}, env: { SIGNALPRESS_ISSUER_DID: did, ...env }, fileText: null });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('settings of data that a host serves', () => {
  it.each<[Record<string, string>]>([
    [{ SIGNALPRESS_DATA: URL_OF_DATA }],
    [{ SIGNALPRESS_DATA: `${URL_OF_DATA}/`, SIGNALPRESS_DATA_AUTH: 'Authorization: Bearer x' }],
    [{ SIGNALPRESS_DATA: 'http://127.0.0.1:8080' }],
    [
      {
        SIGNALPRESS_DATA: 'http://[::1]:8080/x',
        SIGNALPRESS_CACHE_MB: '16',
      },
    ],
    [{ SIGNALPRESS_DATA: 'http://10.0.0.5/shop', SIGNALPRESS_DATA_HTTP: '1' }],
    [{ SIGNALPRESS_DATA: 'a folder:with a colon' }],
  ])('take %j', (env) => {
    expect(faults(env)).toBe('');
  });

  it.each<[Record<string, string>, RegExp]>([
    [
      { SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_ISSUER_DID: '' },
      /SIGNALPRESS_ISSUER_DID: missing, but the host/,
    ],
    [{ SIGNALPRESS_DATA: 'http://10.0.0.5/shop' }, /not https.*SIGNALPRESS_DATA_HTTP=1/],
    [{ SIGNALPRESS_DATA: 'http://127.0.0.1.example/x' }, /not https/],
    [
      {
        SIGNALPRESS_DATA: 'http://10.0.0.5/shop',
        SIGNALPRESS_DATA_HTTP: '1',
        SIGNALPRESS_DATA_AUTH: 'Authorization: Bearer secret',
      },
      /SIGNALPRESS_DATA_AUTH: would be sent over plain http/,
    ],
    [{ SIGNALPRESS_DATA: 'https://u:secret@a.example' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ SIGNALPRESS_DATA: 'https://a.example/?sig=secret' }, /put a key into SIGNALPRESS_DATA_AUTH/],
    [{ SIGNALPRESS_DATA: 'ftp://a.example/x' }, /not an http\(s\) URL/],
    [{ SIGNALPRESS_DATA: 'https://' }, /not an http\(s\) URL/],
    [
      { SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_DATA_AUTH: 'secret' },
      /SIGNALPRESS_DATA_AUTH: not one header/,
    ],
    [{ SIGNALPRESS_DATA: URL_OF_DATA, SIGNALPRESS_CACHE_MB: '1' }, /not between 16 and/],
    [{ SIGNALPRESS_CACHE_MB: '16' }, /SIGNALPRESS_CACHE_MB: has no effect/],
    [
      { SIGNALPRESS_DATA: 'dist-data', SIGNALPRESS_DATA_HTTP: '1' },
      /SIGNALPRESS_DATA_HTTP: has no effect/,
    ],
  ])('I49: refuse %j with its remedy and without a secret', (env, message) => {
    expect(faults(env)).toMatch(message);
    expect(faults(env)).not.toContain('secret');
  });
});

describe('dataUrl()', () => {
  it('takes what is a URL, and nothing that is a folder', () => {
    expect(isRemote('dist-data') || isRemote('/srv/a:b') || isRemote('C:\\x')).toBe(false);
    expect(isRemote('HTTPS://a.example')).toBe(true);
    expect(dataUrl('HTTPS://A.example/x').href).toBe('https://a.example/x');
    expect(() => dataUrl('https://a.example/#x')).toThrow(RangeError);
  });
});
