import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../../../../compiler/catalog/run-status.ts';
import { runMetrics } from '../../../../../compiler/sources/fetch/run-metrics.ts';
import { built } from '../../../../command-runs.ts';
import { type Sample, samplesIn } from '../../../../gatekeeper/logged-service.ts';
import { paymentAt } from '../../../../gatekeeper/tiny-gate.ts';
import { tinyDataDir, writeTinyRelease } from '../../../../gatekeeper/tiny-release.ts';

const MAIN = 'gatekeeper/signalpress-gate.js';
const DEPLOY = resolve('gatekeeper/deploy');
const RULES = join(DEPLOY, 'prometheus/signalpress.rules.yml');
const RULE_TESTS = join(DEPLOY, 'prometheus/signalpress.rules.test.yml');
const DASHBOARD = join(DEPLOY, 'grafana/signalpress.json');
const PAID = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const DAY_MS = 86_400_000;

const rules = readFileSync(RULES, 'utf8');
const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as {
  panels: { id: number; type: string; title: string; targets?: { expr: string }[] }[];
  templating: { list: { name: string; query: string | { query: string } }[] };
  annotations: { list: { expr: string }[] };
};
const charts = dashboard.panels.filter(({ type }) => type !== 'row');
const shown = [
  ...charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }) => expr),
];

/** What the publisher tells beside it, after a success and a failure. */
const [FIRST, LAST] = ['2026-11-29T10:00:00Z', '2026-11-29T11:00:00Z'];
const RUN_STATUS: RunStatus = {
  version: 1,
  updated_at: LAST,
  imported_through: LAST,
  compile: { is_due: false, last_success: LAST, last_error: null, release: 7 },
  sources: {
    eia: {
      last_attempt: LAST,
      last_success: FIRST,
      last_change: FIRST,
      next_due: '2026-11-29T11:20:00Z',
      consecutive_failures: 2,
      last_error: 'it answered 500',
      waiting: 0,
      unread: 3,
      resume_at: null,
    },
  },
  warned_on: null,
};

/** A metric as an expression names it, with the labels that it asks for by value. */
interface Selector {
  readonly name: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Labels that are asked for in any way. */
  readonly names: readonly string[];
}

/** Labels that Prometheus adds to what it scrapes. */
const ADDED = ['job', 'instance'];

function selectorsIn(text: string): Selector[] {
  const found = text.matchAll(/\b((?:signalpress|nodejs|process)_\w+)(?:\{([^}]*)\})?/g);
  return [...found].map(([, name = '', inside = '']) => {
    const matchers = [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].filter(
      ([, label = '']) => !ADDED.includes(label),
    );
    const exact = matchers.filter(([, , how]) => how === '=');
    return {
      name,
      labels: exact.map(([, label = '', , value = '']) => [label, value] as const),
      names: matchers.map(([, label = '']) => label),
    };
  });
}

/** What no sample stands for. */
function missing(selectors: readonly Selector[], samples: readonly Sample[]): Selector[] {
  return selectors.filter(
    ({ name, labels, names }) =>
      !samples.some(
        (sample) =>
          sample.name === name &&
          names.every((label) => label in sample.labels) &&
          labels.every(([label, value]) => sample.labels[label] === value),
      ),
  );
}

