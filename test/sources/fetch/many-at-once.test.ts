import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import type { AgencyClient } from '../../../compiler/sources/fetch/agency-client.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { Agency } from './agency.ts';
import { ALL_PLAYS } from './all-plays.ts';
import { digestsOf } from './digests-of.ts';
import { PlayedShop } from './played-shop.ts';

const agency = new Agency();
const shops: PlayedShop[] = [];
beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);
afterEach(async () => {
  for (const shop of shops.splice(0)) await shop.close();
});

/** Agencies that answer in an order of our own, and what they saw. */
class OrderedClient implements AgencyClient {
  most = 0;
  readonly asked: string[] = [];
  readonly answered: string[] = [];
  readonly busy: string[] = [];
  twiceAtOnce = 0;
  readonly #waitOf: (turn: number) => number;

  constructor(waitOf: (turn: number) => number) {
    this.#waitOf = waitOf;
  }

  readonly ask: AgencyClient['ask'] = async ({ url }, receive) => {
    const { host } = new URL(url);
    if (this.busy.includes(host)) this.twiceAtOnce += 1;
    this.busy.push(host);
    this.asked.push(host);
    this.most = Math.max(this.most, this.busy.length);
    await new Promise((resolve) => setTimeout(resolve, this.#waitOf(this.asked.length)));
    this.busy.splice(this.busy.indexOf(host), 1);
    this.answered.push(host);
    const play = Object.values(ALL_PLAYS).find(
      (one) => one.host === host && url.includes(one.part ?? ''),
    );
    const body = play?.reply(Date.parse('2026-11-20T11:07:00Z'), url).body ?? '';
    const incoming = await receive(chunksOf(body));
    return { kind: 'payload', headers: {}, incoming };
  };

  async close(): Promise<void> {}
}

async function* chunksOf(body: string | Uint8Array) {
  yield Buffer.from(body);
}

/** Every source that asks one address, of a host that no other asks. */
const SEVERAL: ReadonlySet<string> = new Set([
  'bls',
  'cbp-bwt',
  'defillama',
  'hugging-face',
  'mcp-registry',
  'nws-warnings',
  'openfda-device',
]);
const IDS = Object.entries(ALL_PLAYS)
  .filter(
    ([id, { part }]) => !SEVERAL.has(id) && (part === undefined || id === 'open-meteo-archive'),
  )
  .map(([id]) => id);

async function asked(waitOf: (turn: number) => number, ids = IDS) {
  const client = new OrderedClient(waitOf);
  const publish = async (): Promise<number> => 1;
  const shop = new PlayedShop(agency, { plays: ALL_PLAYS, ids, by: { client, publish } });
  shops.push(shop);
  const { log, exit } = await shop.once();
  return { client, log, exit, stored: digestsOf(shop.snapshots) };
}

describe('sources that are asked at once', () => {
  it('are six at most, and one that is slow does not hold up the others', async () => {
    const { client, exit } = await asked((turn) => (turn === 1 ? 1500 : 5));
    expect(exit).toBe(0);
    expect(client.most).toBe(6);
    expect(client.answered.at(-1)).toBe(client.asked[0]);
    expect(client.asked).toHaveLength(IDS.length);
  });

  it('give the same log and the same batches, whoever answers first', async () => {
    const first = await asked((turn) => 5 + turn);
    const last = await asked((turn) => 5 + ((turn * 13) % 6) * 20);
    expect(last.client.answered).not.toEqual(first.client.answered);
    expect(last.log).toBe(first.log);
    expect(last.stored).toEqual(first.stored);
    const named = first.log.split('\n').flatMap((line) => /^([a-z-]+): \d/.exec(line)?.[1] ?? []);
    expect(named).toEqual([...IDS].sort());
  });

  it('are of different hosts', async () => {
    const ids = ['open-meteo-archive', 'open-meteo-soil-moisture', 'spc', 'nhc'];
    const hosts = ids.map((id) => hostsOf(rowOf(id))[0]);
    expect(new Set(hosts).size).toBe(3);
    const { client, exit } = await asked(() => 20, ids);
    expect({ exit, twiceAtOnce: client.twiceAtOnce, most: client.most }).toEqual({
      exit: 0,
      twiceAtOnce: 0,
      most: 3,
    });
  });
});
