import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerCommand } from '../../gatekeeper/heart/journal/ledger-command.ts';
import { openJournal } from '../../gatekeeper/heart/journal/open-journal.ts';
import { ServiceState } from '../../gatekeeper/wire/service-state.ts';
import { claimOf, clock } from '../gatekeeper/heart/journal/journal-suite.ts';
import { UNTOLD } from '../gatekeeper/wire/untold.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const folder = (): string => mkdtempSync(join(tmpdir(), 'lost-'));

async function sql(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const hasTables = async (url: string) =>
  (await sql(url, "SELECT to_regclass('signalpress.payment') IS NOT NULL AS has"))[0]?.has;

async function acceptLoss(place: { stateDir: string; journal: string }): Promise<string> {
  let out = '';
  const write = (text: string): void => {
    out += text;
  };
  const command = ledgerCommand({ place, write, note: write, clock });
  await command.exitOverride().parseAsync(['accept-loss'], { from: 'user' });
  return out;
}

describe('a journal in PostgreSQL that is lost', () => {
  it.each(['newest-release.json', 'payments.db'])(
    'I16: is not made anew beside %s, until the operator says that it is lost for good',
    async (name) => {
      const place = { stateDir: folder(), journal: await server.freshUrl() };
      const opening = () => openJournal(place, { clock, lost: UNTOLD });
      const trace = join(place.stateDir, name);
      writeFileSync(trace, 'a trace');
      await expect(opening()).rejects.toThrow(`it is lost, for "${trace}" shows`);
      await expect(opening()).rejects.toThrow('move it with "ledger migrate"');
      expect(await hasTables(place.journal)).toBe(false);
      expect(await acceptLoss(place)).toMatch(/^accepted the loss: /);
      await (await opening()).close();
      expect(await acceptLoss(place)).toMatch(/^nothing to accept: /);
      expect(existsSync(trace)).toBe(true);
    },
  );

  it('I16: is not made anew in service, and goes on once there is one', async () => {
    const place = { stateDir: folder(), journal: await server.freshUrl() };
    const logged: Readonly<Record<string, unknown>>[] = [];
    const log = (entry: Readonly<Record<string, unknown>>) => void logged.push(entry);
    const { journal, isLost, close } = await openJournal(place, {
      clock,
      lost: new ServiceState({ clock, log }).trouble('journal_lost'),
    });
    expect(await journal.claim(claimOf('a'))).toBe(true);
    await sql(place.journal, 'DROP SCHEMA signalpress CASCADE');
    const end =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';
    await sql(place.journal, end);
    const lost = () =>
      logged.filter(({ event }) => event === 'journal_lost').map(({ error }) => error);
    await expect
      .poll(lost)
      .toContainEqual(
        expect.stringContaining('it is lost, for this gatekeeper shows that this shop has served'),
      );
    expect([isLost(), await hasTables(place.journal)]).toEqual([true, false]);
    await expect(journal.claim(claimOf('b'))).rejects.toThrow();
    await acceptLoss(place);
    await expect.poll(isLost).toBe(false);
    expect(await journal.claim(claimOf('b'))).toBe(true);
    await close();
    rmSync(place.stateDir, { recursive: true });
  });

  it('is none in a new shop, nor for a gatekeeper that joins', async () => {
    const journal = await server.freshUrl();
    for (const stateDir of [folder(), folder()]) {
      const { close } = await openJournal({ stateDir, journal }, { clock, lost: UNTOLD });
      writeFileSync(join(stateDir, 'newest-release.json'), '{}');
      await close();
      const again = await openJournal({ stateDir, journal }, { clock, lost: UNTOLD });
      await again.close();
    }
  });
});
