import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as httpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { formatFaults } from '../../../compiler/catalog/catalog-file.ts';
import { accountOf, defineBuy, networksNamed } from '../../../compiler/cli/buy-command.ts';
import { check } from '../../../compiler/cli/check.ts';
import { newShop } from '../../../compiler/cli/init-command.ts';
import { wallet } from '../../../compiler/client/account-wallet.ts';
import { ClientError } from '../../../compiler/client/client-error.ts';
import { signalpressClient } from '../../../compiler/client/signalpress-client.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import type { CommandSettings } from '../../../compiler/system/command-settings.ts';
import { verifyBody } from '../../../compiler/verify/verify-body.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { built } from '../../command-runs.ts';
import { sampleGate } from '../../gate.ts';
import { NOW_MS } from '../../gatekeeper/payer.ts';
import { expectPrintedShop } from '../../quick-start.ts';
import {
  compileFolder,
  fileOf,
  makeFolder,
  readJson,
  removeFolders,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const AS_OF = new Date(NOW_MS).toISOString();
const shopIn = (folder: string, more: Partial<Parameters<typeof newShop>[0]> = {}): string =>
  newShop({ folder, line: 'tides', extended: null, nowMs: NOW_MS, ...more });

describe('newShop()', () => {
  it('writes files of the format, and nothing into a folder that holds something', () => {
    const folder = makeFolder();
    shopIn(folder);
    const [name = ''] = readdirSync(join(folder, 'snapshots/catalog'));
    const text = readFileSync(join(folder, 'snapshots/catalog', name), 'utf8');
    const value = JSON.parse(text);
    expect([name, value.extends, formatFaults({ file: name, value })]).toEqual([
      'tides.json',
      null,
      [],
    ]);
    const schema = join(folder, 'snapshots/catalog', value.$schema);
    expect(readFileSync(schema, 'utf8')).toBe(
      readFileSync('snapshots/catalog.schema.json', 'utf8'),
    );
    expect(() => shopIn(folder)).toThrow('is not empty, and nothing is overwritten; name a new');
    expect(readFileSync(join(folder, 'snapshots/catalog', name), 'utf8')).toBe(text);
  });

  it.each([
    ['Tides', 'not a name in lower-case letters'],
    ['tide_gauge', 'not a name in lower-case letters'],
    ['../x', 'not a name in lower-case letters'],
    ['drought', 'the built-in catalogue has a line of that name; pass another'],
    ['japan', '"/gauge/japan-region" is an operation of its own'],
    ['a'.repeat(65), 'pass another name'],
  ])('refuses a line %s, and makes nothing', (line, words) => {
    for (const extended of [null, 'builtin'] as const) {
      const folder = join(makeFolder(), 'shop');
      expect(() => shopIn(folder, { line, extended })).toThrow(words);
      expect(existsSync(folder)).toBe(false);
    }
  });

  it('refuses a folder that a shell would read as something else, and a file', () => {
    for (const name of ["o'clock", 'two\nlines', 'back\\slash']) {
      expect(() => shopIn(join(makeFolder(), name))).toThrow('name another folder');
    }
    const file = join(makeFolder(), 'file');
    writeFileSync(file, '');
    expect(() => shopIn(file)).toThrow();
  });

  it('writes a catalogue that people can edit: short lists stand in one line', () => {
    const folder = makeFolder();
    shopIn(folder);
    const text = readFileSync(join(folder, 'snapshots/catalog/tides.json'), 'utf8');
    expect(text).toContain('\n      "metrics": ["level_m"],\n'.replace('      ', '          '));
    expect(text.split('\n').every((line) => line.length < 120)).toBe(true);
    expect(text.split('\n').length).toBeLessThan(90);
  });

  it('quotes a folder with a blank', () => {
    expect(shopIn(join(makeFolder(), 'my shop'))).toMatch(/\. '\/.*\/my shop\/shop\.env'; set \+a/);
  });
});

/** What a publisher edits: a station, a threshold and a price. */
function edited(folder: string): void {
  const path = join(folder, 'snapshots/catalog/tides.json');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.lines[0].entities[0].name = 'Pier One';
  file.rulers['tides-stages'].steps[2].at = 3.3;
  file.prices['/gauge/tides-region'] = '0.4';
  writeFileSync(path, JSON.stringify(file));
}

describe.each([[null], ['builtin']] as const)('a shop that extends %s', (extended) => {
  it('leads from init over an edit to a record that was bought and verified', async () => {
    const folder = join(makeFolder(), 'shop');
    shopIn(folder, { extended });
    edited(folder);
    const snapshots = join(folder, 'snapshots');
    const checked = { snapshots, data: null, asOf: AS_OF, scratch: makeFolder() };
    expect(await check(checked)).toMatchObject({ readings: 18, batches: 1 });
    const { data } = await compileFolder(snapshots, { asOf: AS_OF });
    const issuer: string = readJson(join(data, 'current'), 'release.json').issuer_did;
    expect((await verifyRelease(data, { trust: [issuer] })).faults).toEqual([]);
    const gate = await sampleGate(data);
    const catalog = readFileSync(fileOf(join(data, 'current'), 'catalog.json'));
    const clock = () => NOW_MS;
    const pay = wallet({
      account: accountOf(undefined),
      now: clock,
      networks: networksNamed(undefined),
    });
    const client = signalpressClient({ baseUrl: gate.url, issuer, catalog, pay, clock });
    const record = { signal_id: 'tides.level', entity: 'station-one' };
    const sold = await client.buy('/gauge', record);
    expect(sold.text).toContain('"Pier One"');
    expect(sold.text).toContain('"flood"');
    const judged = (text: string) => verifyBody(parseJson(text), { trust: [issuer] }).verdict;
    expect([judged(sold.text), judged(sold.text.replace('Pier One', 'Pier Two'))]).toEqual([
      'verified',
      'failed',
    ]);
    const place = { loc: 'station-one' };
    await expect(client.buy('/gauge/tides-region', place)).rejects.toThrow(ClientError);
    const bundle = await client.buy('/gauge/tides-region', place, { maxUsd: '0.4' });
    expect(bundle.text).toContain('"legs_lit"');
    await gate.close();
  });
});

describe('buy', () => {
  it('shows the payment where what it brought does not hold, and it brings the same again', async () => {
    const folder = join(makeFolder(), 'shop');
    shopIn(folder);
    const { data, release } = await compileFolder(join(folder, 'snapshots'), { asOf: AS_OF });
    const gate = await sampleGate(data);
    // A door before the shop that alters what was paid for.
    const door = httpServer(async (request, response) => {
      const payment = request.headers['payment-signature'];
      const headers = payment === undefined ? {} : { 'payment-signature': String(payment) };
      const answer = await fetch(gate.url + request.url, { headers });
      const text = await answer.text();
      // The clock of the shop, beside what it asks.
      for (const name of ['date', 'payment-required']) {
        const value = answer.headers.get(name);
        if (value !== null) response.setHeader(name, value);
      }
      response.writeHead(answer.status);
      response.end(payment === undefined ? text : text.replace('"band":"flood"', '"band":"high"'));
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const { port } = door.address() as AddressInfo;
    const target = `http://127.0.0.1:${port}/gauge?signal_id=tides.level&entity=station-one`;
    const command = new Command();
    defineBuy(command, { now: () => NOW_MS, print: () => undefined } as unknown as CommandSettings);
    const sold = command.parseAsync([target, '--issuer', release.issuer_did], { from: 'user' });
    const { message } = await sold.then(
      () => new Error('bought'),
      (error: Error) => error,
    );
    door.close();
    const [, header = '', at = ''] = /^ {2}curl -sS -H '(.*)' '(.*)'$/m.exec(message) ?? [];
    expect(message).toMatch(/^Cannot rely on /);
    expect([message.includes("this error's"), at.slice(0, 17)]).toEqual([
      false,
      'http://127.0.0.1:',
    ]);
    const [name = '', value = ''] = header.split(': ');
    const again = await fetch(at.replace(`:${port}/`, `:${new URL(gate.url).port}/`), {
      headers: { [name]: value },
    });
    expect([again.status, (await again.text()).includes('"band":"flood"')]).toEqual([200, true]);
    await gate.close();
  });
});

/** Ids, paths and places that only the built-in catalogue has. */
const FOREIGN = [
  ...['/trust/', '/stable/', '/mcp/preview', '/stablecoin-deaths', '/resolve/'],
  ...BUILTIN.signals.map(({ id }) => id),
  ...BUILTIN.lines.flatMap(({ bundle, entities }) => [
    ...(bundle === undefined ? [] : [bundle.path]),
    ...entities.filter((entity) => entity.length > 8),
  ]),
];
const foreignIn = (text: string): string[] => FOREIGN.filter((name) => text.includes(name));

describe('a shop that extends nothing', () => {
  it('shows at every door what is there, and nothing else', async () => {
    const folder = join(makeFolder(), 'shop');
    shopIn(folder);
    const { data } = await compileFolder(join(folder, 'snapshots'), { asOf: AS_OF });
    const gate = await sampleGate(data);
    const rpc = (method: string, params: object = {}) => ({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    };
    const doors: readonly (readonly [string, RequestInit?])[] = [
      ...['/llms.txt', '/manifest', '/manifest?all=1', '/openapi.json', '/', '/docs'].map(
        (path) => [path] as const,
      ),
      ...['/.well-known/agent-card.json', '/.well-known/agent.json', '/.well-known/x402'].map(
        (path) => [path] as const,
      ),
      ...['/gauge/preview', '/gauge/catalog', '/gauge/coverage', '/gauge/sample'].map(
        (path) => [path] as const,
      ),
      ['/mcp', rpc('initialize', hello)],
      ['/mcp', rpc('tools/list')],
      ['/gauge'],
      ['/gauge?signal_id=nothing&entity=nowhere'],
    ];
    const said = await Promise.all(
      doors.map(async ([path, init]) => {
        const text = await (await fetch(gate.url + path, init)).text();
        expect([path, text.length > 50]).toEqual([path, true]);
        return { path, foreign: foreignIn(text), own: text.includes('tides') };
      }),
    );
    await gate.close();
    expect(said.filter(({ foreign }) => foreign.length > 0)).toEqual([]);
    expect(said.filter(({ own }) => own).length).toBeGreaterThan(10);
    expect(foreignIn('one of airquality.aqi')).toEqual(['airquality.aqi']);
  });
});

describe('the commands that init prints', () => {
  it('work as they are printed, down to the verified record', () =>
    expectPrintedShop({
      signalpress: built('compiler/signalpress.js'),
      'signalpress-gate': built('gatekeeper/signalpress-gate.js'),
    }));
});
