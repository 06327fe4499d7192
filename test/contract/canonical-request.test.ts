import { describe, expect, it } from 'vitest';
import { canonicalRequest, canonicalTarget } from '../../compiler/contract/route.ts';

const QUERY_PARAMS_MAX = 64;
const TARGET_BYTES_MAX = 8192;

function read(target: string): unknown {
  const request = canonicalRequest(target);
  if ('status' in request) return request.status;
  return { path: request.path, ...Object.fromEntries(request.values) };
}

describe('canonicalRequest()', () => {
  it.each([
    ['/gauge', { path: '/gauge' }],
    ['/gauge?', { path: '/gauge' }],
    ['/gauge?a=1&b=2', { path: '/gauge', a: '1', b: '2' }],
    ['/gauge?&a=1&', { path: '/gauge', a: '1' }],
    ['/gauge?a', { path: '/gauge', a: '' }],
    ['/gauge?a=b=c', { path: '/gauge', a: 'b=c' }],
    ['/gauge?form=NT+10-K', { path: '/gauge', form: 'NT 10-K' }],
    ['/gauge?form=NT%2010-K%2B', { path: '/gauge', form: 'NT 10-K+' }],
    ['/gauge?n=%C3%BC', { path: '/gauge', n: 'ü' }],
    [
      '/gauge?__proto__=1',
      Object.fromEntries([
        ['path', '/gauge'],
        ['__proto__', '1'],
      ]),
    ],
    ['http://other.example/gauge?a=1', { path: '/gauge', a: '1' }],
    ['HTTPS://user:pw@other.example:8443/gauge', { path: '/gauge' }],
    ['//other.example/gauge', { path: '//other.example/gauge' }],
    ['/%67auge', { path: '/%67auge' }],
    ['/gauge/', { path: '/gauge/' }],
    ['/a/../gauge', { path: '/a/../gauge' }],
  ])('reads %s without decoding its path', (target, want) => {
    expect(read(target)).toEqual(want);
  });

  it.each([
    ['*'],
    [''],
    ['gauge'],
    ['http://other.example'],
    ['http://other.example?a=1'],
    ['ftp://other.example/gauge'],
    ['/gauge#a'],
    ['/gau\\ge'],
    ['/gauge?a=\u00e9'],
    ['/gauge a'],
    ['/gauge?a=%'],
    ['/gauge?a=%4'],
    ['/gauge?a=%zz'],
    ['/gauge?a=%ff'],
    ['/gauge?a=%ed%a0%80'],
    ['/gauge?a=1&a=1'],
    ['/gauge?a=1&%61=2'],
  ])('refuses %j with 400', (target) => {
    expect(read(target)).toBe(400);
  });

  it('I43: takes a target of the longest length and refuses one byte more with 414', () => {
    const longest = `/gauge?a=${'x'.repeat(TARGET_BYTES_MAX - '/gauge?a='.length)}`;
    expect(read(longest.slice(0, -1))).toHaveProperty('a');
    expect(read(longest)).toHaveProperty('a');
    expect(read(`${longest}x`)).toBe(414);
    expect(read(`/${'x'.repeat(1_000_000)}`)).toBe(414);
  });

  it('I43: takes the most parameters and refuses one more', () => {
    const query = (count: number): string =>
      `/gauge?${Array.from({ length: count }, (_, at) => `p${at}=1`).join('&')}`;
    expect(read(query(QUERY_PARAMS_MAX - 1))).toHaveProperty('p0');
    expect(read(query(QUERY_PARAMS_MAX))).toHaveProperty('p0');
    expect(read(query(QUERY_PARAMS_MAX + 1))).toBe(400);
  });
});

describe('canonicalTarget()', () => {
  it('sorts and encodes what it is given', () => {
    expect(canonicalTarget('/gauge', { signal_id: 'a.b', entity: 'NT 10/K' })).toBe(
      '/gauge?entity=NT%2010%2FK&signal_id=a.b',
    );
    expect(canonicalTarget('/gauge', {})).toBe('/gauge');
  });

  it('is read back as the same values', () => {
    const values = { a: 'ü &=+%#\\', b: '1' };
    expect(read(canonicalTarget('/x', values))).toEqual({ path: '/x', ...values });
  });
});
