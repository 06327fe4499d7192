import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { JOURNAL_NAME } from '../../../../gatekeeper/heart/journal/journal-file.ts';
import { ledgerCommand } from '../../../../gatekeeper/heart/journal/ledger-command.ts';
import { sqliteJournal } from '../../../../gatekeeper/heart/journal/sqlite-journal.ts';
import { NOW_MS, NOW_S } from '../../payer.ts';

const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
const PLACE = { stateDir: folder, journal: 'sqlite' };
const DAY_MS = 86_400_000;
const SALES = 2500;
let now = NOW_MS;
const journal = sqliteJournal({ path: join(folder, JOURNAL_NAME), clock: () => now });
afterAll(() => {
  journal.close();
  rmSync(folder, { recursive: true, force: true });
});

function claim(at: number, value: string, path = '/gauge?entity=a') {
  const payer = `0x${(at % 3).toString().repeat(40)}`;
  const nonce = `0x${at.toString(16).padStart(64, '0')}`;
  return {
    key: `base|0xasset|${payer}|${nonce}`,
    resource: `GET ${path}`,
    version: 1,
    signed: 'a|b|c|d|e|f|g',
    body: Buffer.from('same'),
    contentType: 'application/json',
    value,
    validBefore: NOW_S + 300,
  } as const;
}

beforeAll(async () => {
  const sales = Array.from({ length: SALES }, (_, at) => claim(at, '9007199254740993'));
  await Promise.all(sales.map((sale) => journal.claim(sale)));
  const settled = sales.map(({ key }, at) =>
    journal.conclude({ key, state: 'settled', transaction: `0xt${at}` }),
  );
  await Promise.all(settled);
  now += DAY_MS;
  const late = claim(SALES, '5000', '/trust/precheck?service=x');
  await journal.claim(late);
  await journal.conclude({ key: late.key, state: 'settled', transaction: '0xlate' });
  const no = claim(SALES + 1, '9'.repeat(70));
  await journal.claim(no);
  await journal.conclude({ key: no.key, state: 'refused', detail: '=cmd|"x",\ny' });
  await journal.claim(claim(SALES + 2, '1'));
});

async function ledger(...args: string[]): Promise<string> {
  return (await output(...args)).out;
}

/** What a command writes, and what it tells people beside that. */
async function output(...args: string[]): Promise<{ out: string; notes: string }> {
  let [out, notes] = ['', ''];
  const write = (text: string): void => {
    out += text;
  };
  const note = (text: string): void => {
    notes += text;
  };
  const command = ledgerCommand({ place: PLACE, write, note, clock: () => now });
  await command.exitOverride().parseAsync(args, { from: 'user' });
  return { out, notes };
}

const ATOMIC = 9007199254740993n;

