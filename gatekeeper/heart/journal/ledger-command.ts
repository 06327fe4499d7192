import { join } from 'node:path';
import { Command, Option } from 'commander';
import type pg from 'pg';
import { csvLine } from '../../../compiler/format/csv-line.ts';
import { isRealDay } from '../../../compiler/format/cutoff.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { isPostgresUrl, shownPlace } from '../../settings/settings.ts';
import { StartError } from '../../wire/start-error.ts';
import {
  type AcceptedClock,
  acceptClock,
  isEmptyJournal,
  JOURNAL_NAME,
  openJournalFile,
  traceOfJournal,
} from './journal-file.ts';
import {
  backUpJournal,
  LEDGER_COLUMNS,
  type LedgerFilter,
  type LedgerRow,
  type LedgerTime,
  type RevenueBy,
  revenueBy,
} from './ledger.ts';
import type { JournalPlace } from './open-journal.ts';
import {
  dayStart,
  placeOf,
  STATE_OPTION,
  withBooks,
  withDatabase,
  withJournal,
} from './with-journal.ts';

const EXIT_CODES = 'Exit codes: 0 done; 1 refused, nothing was changed, and the error says why';
const LIST_ROWS = 50;
/** How far the clock may be from the time that the operator read elsewhere and typed in. */
const TYPED_TIME_MS_MAX = 120_000;

interface LedgerOptions {
  /** Where the journal lies unless `--state` names a folder. */
  readonly place: JournalPlace;
  readonly write: (text: string) => void;
  /** Prints notes for people, apart from the output. */
  readonly note: (text: string) => void;
  readonly clock: () => number;
}

/** `signalpress-gate ledger`: works on the journal beside the gatekeeper that writes it. */
export function ledgerCommand(by: LedgerOptions): Command {
  const command = new Command('ledger').description(
    'Shows what was sold, from the payment journal',
  );
  addReaders(command, by);
  stateOption(command.command('backup'))
    .description('copy the whole journal while it is in use')
    .argument('<file>', 'a file that does not exist yet')
    .action(async (file: string, { state }: StateOptions) => {
      await backedUp(placeOf(state, by.place), file);
      by.write(`wrote ${file}\n`);
    });
  stateOption(command.command('accept-clock'))
    .description('take payments again after a clock that ran ahead was corrected')
    .requiredOption(
      '--utc <time>',
      'the current UTC time from another clock, such as 2026-01-31T12:34',
      minute,
    )
    .action(async ({ state, utc }: StateOptions & { utc: number }) => {
      const nowMs = by.clock();
      // A clock that is wrong now would be worse than one that was wrong, because payment windows are judged by it.
      if (Math.abs(nowMs - utc) > TYPED_TIME_MS_MAX)
        throw new StartError(
          `Cannot accept clock "${new Date(nowMs).toISOString()}": it is more than 2 minutes from the given time; correct the clock of this machine first`,
        );
      const accepted = await acceptedIn(placeOf(state, by.place), nowMs);
      by.write(`${acceptedLine(accepted, nowMs)}\n`);
    });
  stateOption(command.command('accept-loss'))
    .description('begin an empty journal after the last one was lost for good')
    .action(async ({ state }: StateOptions) => {
      by.write(`${await lossAcceptedIn(placeOf(state, by.place))}\n`);
    });
  command
    .command('migrate')
    .description('move a journal in a file to the database that SIGNALPRESS_JOURNAL names')
    .option('--state <folder>', 'folder of the journal to move', by.place.stateDir)
    .action(async ({ state }: { state: string }) => {
      const { migrateJournal, migratedLine } = await import('./postgres-ledger.ts');
      by.write(`${migratedLine(await migrateJournal(state, by.place.journal))}\n`);
    });
  for (const each of [command, ...command.commands]) each.addHelpText('after', `\n${EXIT_CODES}`);
  return command;
}

function addReaders(command: Command, { place, write, note }: LedgerOptions): void {
  onlyOption(daysOption(command.command('list')))
    .description('list the last payments, one per line')
    .option('--limit <n>', 'how many to list', wholeNumber, LIST_ROWS)
    .action(async (options: FilterOptions & { limit: number }) => {
      const { limit } = options;
      const last = await read(place, options, async (rows) => {
        const newest: LedgerRow[] = [];
        for await (const row of rows) {
          newest.push(row);
          if (newest.length >= 2 * limit) newest.splice(0, newest.length - limit);
        }
        return newest.slice(-limit);
      });
      for (const row of last) {
        const { path, query, created_at, state, usd, payer, transaction, detail } = row;
        const target = query === '' ? path : `${path}?${query}`;
        const sum = usd.padStart(10);
        const line = [created_at, state.padEnd(8), sum, payer, target, transaction || detail];
        const plain = line.join('  ').replace(/[^\x20-\x7e]/g, '?');
        write(`${plain.trimEnd()}\n`);
      }
      if (last.length === 0) note('no payments\n');
    });
  onlyOption(daysOption(command.command('export')))
    .description('export all payments as CSV or NDJSON')
    .addOption(new Option('--format <name>').choices(['csv', 'ndjson']).default('csv'))
    .action(async (options: FilterOptions & { format: 'csv' | 'ndjson' }) => {
      const isCsv = options.format === 'csv';
      if (isCsv) write(csvLine(LEDGER_COLUMNS));
      await read(place, options, async (rows) => {
        for await (const row of rows)
          write(
            isCsv ? csvLine(LEDGER_COLUMNS.map((name) => row[name])) : `${JSON.stringify(row)}\n`,
          );
      });
    });
  daysOption(command.command('revenue'))
    .description('sum the settled amounts exactly')
    .addOption(new Option('--by <group>').choices(['day', 'path', 'payer']).default('day'))
    .action(async (options: DaysOptions & { by: RevenueBy }) => {
      const settled = { ...options, time: 'settled_at' } as const;
      const revenue = await read(place, settled, (rows) => revenueBy(rows, options.by));
      write(csvLine([options.by, 'network', 'asset', 'payments', 'value', 'usd']));
      for (const { group, network, asset, payments, value, usd } of revenue.rows) {
        write(csvLine([group, network, asset, String(payments), value, usd]));
      }
      if (revenue.rows.length === 0) note('no settled payments\n');
      if (revenue.leftOut > 0)
        note(
          `left out: settled payments with impossible amounts (${revenue.leftOut}); ` +
            'find them by their empty usd column in: ledger export --only settled\n',
        );
    });
}