/** The expressions of the rules, without what they say in words. */
const ruleText = rules
  .split('\n')
  .filter((line) => !/^\s*(#|(summary|do):)/.test(line))
  .join('\n');

describe('missing()', () => {
  const samples = samplesIn('signalpress_a{state="open"} 1\nsignalpress_b 2\n');

  it.each([
    ['signalpress_a', 0],
    ['signalpress_a{state="open"}', 0],
    ['rate(signalpress_a{state=~"o.*",job="$job"}[5m]) / signalpress_b', 0],
    ['signalpress_c', 1],
    ['signalpress_a{state="closed"}', 1],
    ['signalpress_a{status!="x"}', 1],
    ['signalpress_b{state="open"}', 1],
  ])('of %s are %i', (text, count) => {
    expect(missing(selectorsIn(text), samples)).toHaveLength(count);
  });
});

// The build is the program; without it there is nothing to run.
describe('a scrape of the gatekeeper (needs a build)', () => {
  let facilitator: Server;
  let scraped = '';
  let samples: Sample[] = [];
  const settles = { status: 200, body: '' };
  const stops: (() => void)[] = [];

  beforeAll(async () => {
    facilitator = createServer((request, response) => {
      request.resume();
      const isSettling = request.url === '/settle';
      response.writeHead(isSettling ? settles.status : 200, { 'content-type': 'application/json' });
      response.end(isSettling ? settles.body : '{"isValid":true,"kinds":[]}');
    });
    await new Promise<void>((done) => facilitator.listen(0, '127.0.0.1', done));
    const { port } = facilitator.address() as AddressInfo;
    const gate = await shippedGate(`http://127.0.0.1:${port}`);
    stops.push(gate.stop);
    settles.body = '{"success":true,"transaction":"0x12"}';
    const statuses = [await buy(gate.url)];
    settles.body = '{"success":false,"errorReason":"insufficient_funds"}';
    statuses.push(await buy(gate.url));
    settles.status = 500;
    statuses.push(await buy(gate.url));
    expect(statuses).toEqual([200, 402, 503]);
    scraped = `${await (await fetch(gate.metrics)).text()}${runMetrics(RUN_STATUS)}`;
    samples = samplesIn(scraped);
  });
  afterAll(() => {
    for (const stop of stops) stop();
    facilitator.close();
  });

  it('holds every metric that the rules name, after a price, a sale, a refusal and a doubt', () => {
    const named = selectorsIn(ruleText);
    expect(new Set(named.map(({ name }) => name)).size).toBeGreaterThan(15);
    expect(missing(named, samples)).toEqual([]);
  });

  it('holds every metric that the dashboard names', () => {
    const named = shown.flatMap(selectorsIn);
    expect(new Set(named.map(({ name }) => name)).size).toBeGreaterThan(15);
    expect(missing(named, samples)).toEqual([]);
  });

  it('is shown whole: the dashboard leaves out no metric of ours', () => {
    const named = new Set([...shown.flatMap(selectorsIn), ...selectorsIn(ruleText)].map(familyOf));
    const own = new Set(samples.filter(({ name }) => /^signalpress_/.test(name)).map(familyOf));
    own.delete('signalpress_build_info');
    expect([...own].filter((name) => !named.has(name))).toEqual([]);
  });

  it('is explained whole in OBSERVING.md; vitest writes the table with --update', async () => {
    const path = resolve('gatekeeper/OBSERVING.md');
    const helped = scraped.matchAll(/^# HELP (signalpress_\w+) (.*)$/gm);
    const rows = [...helped].map(([, name, help]) => `| \`${name}\` | ${help} |\n`).sort();
    expect(rows.length).toBeGreaterThan(20);
    const text = readFileSync(path, 'utf8');
    const made = text.replace(/(^\| `signalpress_\w+` .*\n)+/m, () => rows.join(''));
    await expect(made).toMatchFileSnapshot(path);
  });

  it('has labels of few values', () => {
    const series = new Map<string, number>();
    for (const { name } of samples) series.set(name, (series.get(name) ?? 0) + 1);
    expect(Math.max(...series.values())).toBeLessThan(200);
    expect(samples.length).toBeLessThan(2000);
  });
});

function familyOf({ name }: { readonly name: string }): string {
  return name.replace(/_(bucket|sum|count)$/, '');
}

interface ShippedGate {
  readonly url: string;
  readonly metrics: string;
  readonly stop: () => void;
}

/** The program as it is shipped, with metrics; tells where it and they are. */
async function shippedGate(facilitatorUrl: string): Promise<ShippedGate> {
  const dataDir = tinyDataDir();
  const valid_until = new Date(Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS).toISOString();
  writeTinyRelease(dataDir, { head: { valid_until: valid_until.replace('.000', '') } });
  const env = {
    SIGNALPRESS_DATA: dataDir,
    SIGNALPRESS_PORT: '0',
    SIGNALPRESS_METRICS: '127.0.0.1:0',
    SIGNALPRESS_PAY_TO: '0x52908400098527886E0F7030069857D2E4169EE7',
    SIGNALPRESS_FACILITATOR_URL: facilitatorUrl,
    SIGNALPRESS_VERIFY: 'always',
  };
  const cwd = mkdtempSync(join(tmpdir(), 'signalpress-run-'));
  const child = spawn(process.execPath, [built(MAIN)], { cwd, env });
  let output = '';
  const line = await new Promise<string>((done, fail) => {
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.once('exit', () => fail(new Error(`not started: ${output}`)));
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const started = text.split('\n').find((one) => one.includes('"event":"started"'));
      if (started !== undefined) done(started);
    });
  });
  const { url, metrics } = JSON.parse(line) as { url: string; metrics: string };
  return { url, metrics, stop: () => child.kill('SIGKILL') };
}

async function buy(url: string): Promise<number> {
  const header = await paymentAt(url + PAID, Date.now());
  return (await fetch(url + PAID, { headers: { 'x-payment': header } })).status;
}

const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });
const hasPromtool = promtool('--version').status === 0;

