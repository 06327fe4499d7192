import { describe, expect, it } from 'vitest';
import { shownOf } from '../../../gatekeeper/offer/shown.ts';
import { builtinOperation } from '../../builtin-rows.ts';
import { tinyOffers } from '../tiny-offers.ts';

const RECORD = builtinOperation('/gauge');

describe('shownOf()', () => {
  it('reads the values of the request, however they are encoded', () => {
    const offers = tinyOffers(() => '/gauge?entity=a%20b&signal_id=c');
    const { example, mimeType } = shownOf(RECORD, '/gauge', offers);
    expect([example, mimeType]).toEqual([{ entity: 'a b', signal_id: 'c' }, 'application/json']);
  });

  it('has no example where nothing is answered, and refuses a request that nobody can send', () => {
    expect(
      shownOf(
        RECORD,
        '/gauge',
        tinyOffers(() => null),
      ).example,
    ).toBeNull();
    expect(shownOf(RECORD, '/gauge', new Map()).example).toBeNull();
    const twice = tinyOffers(() => '/gauge?a=1&a=2');
    expect(() => shownOf(RECORD, '/gauge', twice)).toThrow(/repeated/);
  });
});