/** A ledger command over a journal of its own, and what it says. */
function freshLedger() {
  const state = mkdtempSync(join(tmpdir(), 'ledger-'));
  let at = NOW_MS;
  const own = sqliteJournal({ path: join(state, JOURNAL_NAME), clock: () => at });
  onTestFinished(() => {
    own.close();
    rmSync(state, { recursive: true, force: true });
  });
  async function sell(row: ReturnType<typeof claim>, settledMs: number): Promise<void> {
    await own.claim(row);
    at = settledMs;
    await own.conclude({ key: row.key, state: 'settled', transaction: '0xt' });
  }
  return { sell, output: (...args: string[]) => output(...args, '--state', state) };
}

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe('ledger', () => {
  it('revenue sums exactly what was settled, beyond what a double holds', async () => {
    const total = ATOMIC * BigInt(SALES);
    const days = (await ledger('revenue')).trim().split('\r\n').slice(1);
    expect(days).toHaveLength(2);
    expect(days[0]).toContain(`,base,0xasset,${SALES},${total},`);
    expect(days[1]).toMatch(/,1,5000,0\.005$/);
    const paths = (await ledger('revenue', '--by', 'path')).trim().split('\r\n').slice(1);
    expect(paths.map((row) => row.split(',')[0])).toEqual(['/gauge', '/trust/precheck']);
    expect((await ledger('revenue', '--by', 'payer')).trim().split('\r\n')).toHaveLength(4);
  });

  it('revenue takes the days asked for by the settlement, and list by the claim', async () => {
    const fresh = freshLedger();
    await fresh.sell(claim(1, '5000'), NOW_MS + DAY_MS);
    const [claimed, settled] = [isoDay(NOW_MS), isoDay(NOW_MS + DAY_MS)];
    expect((await fresh.output('revenue', '--since', settled)).out).toContain(
      `${settled},base,0xasset,1,5000,`,
    );
    expect((await fresh.output('revenue', '--until', settled)).out).not.toContain('5000');
    expect((await fresh.output('list', '--until', settled)).out).toMatch(new RegExp(`^${claimed}`));
    expect((await fresh.output('list', '--since', settled)).out).toBe('');
  });

  it('revenue leaves out amounts that do not exist, and says how many', async () => {
    const fresh = freshLedger();
    await fresh.sell(claim(1, '5000'), NOW_MS);
    expect((await fresh.output('revenue')).notes).toBe('');
    await fresh.sell(claim(2, '9'.repeat(31)), NOW_MS);
    const { out, notes } = await fresh.output('revenue');
    expect(out).toMatch(/,1,5000,0\.005\r\n$/);
    expect(notes).toMatch(/^left out: settled payments with impossible amounts \(1\);/);
    expect((await fresh.output('export')).out).toContain(`${'9'.repeat(31)},,0xt`);
  });

  it('revenue goes on where real amounts add up to more dollars than can be written', async () => {
    const fresh = freshLedger();
    await fresh.sell(claim(1, '9'.repeat(30)), NOW_MS);
    expect((await fresh.output('revenue')).out).toMatch(/,9{30},9{24}\.999999\r\n$/);
    await fresh.sell(claim(2, '9'.repeat(30)), NOW_MS);
    expect((await fresh.output('revenue')).out).toMatch(/,2,19{29}8,\r\n$/);
  });

  it('list shows the last payments with their state', async () => {
    const lines = (await ledger('list', '--limit', '3')).trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain('0.005  0x1111');
    expect(lines[0]).toContain('/trust/precheck?service=x  0xlate');
    expect(lines[2]).toContain('settling');
    expect((await ledger('list', '--only', 'refused')).trim().split('\n').length).toBeGreaterThan(
      0,
    );
  });

  it('list and revenue say that there is nothing, and say nothing where there is something', async () => {
    const fresh = freshLedger();
    expect(await fresh.output('list')).toEqual({ out: '', notes: 'no payments\n' });
    expect((await fresh.output('revenue')).notes).toBe('no settled payments\n');
    await fresh.sell(claim(1, '5000'), NOW_MS);
    expect([(await fresh.output('list')).notes, (await fresh.output('revenue')).notes]).toEqual([
      '',
      '',
    ]);
  });

  it('revenue knows no --only, for what is not settled is no revenue; list and export do', () => {
    const write = (): void => {};
    const command = ledgerCommand({ place: PLACE, write, note: write, clock: () => now });
    const withOnly = command.commands.filter((one) => one.helpInformation().includes('--only'));
    expect(withOnly.map((one) => one.name())).toEqual(['list', 'export']);
  });

  it('export holds every payment once, in both formats, and no signature', async () => {
    const rows = (await ledger('export', '--format', 'ndjson'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(SALES + 3);
    expect(new Set(rows.map(({ nonce }) => nonce)).size).toBe(SALES + 3);
    expect(rows[0]).toMatchObject({ path: '/gauge', query: 'entity=a', network: 'base' });
    expect(rows[0]).not.toHaveProperty('signed');
    const day = new Date(NOW_MS + DAY_MS).toISOString().slice(0, 10);
    expect(
      (await ledger('export', '--since', day, '--only', 'settled')).split('\r\n'),
    ).toHaveLength(3);
  });

  it('export keeps a cell that looks like a formula text', async () => {
    expect(await ledger('export', '--only', 'refused')).toContain(`"'=cmd|""x"",\ny"`);
  });

  it('backup writes a whole journal while it is in use, for its owner alone, and overwrites nothing', async () => {
    const file = join(folder, 'copy.db');
    await journal.claim(claim(SALES + 3, '1'));
    expect(await ledger('backup', file)).toContain('copy.db');
    expect(statSync(file).mode & 0o077).toBe(0);
    const copy = new Database(file);
    const { n } = copy.prepare('SELECT count(*) AS n FROM payment').get([]) as { n: number };
    expect(n).toBe(SALES + 4);
    expect(copy.prepare('PRAGMA integrity_check').get([])).toMatchObject({ integrity_check: 'ok' });
    copy.close();
    await expect(ledger('backup', file)).rejects.toThrow(/name a file that does not exist/);
  });

  it('I33: accept-clock takes a clock only by the word of another one, and changes no sale', async () => {
    const before = await ledger('export');
    const accepted = () =>
      ledger('accept-clock', '--utc', new Date(now).toISOString().slice(0, 16));
    expect(await accepted()).toMatch(/^nothing to accept/);
    now -= 7 * DAY_MS;
    await expect(ledger('accept-clock', '--utc', '2026-11-21T12:34')).rejects.toThrow(
      /^Cannot accept clock .* correct the clock of this machine first$/,
    );
    await expect(ledger('accept-clock', '--utc', '12:34')).rejects.toThrow(
      /not a time in UTC; give one such as 2026-01-31T12:34/,
    );
    expect(journal.newestMs()).toBe(now + 7 * DAY_MS);
    expect(await accepted()).toMatch(/^accepted the clock at .* stay as they are \(2504\)/);
    expect(journal.newestMs()).toBe(now);
    expect(await accepted()).toMatch(/^nothing to accept/);
    expect(await ledger('export')).toBe(before);
  });

  it('accept-clock makes no journal where there is none', async () => {
    const none = join(folder, 'none');
    const args = ['--state', none, '--utc', new Date(now).toISOString().slice(0, 16)];
    await expect(ledger('accept-clock', ...args)).rejects.toThrow(/with --state/);
    expect(existsSync(none)).toBe(false);
  });

  it('says what to do where there is no journal, and for wrong options', async () => {
    await expect(ledger('list', '--state', join(folder, 'none'))).rejects.toThrow(/with --state/);
    await expect(ledger('list', '--since', 'yesterday')).rejects.toThrow(
      /give one such as 2026-01-31/,
    );
    await expect(ledger('list', '--until', '2026-02-29')).rejects.toThrow(
      /"2026-02-29": not a calendar day/,
    );
    expect(await ledger('list', '--since', '2024-02-29')).not.toBe('');
    await expect(ledger('accept-clock', '--utc', '2026-02-31T12:34')).rejects.toThrow(
      /not a time in UTC/,
    );
    await expect(ledger('list', '--limit', '0')).rejects.toThrow(/give one such as 50/);
  });
});
