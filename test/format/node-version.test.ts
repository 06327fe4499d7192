import { describe, expect, it } from 'vitest';
import { nodeFault } from '../../compiler/format/node-version.ts';

describe('nodeProblem()', () => {
  it.each(['20.19.0', '20.20.2', '21.0.0', '24.11.1'])('takes Node %s', (version) => {
    expect(nodeFault('signalpress', version)).toBeNull();
  });

  it.each(['18.20.8', '20.18.3', '20.9.0'])('refuses Node %s and says what to do', (version) => {
    expect(nodeFault('signalpress', version)).toBe(
      `signalpress needs Node 20.19 or newer, but this is ${version}; install one from https://nodejs.org`,
    );
  });
});
