import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunStatus, SourceStatus } from '../../../../compiler/catalog/run-status.ts';
import { isoTime } from '../../../../compiler/format/iso-time.ts';
import { JOURNAL_NAME } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { dashboardCommand } from '../../../../gatekeeper/rooms/dashboard/dashboard-command.ts';
import { tideCatalog } from '../../../tide-shop.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
let now = NOW_MS;
const journal = sqliteJournal({ path: join(folder, JOURNAL_NAME), clock: () => now });
afterAll(() => {
  journal.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Sale {
  readonly at: number;
  readonly path?: string;
  readonly value?: string;
  readonly network?: string;
}

/** The same payer signs every other payment. */
async function claim({ at, path = '/gauge?entity=a', value = '5000', network = 'base' }: Sale) {
  const payer = `0x${(at % 2).toString().repeat(40)}`;
  const key = `${network}|0xasset|${payer}|0x${at.toString(16).padStart(64, '0')}`;
  await journal.claim({
    key,
    resource: `GET ${path}`,
    version: 1,
    signed: 'a|b|c|d|e|f|g',
    body: Buffer.from('same'),
    contentType: 'application/json',
    value,
    validBefore: NOW_S + 300,
  });
  return key;
}

async function sell(sale: Sale, settleMs: number): Promise<void> {
  const key = await claim(sale);
  now += settleMs;
  await journal.conclude({ key, state: 'settled', transaction: `0xt${sale.at}` });
}

beforeAll(async () => {
  await sell({ at: 1 }, 100);
  await sell({ at: 2, path: '/gauge/ruler?entity=a', value: '9007199254740993000001' }, 200);
  now = NOW_MS + DAY_MS;
  await sell({ at: 3, network: 'base-sepolia' }, 4000);
  await sell({ at: 4, value: '9'.repeat(31) }, 100);
  await sell({ at: 8, network: 'polygon', path: '/gauge/calibrated?entity=a' }, 300);
  const no = await claim({ at: 5 });
  await journal.conclude({ key: no, state: 'refused', detail: 'no money' });
  const doubt = await claim({ at: 6, path: '/gauge?entity=a&token=SECRET' });
  await journal.conclude({
    key: doubt,
    state: 'unknown',
    detail: '<img src=x onerror=alert(1)>\u202e',
  });
  await claim({ at: 7 });
  now += 2 * HOUR_MS;
});

const DONE = join(folder, 'page.html');

/** Writes the page and reads it. */
async function page(...args: string[]): Promise<string> {
  await run('--out', DONE, ...args);
  return readFileSync(DONE, 'utf8');
}

async function run(...args: string[]): Promise<{ notes: string; stop: () => Promise<void> }> {
  let notes = '';
  let stop = (): Promise<void> => Promise.resolve();
  const command = dashboardCommand({
    place: { stateDir: folder, journal: 'sqlite' },
    note: (text) => {
      notes += text;
    },
    clock: () => now,
    onListen: (given) => {
      stop = given;
    },
  });
  await command
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parseAsync(args, { from: 'user' });
  return { notes, stop: () => stop() };
}

function textOf(markup: string): string {
  return markup
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe('dashboard: sales', () => {
  it('sums days and products exactly, apart for each network', async () => {
    const text = textOf(await page());
    const [first, second] = [isoDay(NOW_MS), isoDay(NOW_MS + DAY_MS)];
    expect(text).toContain(`${first} base, 0xasset 2 $9007199254740993.005001`);
    expect(text).toContain(`${second} polygon, 0xasset 1 $0.005`);
    expect(text).toContain('/gauge/ruler base 1 $9007199254740993.000001');
    expect(text).toContain('/gauge base 1 $0.005');
    expect(text).toContain('Settled payments with impossible amounts are in no sum: 1.');
  });

  it('counts buyers and refusals', async () => {
    const text = textOf(await page());
    expect(text).toContain('Sales 3 0 3 Buyers 3 0 3 Payments refused 1 0 1');
  });

  it('counts no money that is worth nothing, and says that there was some', async () => {
    const text = textOf(await page());
    expect(text).toContain(
      'Not counted: 1 payment in money of a test network, which is worth nothing.',
    );
    expect(text).not.toMatch(/base-sepolia \d/);
  });

  it('draws them with a scale, dates and a unit', async () => {
    const markup = await page('--since', isoDay(NOW_MS), '--until', isoDay(NOW_MS + 2 * DAY_MS));
    const [drawn = ''] = /<svg.*?<\/svg>/s.exec(markup) ?? [];
    const ticks = Array.from(drawn.matchAll(/<text[^>]*>([^<]*)/g), ([, text]) => text);
    expect(ticks[0]).toBe('US dollars a day');
    expect(ticks.slice(-2)).toEqual([isoDay(NOW_MS).slice(5), isoDay(NOW_MS + DAY_MS).slice(5)]);
    expect(ticks.slice(1, -2)).toEqual(['$0', '$2000T', '$4000T', '$6000T', '$8000T', '$10,000T']);
    expect(drawn.match(/<rect/g)).toHaveLength(2);
    expect(drawn).not.toContain('NaN');
  });

  it('shows only the period that was asked for', async () => {
    const text = textOf(await page('--since', isoDay(NOW_MS), '--until', isoDay(NOW_MS + DAY_MS)));
    expect(text).toContain('Sales 2 0 2 Buyers 2 0 2 Payments refused 0 0 0');
    expect(text).not.toContain('polygon');
  });

  it('says so where nothing was sold', async () => {
    const text = textOf(await page('--since', '2020-01-01', '--until', '2020-01-02'));
    expect(text).toContain('Nothing was settled.');
    expect(text).toContain('Nothing was sold.');
    expect(text).toContain('Revenue $0.00 $0.00 $0.00 Sales 0 0 0');
  });
});

/** The heading of the page that ends before a day. */
async function firstLine(until: number): Promise<string> {
  return /<h1>(.*?)<\/h1>/s.exec(await page('--until', isoDay(until)))?.[1] ?? '';
}

describe('dashboard: the first line', () => {
  it('says more, less, as much or nothing, with both weeks', async () => {
    const few = '$0.005 of 1 sale to 1 buyer';
    const many = '$9007199254740993.005001 of 2 sales to 2 buyers';
    now = NOW_MS + 20 * DAY_MS;
    onTestFinished(() => {
      now = NOW_MS + DAY_MS + 2 * HOUR_MS;
    });
    expect(await firstLine(NOW_MS + DAY_MS)).toBe(
      `More than last week: ${many} in the 7 days to ${isoDay(NOW_MS + DAY_MS)}T00:00:00Z, nothing in the 7 days before.`,
    );
    expect(await firstLine(NOW_MS + 8 * DAY_MS)).toContain(
      `Less than last week: ${few} in the 7 days`,
    );
    expect(await firstLine(NOW_MS)).toMatch(
      /^No sale: nothing in .*, nothing in the 7 days before/,
    );
  });

  it('counts a week to the moment at which the page is made', async () => {
    const text = textOf(await page());
    expect(text).toContain(`3 sales to 3 buyers in the 7 days to ${isoTime(now)}`);
  });
});

describe('dashboard: open payments', () => {
  it('lists them with their age, escaped, and never shows a query', async () => {
    const markup = await page();
    expect(textOf(markup)).toContain('The oldest 2 of 2');
    expect(textOf(markup)).toMatch(/2\.0 h unknown \$0\.005 \/gauge base 0x0+/);
    expect(markup).toContain('&lt;img src=x onerror=alert(1)&gt;\\u{202e}');
    expect(markup).not.toContain('SECRET');
    expect(markup).not.toContain('<img');
    expect(markup).not.toContain('<script');
  });
});

const answered = (status: number, path: string, method = 'GET', more = {}): string => {
  const time = new Date(NOW_MS).toISOString();
  return JSON.stringify({ time, method, path, status, bytes: 1, ms: 1, ...more });
};

describe('dashboard: what was asked for and is not there', () => {
  const absent = (client: number, wanted: string) =>
    answered(422, '/gauge', 'GET', { client: `c${client}`, wanted });
  const wantedText = async (lines: readonly string[]): Promise<string> => {
    const text = textOf(await page('--log', file('wanted', lines.join('\n'))));
    return (
      /Asked for and not there The first.*?Is all well|Nothing, as far/.exec(text)?.[0] ?? text
    );
  };

  it('ranks it by how many asked, whatever one of them repeats', async () => {
    const text = await wantedText([
      ...Array.from({ length: 9 }, () => absent(1, 'entity=atlantis')),
      absent(1, 'entity=Atlantis '),
      absent(2, 'signal_id=tides.level entity=Oslo'),
      absent(3, 'signal_id=tides.level  entity=oslo'),
      answered(200, '/gauge/search', 'GET', { client: 'c4', wanted: 'q=price of ivory' }),
      answered(200, '/gauge/search', 'GET', { client: 'c4' }),
    ]);
    expect(text).toMatch(
      /\/gauge signal_id=tides\.level entity=oslo 2 .*\/gauge entity=atlantis 1 .*\/gauge\/search q=price of ivory 1 /,
    );
    expect(text).toContain('The first 3 of 3;');
    expect(await wantedText([answered(422, '/gauge')])).toBe('Nothing, as far');
  });

  it('counts both kinds and what failed, for the week', async () => {
    const lines = [
      absent(1, 'entity=a'),
      answered(422, '/gauge'),
      answered(200, '/gauge/search', 'GET', { wanted: 'q=b' }),
      answered(429, '(refused)'),
      answered(503, '/gauge'),
    ];
    const text = textOf(await page('--log', file('kinds', lines.join('\n'))));
    expect(text).toContain(
      'Asked for and not there (422) 2 0 2 Searches that found nothing 1 0 1 Refused as too many (429) 1 0 1 Failed here (500 and above) 1 0 1',
    );
  });

  it('is not filled by one client, nor by many with a word each, and nobody writes into the page', async () => {
    const one = Array.from({ length: 500 }, (_, at) => absent(1, `entity=spam-${at}`));
    const asked = [2, 3].map((client) => absent(client, 'entity=<script>alert(1)</script>\u202e'));
    expect(await wantedText([...one, ...asked])).toContain('The first 21 of 21;');
    expect(await wantedText([...one, ...asked])).toContain('Left out: 480');
    const crowd = Array.from({ length: 25_000 }, (_, at) => absent(at + 9, `entity=spam-${at}`));
    const text = await wantedText([...asked, ...crowd]);
    expect(text).toMatch(
      /Last asked \/gauge entity=&lt;script&gt;alert\(1\)&lt;\/script&gt;\\u\{202e\} 2 /,
    );
    expect(text).not.toContain('<script');
    expect(Number(/of (\d+);/.exec(text)?.[1])).toBeLessThanOrEqual(10_000);
    // Our own lines are never longer.
    expect(await wantedText([absent(1, 'x'.repeat(101))])).toBe('Nothing, as far');
  });
});

describe('dashboard: whether all is well', () => {
  it('tells the age of the release and the room on the disk, and links to the machines', async () => {
    const release = (sequence: number, hours: number) => ({
      sequence,
      as_of: new Date(now - hours * HOUR_MS).toISOString(),
    });
    const time = new Date(NOW_MS).toISOString();
    const log = file(
      'releases',
      [
        { time, event: 'started', release: release(6, 9) },
        { time, event: 'release_swapped', release: 'mark', ...release(7, 3) },
        { time, event: 'release_refused', release: 'mark', ...release(8, 1) },
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    const markup = await page('--log', log, '--grafana', 'https://grafana.example/d/1');
    expect(textOf(markup)).toMatch(/Age of the release 3\.0 h release 7, as of/);
    expect(textOf(markup)).toMatch(/Disk \d+ % free [\d.]+ GB, under/);
    expect(markup).toContain('<a href="https://grafana.example/d/1" rel="noreferrer">');
    expect(textOf(await page())).toContain('Age of the release ? give a log with --log');
  });
});

describe('dashboard: conversion', () => {
  it('counts answers 402 and 200 of what is sold, and nothing else', async () => {
    const lines = [
      ...Array.from({ length: 8 }, () => answered(402, '/gauge')),
      ...Array.from({ length: 3 }, () => answered(200, '/gauge')),
      answered(402, '/gauge/census'),
      answered(200, '/gauge/sample'),
      answered(402, '/gauge', 'HEAD'),
      answered(402, '/no/such/path'),
      answered(402, '/gauge').replace(/"time":"\d{4}/, '"time":"2019'),
      'signalpress listens on http://127.0.0.1:4021',
      '{"time":"2026',
    ];
    const half = lines.length / 2;
    const logs = [lines.slice(0, half), lines.slice(half)].map((part, at) =>
      file(`log-${at}`, `${part.join('\n')}\n`),
    );
    const text = textOf(await page('--log', logs[0] ?? '', '--log', logs[1] ?? ''));
    expect(text).toContain('Price told (402) 9 0 9 Conversion 33.3 % 33.3 %');
    expect(text).toContain('/gauge base 1 $0.005 8 3 37.5 %');
    expect(text).toContain('/gauge/census 0 1 0 0.0 %');
    expect(text).toContain('Lines that are no answer: 2.');
    expect(text).not.toContain('/no/such/path');
  });

  it('goes by the catalogue that it is given, and counts no free answer as sold', async () => {
    const catalog = file(
      'catalog.json',
      JSON.stringify(tideCatalog({ level: { free: ['latest'] } })),
    );
    const payer = { payer: '0xabc' };
    const log = file(
      'tides-log',
      [
        answered(402, '/gauge/tide-region'),
        answered(200, '/gauge/tide-region'),
        answered(402, '/gauge/region'),
        answered(200, '/gauge'),
        JSON.stringify({ ...JSON.parse(answered(200, '/gauge')), ...payer }),
      ].join('\n'),
    );
    const text = textOf(await page('--log', log, '--catalog', catalog));
    const twice = 'Price told (402) 1 0 1 Conversion 200.0 % 200.0 %';
    expect(text).toContain(twice);
    expect(text).not.toContain('/gauge/region');
    expect(textOf(await page('--log', log))).toContain(twice);
    expect(textOf(await page('--log', log))).toContain('/gauge/region');
    const broken = page('--log', log, '--catalog', file('broken', '{"format":"x"}'));
    await expect(broken).rejects.toThrow(
      /^Cannot read catalogue .*name the catalog.json of a release/,
    );
  });

  it('says that a log is missing, instead of showing 0 %', async () => {
    expect(textOf(await page())).toContain('Give a log with --log for what was asked');
  });

  it('reads a file without line ends in little memory, and refuses what is no file', async () => {
    const huge = file('huge', `${'x'.repeat(1_000_000)}\n${answered(402, '/gauge')}`);
    const text = textOf(await page('--log', huge));
    expect(text).toContain('Price told (402) 1 0 1 Conversion 0.0 % 0.0 %');
    await expect(page('--log', folder)).rejects.toThrow(/^Cannot read log .*not a plain file/);
    await expect(page('--log', join(folder, 'none'))).rejects.toThrow(/^Cannot read log/);
  });
});

const time = (ms: number): string => new Date(ms).toISOString();

function source(more: Partial<SourceStatus> = {}): SourceStatus {
  return {
    last_attempt: time(now),
    last_success: time(now),
    last_change: null,
    next_due: time(now + HOUR_MS),
    consecutive_failures: 0,
    last_error: null,
    waiting: 0,
    unread: 0,
    resume_at: null,
    ...more,
  };
}

function statusFile(sources: Record<string, SourceStatus>): string {
  const compile = { is_due: true, last_success: time(now), last_error: '<b>disk', release: 7 };
  const status: RunStatus = {
    version: 1,
    updated_at: time(now),
    imported_through: null,
    compile,
    sources,
    warned_on: null,
  };
  return file('status.json', JSON.stringify(status));
}

describe('dashboard: sources', () => {
  it('shows each with its health, the worst first, and the last compile', async () => {
    const path = statusFile({
      'a-good': source(),
      'b-late': source({ next_due: time(now - 3 * HOUR_MS) }),
      'c-bad': source({ consecutive_failures: 4, last_error: 'HTTP 503 "<i>"', waiting: 12 }),
      'd-new': source({ last_attempt: null, last_success: null, next_due: null }),
    });
    const markup = await page('--status', path);
    const text = textOf(markup);
    expect(text).toContain('Healthy sources 1 of 4');
    expect(text.match(/[abcd]-(good|late|bad|new) (healthy|late|failing|never asked)/g)).toEqual([
      'c-bad failing',
      'b-late late',
      'd-new never asked',
      'a-good healthy',
    ]);
    expect(text).toContain('4 12 HTTP 503 &quot;&lt;i&gt;&quot;');
    expect(text).toContain('Release 7 was published');
    expect(markup).toContain('The last compile failed: &lt;b&gt;disk');
  });

  it.each([
    ['not JSON', 'x'],
    ['another version', '{"version":2}'],
    ['another shape', '{"version":1,"sources":[]}'],
  ])('refuses a status file that is %s', async (_, text) => {
    const path = file('wrong.json', text);
    await expect(page('--status', path)).rejects.toThrow(/^Cannot read status file .*--status/);
  });
});

describe('dashboard: the command', () => {
  it('writes a file that its owner alone may read, without scripts or links to elsewhere', async () => {
    const markup = await page();
    expect(statSync(DONE).mode & 0o777).toBe(0o600);
    const tags = markup.match(/<[^>]+>/g) ?? [];
    expect(tags.length).toBeGreaterThan(100);
    expect(tags.join('\n')).not.toMatch(/<script|\son\w+=|https?:|src=|href=/);
    expect(markup).toContain('default-src &#39;none&#39;');
  });

  it.each([
    [['--state', join(folder, 'none')], /^Cannot open payment journal/],
    [['--since', '2026-02-30'], /^Cannot read day/],
    [['--since', '2026-02-02', '--until', '2026-02-02'], /^Cannot show days/],
    [['--serve', '70000'], /^Cannot read port/],
    [['--grafana', 'javascript:alert(1)'], /^Cannot link to/],
    [['--grafana', 'https://user:secret@grafana.example/'], /^Cannot link to/],
    [['--out', join(folder, 'none', 'x.html')], /^Cannot write/],
  ])('refuses %j', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message);
  });

  it('serves the page of the moment on loopback alone, under a strict policy', async () => {
    const { notes, stop } = await run('--serve');
    onTestFinished(stop);
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(notes)?.[0] ?? '';
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('Sales by day');
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; .*frame-ancestors 'none'$/,
    );
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${url}x`)).status).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect(await statusUnder(url, 'evil.example')).toBe(403);
    expect(await statusUnder(url, '127.0.0.1.evil.example:80')).toBe(403);
  });
});

function statusUnder(url: string, host: string): Promise<number | undefined> {
  return new Promise((done, fail) => {
    get(url, { headers: { host } }, (response) => {
      response.resume();
      done(response.statusCode);
    }).on('error', fail);
  });
}
