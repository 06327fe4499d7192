import { afterAll, describe, expect, it } from 'vitest';
import { signalpressClient } from '../compiler/client/signalpress-client.ts';
import { networkFault } from '../compiler/format/network-fault.ts';
import { calendarClient } from '../compiler/publish/anchor/ots-calendar.ts';
import { httpFiles } from '../compiler/publish/upload/http-files.ts';
import { askWitness } from '../compiler/publish/witness/ask-witnesses.ts';
import { agencyClient } from '../compiler/sources/fetch/agency-client.ts';
import { asked } from '../compiler/verify/monitor/log-client.ts';
import { staticHost } from '../gatekeeper/fleet/remote/static-host.ts';
import { openJournal } from '../gatekeeper/heart/journal/open-journal.ts';
import { ask } from '../gatekeeper/operate/doctor/check.ts';
import { silence } from '../gatekeeper/operate/doctor/remote-checks.ts';
import { nodeFailure } from '../gatekeeper/settle/chain/chain-evidence.ts';
import { chainNode } from '../gatekeeper/settle/chain/chain-node.ts';
import { remoteFacilitator } from '../gatekeeper/settle/facilitator/remote-facilitator.ts';
import { NETWORKS } from '../gatekeeper/settle/networks.ts';
import { tinyKey } from './gatekeeper/tiny-release.ts';
import { UNTOLD } from './gatekeeper/tiny-service.ts';
import { makeFolder, removeFolders } from './snapshot-folder.ts';
import { testRow } from './sources/fetch/test-row.ts';

afterAll(removeFolders);

const coded = (code: string, cause?: unknown): Error =>
  Object.assign(new Error('x', { cause }), { code });

describe('networkFault()', () => {
  it.each([
    [coded('ENOTFOUND'), 'DNS knows no such host name (ENOTFOUND)', true],
    [
      coded('EAI_AGAIN'),
      'DNS did not answer when it was asked for the host name (EAI_AGAIN)',
      true,
    ],
    [coded('ECONNREFUSED'), 'nothing listens there (ECONNREFUSED)', true],
    [coded('CERT_HAS_EXPIRED'), 'its certificate does not hold (CERT_HAS_EXPIRED)', true],
    [
      coded('UND_ERR_CONNECT_TIMEOUT'),
      'no connection came about in time (UND_ERR_CONNECT_TIMEOUT)',
      true,
    ],
    [coded('ECONNRESET'), 'the connection broke (ECONNRESET)', false],
    [
      new TypeError('fetch failed', { cause: coded('ENOTFOUND') }),
      'DNS knows no such host name (ENOTFOUND)',
      true,
    ],
    [coded('OURS', coded('UND_ERR_SOCKET')), 'the connection broke (UND_ERR_SOCKET)', false],
    [new DOMException('x', 'TimeoutError'), 'no answer in time', false],
  ])('says of %s: %s', (error, words, isUnreached) => {
    expect(networkFault(error)).toMatchObject({ words, isUnreached });
  });

  it.each([null, 'ENOTFOUND', new Error('ENOTFOUND'), coded('ENOENT'), coded('toString')])(
    'says nothing of %s',
    (error) => {
      expect(networkFault(error)).toBeNull();
    },
  );
});

const NOWHERE = 'no-such-host.invalid';
const URL_OF_IT = `https://${NOWHERE}/x`;
const IN_WORDS = /DNS (knows no such host name \(ENOTFOUND\)|did not answer .* \(EAI_AGAIN\))/;

async function thrown(call: Promise<unknown>): Promise<string> {
  return call.then(
    (value) => `no error: ${JSON.stringify(value)}`,
    (error: unknown) => String(error),
  );
}

const CALLERS: readonly [string, () => Promise<string>][] = [
  [
    'a facilitator',
    async () => {
      const facilitator = remoteFacilitator({ url: URL_OF_IT });
      const outcome = await facilitator.supported();
      await facilitator.close();
      return JSON.stringify(outcome);
    },
  ],
  [
    'a chain node, in the log',
    () =>
      thrown(
        node()
          .block('latest')
          .catch((error: unknown) => Promise.reject(nodeFailure(error))),
      ),
  ],
  [
    'a chain node, in doctor',
    () =>
      thrown(
        node()
          .block('latest')
          .catch((error: unknown) => Promise.reject(silence(error).detail)),
      ),
  ],
  ['the base URL, in doctor', async () => JSON.stringify(await ask(URL_OF_IT))],
  [
    'the host of the data',
    async () => {
      const host = staticHost({
        url: new URL(URL_OF_IT),
        auth: null,
        connections: 1,
        deadline: () => 9000,
      });
      const told = await thrown(host.get({ path: 'a', max: 9 }));
      await host.close();
      return told;
    },
  ],
  [
    'the database of the journal',
    () => {
      const place = { stateDir: makeFolder(), journal: `postgres://u:p@${NOWHERE}/shop` };
      return thrown(openJournal(place, { clock: () => 0, lost: UNTOLD }));
    },
  ],
  [
    'an agency',
    async () => {
      const client = agencyClient({
        userAgent: 'test',
        origins: {},
        timeouts: { connect: 9000, silence: 9000, total: 9000 },
        bytesMax: 9,
      });
      const question = {
        url: `https://${NOWHERE}/x`,
        row: testRow([`https://${NOWHERE}/x`]),
        key: null,
        known: null,
      } as const;
      const told = await thrown(client.ask(question, () => Promise.reject(new Error('received'))));
      await client.close();
      expect(told).not.toContain('the connection broke');
      return told;
    },
  ],
  [
    'the host of an upload',
    async () => {
      const files = httpFiles({ url: new URL(URL_OF_IT), auth: null, connections: 1 });
      const told = await thrown(files.get('a', 9));
      await files.close();
      return told;
    },
  ],
  ['a monitored log', () => thrown(asked(URL_OF_IT, { fetch, waitMs: 9000 }, async () => null))],
  [
    'a witness',
    async () => {
      const witness = { url: URL_OF_IT } as Parameters<typeof askWitness>[0];
      const log = {
        signed: { size: 0 },
        note: { text: '', signatures: [] },
      } as unknown as Parameters<typeof askWitness>[1];
      const clock = { now: () => 0, steady: () => 0, sleep: async () => undefined };
      return JSON.stringify(await askWitness(witness, log, { ...clock, fetch }));
    },
  ],
  [
    'a calendar',
    async () => {
      const calendar = calendarClient(9000);
      const told = JSON.stringify(await calendar.submit(URL_OF_IT, new Uint8Array(32)));
      await calendar.close();
      return told;
    },
  ],
  [
    'a shop, by a client that buys',
    () => thrown(client().buy('/gauge', { signal_id: 'airquality.aqi', entity: 'us-denver' })),
  ],
  [
    'a shop, by a client that reads its catalogue',
    () => thrown(client('served').buy('/gauge', {})),
  ],
  ['a shop, by a client that searches', () => thrown(client().search('river'))],
];

function node() {
  return chainNode({ url: URL_OF_IT, network: NETWORKS['base-sepolia'] });
}

function client(catalog?: 'served') {
  return signalpressClient({
    baseUrl: `http://${NOWHERE}`,
    issuer: tinyKey().did,
    pay: (fetch) => fetch,
    maxUsd: '1',
    ...(catalog === undefined ? {} : { catalog }),
  });
}

describe('a host name that DNS does not know', () => {
  it.each(CALLERS)('is told as that of %s', async (_, told) => {
    expect(await told()).toMatch(IN_WORDS);
  });
});
