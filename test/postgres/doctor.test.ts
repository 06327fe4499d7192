import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresJournal } from '../../gatekeeper/heart/journal/postgres-journal.ts';
import { examine } from '../../gatekeeper/operate/doctor/doctor-command.ts';
import { clockCheck, journalCheck } from '../../gatekeeper/operate/doctor/local-checks.ts';
import type { Config } from '../../gatekeeper/settings/config.ts';
import { claimOf } from '../gatekeeper/heart/journal/journal-suite.ts';
import { examined, reported } from '../gatekeeper/operate/doctor/examined.ts';
import { TINY_NOW } from '../gatekeeper/tiny-release.ts';
import { UNTOLD } from '../gatekeeper/wire/untold.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const KEY = `base|0xasset|0x${'a'.repeat(40)}|0x${'1'.repeat(64)}`;
const CHECKS = { journal: journalCheck, clock: clockCheck };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

const about = (journal: string) => examined({ config: { journal } as Partial<Config> });

describe('doctor and a journal in PostgreSQL', () => {
  it('says that the first start makes its tables', async () => {
    const findings = reported(await examine(about(await server.freshUrl()), CHECKS));
    expect(findings[0]).toMatch(/^skipped: nothing in ".*" yet; the first start makes it$/);
    expect(findings[1]).toBe('skipped: no journal to compare the clock with');
  });

  it('finds open payments and a clock that is behind, and makes nothing', async () => {
    const url = await server.freshUrl();
    const clock = (): number => TINY_NOW + 3_600_000;
    const journal = await postgresJournal({ url, clock, lost: UNTOLD });
    await journal.claim(claimOf(KEY));
    await journal.close();
    const findings = reported(await examine(about(url), CHECKS));
    expect(findings[0]).toMatch(/^ok: ".*" is whole$/);
    expect(findings[1]).toMatch(/^warning: open payments: 1, the oldest since /);
    expect(findings[2]).toMatch(/^failed: Cannot take payments at /);
    expect(findings.join()).not.toContain(new URL(url).password || 'no password');
  });

  it('says what to do where the database is away, without its password', async () => {
    const findings = await examine(about('postgres://shop:hunter2@127.0.0.1:1/shop'), CHECKS);
    expect(findings.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(JSON.stringify(findings)).toContain('start the server, or correct SIGNALPRESS_JOURNAL');
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });
});
