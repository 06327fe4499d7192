import { describe, expect, it } from 'vitest';
import { respond } from '../../../gatekeeper/heart/answers/respond.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import { FILE_COST, REQUEST_COST } from '../../../gatekeeper/wire/cost.ts';
import { headerFacts } from '../../../gatekeeper/wire/header-facts.ts';
import { hashes, loggedRelease, loggedService, tinyHashes } from '../logged-service.ts';
import { tinyRecord } from '../tiny-release.ts';
import { tinyService, tinyTokens } from '../tiny-service.ts';

const [HASH = ''] = tinyHashes();
const PAIR = 'signal_id=airquality.aqi&entity=us-denver';
const RECORD = tinyRecord('airquality.aqi', 'us-denver', { aqi_index: 42, band: 'good' });
const TOKENS = tinyTokens();

interface Asked {
  readonly target: string;
  readonly body?: string;
}

/** The status of an answer, and the units that it cost beyond a plain one. */
async function asked({ target, body }: Asked, service: Service): Promise<[number, number]> {
  const { token } = TOKENS.mint();
  let units = 0;
  const { reply } = await respond(
    {
      method: body === undefined ? 'GET' : 'POST',
      target,
      facts: headerFacts([
        ...['Host', 'localhost', 'Content-Type', 'application/json'],
        ...['Authorization', `Bearer ${token}`],
      ]),
      spend: (more) => {
        units += more;
      },
      readBody: async () => Buffer.from(body ?? ''),
    },
    service,
  );
  return [reply.status, units];
}

const call = (record_hash: string): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'verify_citation', arguments: { record_hash } },
});

/** Each with the files that it reads at least. */
const CASES: readonly (readonly [string, Asked, number])[] = [
  ['a stored body', { target: `/gauge/history-preview?${PAIR}` }, 1],
  ['the price of a record', { target: `/gauge?${PAIR}` }, 1],
  ['a hash', { target: `/gauge/verify?hash=${HASH}` }, 2],
  ['a hash in a path', { target: `/v/${HASH}` }, 2],
  ['a proof', { target: `/proof/${HASH}` }, 5],
  ['the inclusion of a hash', { target: `/gauge/anchor?hash=${HASH}` }, 3],
  ['a list of batches', { target: '/gauge/anchor' }, 1],
  ['the inclusion of a body', { target: '/verify', body: JSON.stringify(RECORD) }, 1],
  ['a row of a watchlist', { target: '/gauge/watch?items=environment:us-denver' }, 1],
  ['a tool call', { target: '/mcp', body: JSON.stringify(call(HASH)) }, 2],
];

describe('what an answer spends', () => {
  it.each(CASES)('I54: counts the files that %s makes be read, once', async (...one) => {
    const [, ask, files] = one;
    const plain = await loggedService();
    const service = { ...plain, operator: { ...plain.operator, tokens: TOKENS } };
    const [status, cold] = await asked(ask, service);
    expect([200, 402]).toContain(status);
    const [again, warm] = await asked({ ...ask, target: respelled(ask) }, service);
    expect(again).toBe(status);
    expect((cold - warm) / FILE_COST).toBeGreaterThanOrEqual(files);
  });

  it('I54: hashes what a release took in once, at the cost of whoever asks first', async () => {
    const service = await tinyService(loggedRelease(hashes(7000, 500)));
    const target = '/log/new/3';
    const [first, cold] = await asked({ target }, service);
    const [again, warm] = await asked({ target }, service);
    expect([first, again]).toEqual([200, 200]);
    expect(cold - warm).toBeGreaterThan(500 / 40);
    expect(warm).toBeGreaterThan(FILE_COST);
  });

  it('I54: counts each tool call of a batch as what it asks', async () => {
    const hashes = tinyHashes();
    const one = await asked(
      { target: '/mcp', body: JSON.stringify(call(HASH)) },
      await loggedService(),
    );
    const batch = JSON.stringify(hashes.map(call));
    const all = await asked({ target: '/mcp', body: batch }, await loggedService());
    expect(all[1]).toBeGreaterThan(one[1] + hashes.length - 1);
  });

  it.each([
    ['verify_citation', { record_hash: 'sha256:00000000' }],
    ['find_signal', { signal_id: 'no.such' }],
    ['find_signal', {}],
    ['quote', { request: `/gauge?${PAIR}` }],
  ])('I54: counts what %s %j asks as a request', async (name, given) => {
    const service = await loggedService();
    const body = JSON.stringify({ ...call(HASH), params: { name, arguments: given } });
    await asked({ target: '/mcp', body }, service);
    const [status, units] = await asked({ target: '/mcp', body }, service);
    expect(status).toBe(200);
    expect(units).toBeGreaterThanOrEqual(REQUEST_COST);
    expect(units).toBeLessThan(2 * REQUEST_COST);
  });

  it('I54: counts no message of a batch that is too long to be answered', async () => {
    const batch = (size: number): string => JSON.stringify(Array(size).fill({}));
    const service = await loggedService();
    expect(await asked({ target: '/mcp', body: batch(20) }, service)).toEqual([200, 19]);
    expect(await asked({ target: '/mcp', body: batch(50_000) }, service)).toEqual([400, 0]);
  });

  it.each(['[]', '{"jsonrpc":"2.0","id":1,"method":"ping"}'])(
    'gives nothing back for %s',
    async (body) => {
      expect(await asked({ target: '/mcp', body }, await loggedService())).toEqual([
        expect.any(Number),
        0,
      ]);
    },
  );
});

/** The same target spelt otherwise, so that no answer is ready. */
function respelled({ target }: Asked): string {
  return target.includes('?') ? `${target}&proof=1` : target;
}
