import { describe, expect, it } from 'vitest';
import { metricsOfWorker, metricsSettings } from '../../../gatekeeper/config/metrics-settings.ts';

describe('metricsOfWorker()', () => {
  it('gives each process a port of its own, the first the one that is set', () => {
    const settings = metricsSettings('127.0.0.1:9464', null);
    if (settings === null) throw new Error('no settings');
    expect([0, 1, 2].map((place) => metricsOfWorker(settings, place).address?.port)).toEqual([
      9464, 9465, 9466,
    ]);
  });

  it('leaves a port alone that the system chooses, and a token without an address', () => {
    for (const settings of [
      metricsSettings('127.0.0.1:0', null),
      metricsSettings(null, 'x'.repeat(32)),
    ]) {
      if (settings === null) throw new Error('no settings');
      expect(metricsOfWorker(settings, 2)).toEqual(settings);
    }
  });
});
