import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import { canonicalRequest, route } from '../../../compiler/contract/route.ts';
import { SoldTargets } from '../../../gatekeeper/answers/sold-targets.ts';

type SoldTarget = Parameters<SoldTargets['keep']>[1];

const SOLD_TARGET_CHARS_MAX = 256;
const SOLD_TARGETS_MAX = 2048;

function read(target: string): SoldTarget {
  const request = canonicalRequest(target);
  if ('status' in request) throw new RangeError(request.error);
  const routed = route(request, BUILTIN);
  if (routed === undefined) throw new RangeError(target);
  return { request, routed };
}

const PAID = '/gauge?signal_id=airquality.aqi&entity=us-denver';

describe('SoldTargets', () => {
  it('keeps what is sold under its raw target alone', () => {
    const targets = new SoldTargets();
    targets.keep(PAID, read(PAID));
    expect(targets.get(PAID)).toStrictEqual(read(PAID));
    expect(targets.get('/gauge?entity=us-denver&signal_id=airquality.aqi')).toBeUndefined();
  });

  it('keeps nothing free, wrong or long', () => {
    const targets = new SoldTargets();
    const long = `${PAID}&x=${'x'.repeat(SOLD_TARGET_CHARS_MAX - PAID.length - 2)}`;
    for (const target of ['/gauge/catalog', '/gauge?signal_id=airquality.aqi', long]) {
      targets.keep(target, read(target));
      expect(targets.get(target), target).toBeUndefined();
    }
    targets.keep(long.slice(0, -1), read(long));
    expect(targets.get(long.slice(0, -1))).toBeDefined();
  });

  it('I43: forgets the oldest when it is full', () => {
    const targets = new SoldTargets();
    const sold = read(PAID);
    for (let at = 0; at <= SOLD_TARGETS_MAX; at++) targets.keep(`${PAID}&x=${at}`, sold);
    expect(targets.get(`${PAID}&x=0`)).toBeUndefined();
    expect(targets.get(`${PAID}&x=1`)).toBe(sold);
    expect(targets.get(`${PAID}&x=${SOLD_TARGETS_MAX}`)).toBe(sold);
  });
});
