import { once } from 'node:events';
import { statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  demoSettings,
  playsKey,
  servedAt,
  unusedText,
  withSubscriptions,
} from '../../scripts/quick-start-data.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

const addressOf = async (port: string | undefined, baseUrl?: string) => {
  const settings = await servedAt(demoSettings('root', { port, baseUrl, testPayments: '1' }));
  return [settings.port, settings.baseUrl] as const;
};

describe('servedAt()', () => {
  it('takes a free port in place of 0 before its address is compiled in', async () => {
    const [port, url] = await addressOf('0');
    expect(port).toBeGreaterThan(0);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await addressOf('0', 'https://a.example'))[1]).toBe('https://a.example');
  });

  it('refuses a port that somebody listens on', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(addressOf(String(port))).rejects.toThrow(/EADDRINUSE/);
  });
});

describe('demoSettings()', () => {
  it('I58: pretends payments on a public address only where that is asked for', () => {
    const publicly = { port: '0', baseUrl: 'https://a.example' };
    expect(() => demoSettings('root', publicly)).toThrow(/SIGNALPRESS_TEST_PAYMENTS=1/);
    expect(demoSettings('root', { ...publicly, testPayments: '1' }).testPayments).toBe(true);
    expect(demoSettings('root', { port: '0' }).testPayments).toBe(false);
  });

  it('takes an empty port or address for none, and refuses one that is none', () => {
    const empty = demoSettings('root', { port: '', baseUrl: '' });
    expect([empty.port, empty.baseUrl]).toEqual([4021, null]);
    expect(() => demoSettings('root', { port: 'x' })).toThrow('SIGNALPRESS_PORT "x"');
  });
});

describe('playsKey()', () => {
  it('is asked for with 1 alone', () => {
    const texts = [undefined, '', '0', '1'];
    const played = texts.map((text) => playsKey({ SIGNALPRESS_SAMPLE_GRID: text }));
    expect(played).toEqual([false, false, false, true]);
  });

  it('refuses another text and says what to set', () => {
    expect(() => playsKey({ SIGNALPRESS_SAMPLE_GRID: 'yes' })).toThrow(
      'Cannot read SIGNALPRESS_SAMPLE_GRID "yes": neither 0 nor 1; set it to 1, or leave it out',
    );
  });
});

describe('withSubscriptions()', () => {
  it('makes a secret once, which nobody else may read, and keeps it', () => {
    const root = join(makeFolder(), 'quick-start');
    const settings = demoSettings(root, { port: '0' });
    expect(settings.tokenSecret).toBeNull();
    const { tokenSecret } = withSubscriptions(settings, root);
    expect(tokenSecret).toMatch(/^[0-9a-f]{64}$/);
    expect(withSubscriptions(settings, root).tokenSecret).toBe(tokenSecret);
    expect(withSubscriptions(settings, makeFolder()).tokenSecret).not.toBe(tokenSecret);
    expect(statSync(join(root, 'token.secret')).mode & 0o077).toBe(0);
  });
});

describe('unusedText()', () => {
  it('names every setting that the quick start does not read, and no value', () => {
    const env = {
      SIGNALPRESS_PAY_TO: 'hunter2',
      SIGNALPRESS_FACILITATOR_URL: 'x',
      SIGNALPRESS_PAYTO: 'x',
      SIGNALPRESS_PORT: '1',
      SIGNALPRESS_STATE: '',
    };
    const text = unusedText(env);
    expect(text).toContain('SIGNALPRESS_FACILITATOR_URL, SIGNALPRESS_PAYTO, SIGNALPRESS_PAY_TO;');
    expect(text).toMatch(
      /; only SIGNALPRESS_PORT, SIGNALPRESS_BASE_URL, SIGNALPRESS_TEST_PAYMENTS, SIGNALPRESS_SAMPLE_GRID are\n$/,
    );
    expect(text).not.toMatch(/hunter2|_STATE/);
  });

  it('says nothing where all that is set is read', () => {
    const env = { SIGNALPRESS_PORT: '1', SIGNALPRESS_BASE_URL: 'https://a.example', PATH: 'x' };
    expect(unusedText(env)).toBe('');
  });
});
