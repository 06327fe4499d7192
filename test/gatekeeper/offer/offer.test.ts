import { describe, expect, it } from 'vitest';
import { endpointAt } from '../../../compiler/contract/endpoints.ts';
import { offerOf } from '../../../gatekeeper/offer/offer.ts';

const RECORD = endpointAt('/gauge');

describe('offerOf()', () => {
  it('reads the values of the request, however they are encoded', () => {
    const { example, mimeType } = offerOf(
      RECORD,
      '/gauge',
      () => '/gauge?entity=a%20b&signal_id=c',
    );
    expect([example, mimeType]).toEqual([{ entity: 'a b', signal_id: 'c' }, 'application/json']);
  });

  it('has no example where nothing is answered, and refuses a request that nobody can send', () => {
    expect(offerOf(RECORD, '/gauge', () => null).example).toBeNull();
    expect(() => offerOf(RECORD, '/gauge', () => '/gauge?a=1&a=2')).toThrow(/repeated/);
  });
});