interface StateOptions {
  state?: string;
}
interface DaysOptions extends StateOptions {
  since?: number;
  until?: number;
}
interface FilterOptions extends DaysOptions {
  only?: string;
  time?: LedgerTime;
}

const stateOption = (command: Command): Command => command.option('--state <folder>', STATE_OPTION);

function daysOption(command: Command): Command {
  return stateOption(command)
    .option('--since <day>', 'first day in UTC, such as 2026-01-31', dayStart)
    .option('--until <day>', 'day after the last one, in UTC', dayStart);
}

function onlyOption(command: Command): Command {
  const states = ['settled', 'settling', 'unknown', 'refused'];
  return command.addOption(
    new Option('--only <state>', 'only payments in this state').choices(states),
  );
}

function minute(text: string): number {
  const isMinute = /^.{10}T[0-9]{2}:[0-9]{2}$/.test(text) && isRealDay(text.slice(0, 10));
  const ms = isMinute ? Date.parse(`${text}Z`) : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new StartError(
    `Cannot read time "${text}": not a time in UTC; give one such as 2026-01-31T12:34`,
  );
}

function acceptedLine(accepted: AcceptedClock | null, nowMs: number): string {
  const now = new Date(nowMs).toISOString();
  if (accepted === null)
    return `nothing to accept: no time in the journal blocks payments at ${now}`;
  const { newestMs, payments } = accepted;
  const newest = new Date(newestMs).toISOString();
  return (
    `accepted the clock at ${now}: rows with later times, up to ${newest}, stay as they are (${payments}); ` +
    'payments are taken again, and no restart is needed'
  );
}

function wholeNumber(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new StartError(
    `Cannot read number "${text}": not a whole number above 0; give one such as 50`,
  );
}

function read<T>(
  place: JournalPlace,
  options: FilterOptions,
  use: (rows: AsyncIterable<LedgerRow>) => Promise<T>,
): Promise<T> {
  const { since, until, only, time = 'created_at' } = options;
  const filter: LedgerFilter = {
    time,
    ...(since === undefined ? {} : { sinceMs: since }),
    ...(until === undefined ? {} : { untilMs: until }),
    ...(only === undefined ? {} : { state: only }),
  };
  return withBooks(placeOf(options.state, place), (books) => use(books.rows(filter)));
}

async function backedUp({ journal, stateDir }: JournalPlace, file: string): Promise<void> {
  if (isPostgresUrl(journal)) {
    throw new StartError(
      `Cannot back up the payment journal at "${shownPlace(journal)}": it is a database; use pg_dump, or a base backup`,
    );
  }
  await withJournal(stateDir, (db) => {
    try {
      backUpJournal(db, file);
    } catch (cause) {
      throw new StartError(
        `Cannot back up to "${file}": ${messageOf(cause)}; name a file that does not exist`,
        { cause },
      );
    }
  });
}

async function acceptedIn(
  { journal, stateDir }: JournalPlace,
  nowMs: number,
): Promise<AcceptedClock | null> {
  if (!isPostgresUrl(journal))
    return withJournal(stateDir, (db) => acceptClock(db, nowMs), openJournalFile);
  const { acceptPostgresClock } = await import('./postgres-ledger.ts');
  return withDatabase(journal, (client) => acceptPostgresClock(client, nowMs));
}

/** Makes an empty journal where there was one; what the operator is told. */
async function lossAcceptedIn({ journal, stateDir }: JournalPlace): Promise<string> {
  const path = join(stateDir, JOURNAL_NAME);
  const isShared = isPostgresUrl(journal);
  const place = isShared ? shownPlace(journal) : path;
  const isMissing = isShared
    ? await makeShared(journal)
    : traceOfJournal(path) !== null && isEmptyJournal(path);
  if (!isMissing) return `nothing to accept: no payment journal is missing at "${place}"`;
  if (!isShared) openJournalFile(path, { isLossAccepted: true }).close();
  return (
    `accepted the loss: the payment journal "${place}" is empty, and gatekeepers start; answers that were sold before are ` +
    'not delivered again, and receipts that were spent can be spent again until they expire'
  );
}

/** False where the tables are there. */
async function makeShared(url: string): Promise<boolean> {
  const { hasTables, makeTables } = await import('./connection.ts');
  const make = async (client: pg.ClientBase): Promise<boolean> => {
    if (await hasTables(client)) return false;
    await makeTables(client);
    return true;
  };
  return withDatabase(url, make, 'perhaps empty');
}
