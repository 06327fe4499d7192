import { describe, expect, it } from 'vitest';
import { facilitatorUrl, remoteUrl } from '../../../gatekeeper/settle/facilitator.ts';

describe('remoteUrl()', () => {
  it('I48: remoteUrl() takes https, and http only on loopback', () => {
    for (const good of [
      'https://f.example/x402',
      'http://127.0.0.1:4021',
      'http://localhost:1',
      'http://[::1]:1',
    ]) {
      expect(remoteUrl(good, 'facilitator')).toBeInstanceOf(URL);
    }
    for (const bad of [
      'http://f.example',
      'http://127.0.0.1.evil.example',
      'ftp://f.example',
      'f.example',
      '',
    ]) {
      expect(() => remoteUrl(bad, 'facilitator'), bad).toThrow(RangeError);
    }
  });

  it('remoteUrl() does not repeat a path, which may hold a key', () => {
    expect(() => remoteUrl('http://node.example/v2/secret', 'chain node')).toThrow(
      'Cannot use chain node "http://node.example": not https',
    );
  });
});

describe('facilitatorUrl()', () => {
  it('facilitatorUrl() takes origin and path', () => {
    for (const good of ['https://f.example', 'https://f.example/v2/x402/', 'http://127.0.0.1:1']) {
      expect(facilitatorUrl(good).href).toBe(new URL(good).href);
    }
  });

  it('facilitatorUrl() refuses what no call would carry, names where it goes, and repeats none of it', () => {
    for (const bad of [
      'https://user:hunter2@f.example/x402',
      'https://hunter2@f.example',
      'https://f.example/x402?apiKey=hunter2',
      'https://f.example/#hunter2',
    ]) {
      expect(() => facilitatorUrl(bad), bad).toThrow(
        /^Cannot use facilitator "https:\/\/f\.example": .* SIGNALPRESS_FACILITATOR_AUTH$/,
      );
    }
    expect(() => facilitatorUrl('http://f.example')).toThrow(/not https/);
  });
});
