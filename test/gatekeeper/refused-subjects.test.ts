import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { canonicalTarget } from '../../compiler/products/shapes/path.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { OPERATIONS } from '../conformance-table.ts';
import { sampleGate, sampleToken } from '../gate.ts';
import { compiledSample } from '../shop.ts';
import { removeFolders } from '../snapshot-folder.ts';

/** Clients cut an error there. */
const ERROR_CHARS_SHOWN = 200;

/** Values for subjects: sold of another signal, known by a name, near to something that is sold, misspelt, known to nobody. */
const WRONG = [
  'us-denver',
  'AAPL',
  'airquality.aqi',
  'Boston',
  'us-boston',
  'Denver, CO',
  'Facebook',
  'us-denvr',
  'MET',
  'BAX',
  'bog',
  'airquality.pm10',
  'airquality.aqq',
  'weather',
  'nobody-knows-it',
  '東京',
  `a "b" & c's=d`,
  '\0\u2028',
  'x'.repeat(3000),
];

/** Whom some of them name within a subject, as the shop calls them. */
const MEANT: Readonly<Record<string, readonly string[]>> = {
  'DENVER, CO': ['US-DENVER', '06714000'],
  'US-DENVR': ['US-DENVER'],
  BOSTON: ['BOS'],
  FACEBOOK: ['META'],
  東京: ['JAPAN'],
  WEATHER: ['SAMPLE-ORBIT-WEATHER'],
};

