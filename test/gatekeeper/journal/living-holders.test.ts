import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { livingHolders, sqliteJournal } from '../../../gatekeeper/journal/sqlite-journal.ts';
import { built } from '../../built.ts';
import { claimOf, clock } from './journal-suite.ts';

const BUILT = 'gatekeeper/journal/living-holders.js';
const place = (): string =>
  join(mkdtempSync(join(tmpdir(), 'signalpress-holders-')), 'payments.db');

const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

/** Another process that holds a lock beside a journal. */
async function stranger(path: string): Promise<{ name: string; end(): Promise<void> }> {
  const program = `import(${JSON.stringify(built(BUILT))}).then(({ livingHolders }) => {
    console.log(livingHolders(${JSON.stringify(path)}).own);
    setInterval(() => {}, 1000);
  });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  const name = await new Promise<string>((done) =>
    child.stdout?.once('data', (text) => done(String(text).trim())),
  );
  const end = async (): Promise<void> => {
    const ended = new Promise((done) => child.once('close', done));
    child.kill('SIGKILL');
    await ended;
  };
  return { name, end };
}

describe('livingHolders()', () => {
  it('knows itself and those that live, and no others', () => {
    const path = place();
    const [one, other] = [livingHolders(path), livingHolders(path)];
    expect([one.isAlive(one.own), one.isAlive(other.own), other.isAlive(one.own)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(one.isAlive('00'.repeat(8))).toBe(false);
    other.close();
    expect([one.isAlive(other.own), one.isAlive(one.own)]).toEqual([false, true]);
    one.close();
    expect(readdirSync(join(path, '..'))).toEqual([]);
  });

  it('notices that a process was killed, and clears up behind it', async () => {
    const path = place();
    const own = livingHolders(path);
    const { name, end } = await stranger(path);
    expect(own.isAlive(name)).toBe(true);
    await end();
    expect(own.isAlive(name)).toBe(false);
    const next = livingHolders(path);
    const left = readdirSync(join(path, '..')).filter((file) => file.includes(name));
    expect(left).toEqual([]);
    expect(next.isAlive(own.own)).toBe(true);
    own.close();
    next.close();
  });
});

describe('an SQLite journal that two processes use', () => {
  const bound = ({ resource, signed } = claimOf('k')) => ({ resource, signed });

  it('learns what the other one sold, before anybody asks for it by its claim', async () => {
    const path = place();
    const [one, other] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    await one.claim(claimOf('k|00000001'));
    expect(other.bindingOf('k|00000001')).toBe(null);
    await other.shared?.learn('k|00000001');
    expect(other.bindingOf('k|00000001')).toMatchObject(bound());
    await other.shared?.learn('k|00000002');
    expect(other.bindingOf('k|00000002')).toBe(null);
    one.close();
    other.close();
  });

  it('leaves a payment to the one that asks for it, until that one is gone or has noted its end', async () => {
    const path = place();
    const [one, other] = [sqliteJournal({ path, clock }), sqliteJournal({ path, clock })];
    await one.claim(claimOf('a'));
    expect(await one.unresolved(0, 9)).toHaveLength(1);
    expect(await other.unresolved(0, 9)).toEqual([]);
    expect(await other.shared?.take('a', bound())).toBe(false);
    await one.conclude({ key: 'a', state: 'unknown' });
    expect(await other.shared?.take('a', bound())).toBe(true);
    expect(await one.unresolved(0, 9)).toEqual([]);
    await other.conclude({ key: 'a', state: 'settled', transaction: '0x1' });
    expect(await one.shared?.take('a', bound())).toBe(false);
    await one.claim(claimOf('b'));
    one.close();
    expect(await other.unresolved(0, 9)).toHaveLength(1);
    expect(await other.shared?.take('b', { ...bound(), resource: 'GET /other' })).toBe(false);
    expect(await other.shared?.take('b', bound())).toBe(true);
    other.close();
  });
});
