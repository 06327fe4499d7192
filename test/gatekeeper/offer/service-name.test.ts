import { describe, expect, it } from 'vitest';
import { serviceNameOf } from '../../../gatekeeper/offer/challenge.ts';

describe('serviceNameOf()', () => {
  it.each([
    ['Example Signals', 'Example Signals'],
    ['Signalpress quick start (sample data)', 'Signalpress quick start'],
    ['River readings (UK) of an example', 'River readings (UK) of an exampl'],
    ['Příklad', 'Pklad'],
    ['例', 'x402'],
  ])('says %j as %j', (issuerName, name) => {
    expect(serviceNameOf(issuerName)).toBe(name);
  });
});