let gate: Gatekeeper;
beforeAll(async () => {
  gate = await sampleGate((await compiledSample()).data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

interface Refusal {
  readonly status: number;
  readonly error?: string;
  readonly example_request?: string;
  readonly example_is_of_another_subject?: boolean;
}

const HEADERS = { authorization: `Bearer ${sampleToken()}` };

async function ask(target: string): Promise<Refusal> {
  const response = await fetch(gate.url + target, { headers: HEADERS });
  const text = await response.text();
  return { ...(text.startsWith('{') ? JSON.parse(text) : {}), status: response.status };
}

/** An operation with each of its values wrong, left out, or beside one that no operation takes. */
function wrongTargets({ path, valid, none, illegal }: (typeof OPERATIONS)[number]): string[] {
  const values = Object.fromEntries(new URLSearchParams(valid));
  const others = [none, illegal].flatMap((query) => (query === null ? [] : [`${path}?${query}`]));
  const targets = Object.keys(values).flatMap((name) => {
    const { [name]: _, ...rest } = values;
    const wrong = WRONG.map((value) => canonicalTarget(path, { ...values, [name]: value }));
    return [canonicalTarget(path, { ...rest, x: '1' }), ...wrong];
  });
  return [...others, ...targets];
}

/** Every request that a text tells to send. */
const requestsIn = (text: string): string[] => {
  return [...text.matchAll(/\bGET (\/\S+)/g)].map(([, request = '']) => request);
};

/** Values of requests in a text that the question neither had nor meant. */
function foreignValues(text: string, asked: string): string[] {
  const own = valuesOf(asked).flatMap((value) => [value, ...(MEANT[value] ?? [])]);
  return requestsIn(text).flatMap((request) => {
    return valuesOf(request).filter((value) => !own.includes(value));
  });
}

const valuesOf = (target: string): string[] => {
  const { searchParams } = new URL(target, gate.url);
  return [...searchParams.values()].map((value) => value.toUpperCase());
};

const SOLD = new Set(
  BUILTIN.lines.flatMap(({ entities, signals }) => [...entities, ...signals.map(({ id }) => id)]),
);

describe('a refusal', () => {
  const rows = OPERATIONS.filter((row) => row.method !== 'POST' && !row.path.includes('sha256:'));
  const refusals: { readonly target: string; readonly refusal: Refusal }[] = [];
  beforeAll(async () => {
    for (const target of rows.flatMap(wrongTargets)) {
      const refusal = await ask(target);
      if (refusal.status === 422) refusals.push({ target, refusal });
    }
  });

  it('I64: leads to no other subject, whatever is asked of any operation', () => {
    expect(refusals.length).toBeGreaterThan(1000);
    for (const { target, refusal } of refusals) {
      expect([target, foreignValues(refusal.error ?? '', target)]).toEqual([target, []]);
    }
  });

  it('I64: guesses at no subject', () => {
    const guesses = refusals.flatMap(({ target, refusal: { error = '' } }) => {
      const guess = /did you mean "([^"]*)"/.exec(error)?.[1];
      return guess === undefined || !SOLD.has(guess) ? [] : [[target, guess]];
    });
    expect(guesses).toEqual([]);
  });

  it('I64: shows early a request that answers: it is free, or about what was asked', async () => {
    const free = new Set<string>();
    const meant = new Set<string>();
    for (const { target, refusal } of refusals) {
      const shown = /^Not charged\. Try GET (\/\S+) - /.exec(
        (refusal.error ?? '').slice(0, ERROR_CHARS_SHOWN),
      );
      expect([target, shown === null]).toEqual([target, false]);
      for (const request of requestsIn(refusal.error ?? '')) {
        (request === refusal.example_request ? meant : free).add(request);
      }
    }
    expect(free.size).toBeGreaterThan(50);
    expect(meant.size).toBeGreaterThan(5);
    for (const request of meant) {
      expect([request, [200, 402].includes((await ask(request)).status)]).toEqual([request, true]);
    }
    for (const request of free) {
      expect([request, (await fetch(gate.url + request)).status]).toEqual([request, 200]);
    }
  });

  it('keeps an example of its operation beside that, which answers', async () => {
    const examples = new Set(refusals.map(({ refusal }) => refusal.example_request ?? ''));
    for (const example of examples) {
      expect([example, [200, 402].includes((await ask(example)).status)]).toEqual([example, true]);
    }
  });

  it('I64: leads to no other subject in a basket, and its whole neither', async () => {
    const requests = ['/gauge?entity=us-boston&signal_id=airquality.aqi', '/gauge/region?loc=MET'];
    const body = JSON.stringify({ requests });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gate.url}/gauge/basket`, { method: 'POST', headers, body });
    const { error, basket } = (await response.json()) as {
      error: string;
      basket: { parts: { request: string; not_sold: string }[] };
    };
    expect([response.status, foreignValues(error, '/'), requestsIn(error).length]).toEqual([
      422,
      [],
      1,
    ]);
    for (const { request, not_sold } of basket.parts) {
      expect([request, requestsIn(not_sold).length]).toEqual([request, 1]);
      expect([request, foreignValues(not_sold, request)]).toEqual([request, []]);
    }
  });

  it.each([
    ['get_official_record', { signal_id: 'airquality.aqi', entity: 'us-boston' }],
    ['get_official_record', { signal_id: 'airquality.pm10', entity: 'us-denver' }],
    ['quote', { request: '/gauge/region?loc=us-boston' }],
    ['quote', { request: '/gauge/ruler?signal_id=filing.insider&entity=AAPL' }],
    ['find_signal', { signal_id: 'airquality.pm10' }],
    ['find_signal', { signal_id: 'airquality.aqi', entity: 'us-boston' }],
  ])('I64: leads to no other subject from the tool %s of %j', async (name, given) => {
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: given },
    };
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gate.url}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(call),
    });
    const { result } = (await response.json()) as {
      result: { isError: boolean; content: [{ text: string }] };
    };
    const [{ text }] = result.content;
    const said = text.startsWith('{') ? String(JSON.parse(text).error) : text;
    const asked = 'request' in given ? given.request : canonicalTarget('/', { ...given });
    expect([result.isError, foreignValues(said, asked)]).toEqual([true, []]);
    expect(said).not.toContain('did you mean');
  });
});

/** A name as somebody calls it, the signal that is asked, and whom it names there; null where that is not sold. */
const CALLED: readonly (readonly [said: string, signal: string, entity: string | null])[] = [
  ['Denver, CO', 'airquality.aqi', 'us-denver'],
  ['us-denvr', 'airquality.aqi', 'us-denver'],
  ['NYC', 'airquality.aqi', 'us-newyork'],
  ['Nueva York', 'airquality.aqi', 'us-newyork'],
  ['洛杉矶', 'airquality.aqi', 'us-losangeles'],
  ['Mississippi River at Memphis, TN', 'hydrology.river-level', '07032000'],
  ['KDEN', 'nas.aviation_wx', 'den'],
  ['Boston Logan', 'nas.aviation_wx', 'bos'],
  ['Facebook', 'filing.insider', 'META'],
  ['Apple', 'filing.insider', 'AAPL'],
  ['320193', 'filing.insider', 'AAPL'],
  ['adrenaline', 'drug-detail.status', 'epinephrine'],
  ['EpiPen', 'drug-detail.status', 'epinephrine'],
  ['carbopltin', 'drug-detail.status', 'carboplatin'],
  ['Bitcoin', 'crypto.spot', 'btc'],
  ['Japón', 'earthquake.current_activity', 'japan'],
  ['Allemagne', 'electricity.demand', 'eu-germany'],
  ['United States', 'macro.unemployment', 'us'],
  ['Boston', 'airquality.aqi', null],
  ['us-boston', 'airquality.aqi', null],
  ['Austin', 'airquality.aqi', null],
  ['Portland, ME', 'airquality.aqi', null],
  ['Paris', 'airquality.aqi', null],
  ['東京', 'airquality.aqi', null],
  ['Heathrow', 'nas.aviation_wx', null],
  ['bog', 'nas.aviation_wx', null],
  ['MET', 'filing.insider', null],
  ['BAX', 'filing.insider', null],
  ['Walmart', 'filing.insider', null],
  ['ibuprofen', 'drug-detail.status', null],
  ['dogecoin', 'crypto.spot', null],
  ['Detroit', 'border-wait.lane-wait', null],
];

describe('I64: a name of a subject', () => {
  const requestOf = (signal_id: string, entity: string): string =>
    canonicalTarget('/gauge', { signal_id, entity });

  /** What is wrong with the refusal of a name; nothing where it is right. */
  function faultsOf(
    { error = '', example_request = '', example_is_of_another_subject: isOther }: Refusal,
    [said, signal, entity]: (typeof CALLED)[number],
  ): string[] {
    const [shown = ''] = requestsIn(error.slice(0, ERROR_CHARS_SHOWN));
    const wanted =
      entity === null ? `/gauge/catalog?signal_id=${signal}` : requestOf(signal, entity);
    const faults = [];
    if (shown !== wanted) faults.push(`shows ${shown}`);
    if (entity !== null && example_request !== wanted) faults.push(`example ${example_request}`);
    if ((entity === null) !== (isOther === true))
      faults.push('does not say whom the example is of');
    // Tickers are asked for in capitals.
    const plain = `${JSON.stringify(said)} is not measured for ${signal}; `.toUpperCase();
    if ((entity === null) !== error.toUpperCase().includes(plain))
      faults.push('does not say whether it is sold');
    return faults;
  }

  it.each(CALLED)('"%s" within %s is %s', async (...row) => {
    const [said, signal] = row;
    expect(faultsOf(await ask(requestOf(signal, said)), row)).toEqual([]);
  });

  it('would be found wrong where it leads to another', async () => {
    const refusal = await ask(requestOf('airquality.aqi', 'Boston'));
    expect(faultsOf(refusal, ['Boston', 'airquality.aqi', 'us-houston']).length).toBe(4);
    const houston = requestOf('airquality.aqi', 'us-houston');
    const ordered = {
      status: 422,
      error: `Not charged. Try GET ${houston}`,
      example_request: houston,
    };
    expect(faultsOf(ordered, ['Boston', 'airquality.aqi', null]).length).toBe(3);
  });
});