/** The tests of one alert alone: all of them take seconds. */
function alertTests(alert: string): string {
  const [head = '', ...tests] = readFileSync(RULE_TESTS, 'utf8').split(/^ {2}- name: /m);
  const own = tests.filter((one) => one.startsWith(`${alert}\n`));
  expect([alert, own.length]).toEqual([alert, 1]);
  return `${head}  - name: ${own}`;
}

describe.skipIf(!hasPromtool)('promtool (needs Prometheus)', () => {
  it('takes the rules and the configuration', () => {
    for (const args of [
      ['rules', RULES],
      ['config', join(DEPLOY, 'prometheus/prometheus.yml')],
    ]) {
      const { status, stdout, stderr } = promtool('check', ...args);
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    }
  });

  it('sees each alert fire for what is bad, and none for what is good', () => {
    const { status, stdout, stderr } = promtool('test', 'rules', RULE_TESTS);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    const tests = readFileSync(RULE_TESTS, 'utf8');
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
    expect(alerts.length).toBeGreaterThan(15);
    expect(alerts.filter((name) => !tests.includes(`alertname: ${name}\n`))).toEqual([]);
  });

  it.each([
    ['SignalpressAnswersFail', '> 0.02', '> 0.5'],
    ['SignalpressDoesNotSell', '{state="sells"} == 1', '{state="sells"} == 0'],
    ['SignalpressDown', '{severity: page}', '{severity: ticket}'],
  ])('would see at %s that %s became %s', (alert, from, to) => {
    const tests = alertTests(alert);
    const statusOf = (text: string): number | null => {
      const folder = mkdtempSync(join(tmpdir(), 'signalpress-rules-'));
      writeFileSync(join(folder, 'signalpress.rules.yml'), text);
      writeFileSync(join(folder, 'signalpress.rules.test.yml'), tests);
      return promtool('test', 'rules', join(folder, 'signalpress.rules.test.yml')).status;
    };
    expect(statusOf(rules)).toBe(0);
    const changed = rules.replace(from, to);
    expect(changed).not.toBe(rules);
    expect(statusOf(changed)).toBe(1);
  });

  it('takes every expression of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalpress-dashboard-'));
    const expressions = shown.map((expr, at) => {
      const filled = expr.replaceAll('$__rate_interval', '5m').replaceAll('$', '');
      return `      - record: dashboard:expression:${at}\n        expr: ${JSON.stringify(filled)}\n`;
    });
    const file = join(folder, 'dashboard.yml');
    writeFileSync(file, `groups:\n  - name: dashboard\n    rules:\n${expressions.join('')}`);
    const { status, stdout, stderr } = promtool('check', 'rules', file);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});

describe('the dashboard', () => {
  it('has a place and a number of its own for each panel, and something to show in it', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    expect(charts.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    expect(charts.length).toBeGreaterThan(20);
  });

  it('takes its source, job and instance from variables', () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'job', 'instance']);
    const own = shown.filter((expr) => /\b(signalpress|nodejs|process)_/.test(expr));
    expect(own.filter((expr) => !expr.includes('job="$job",instance=~"$instance"'))).toEqual([]);
  });
});
