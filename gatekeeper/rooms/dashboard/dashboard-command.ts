import { statfsSync, statSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { Command } from 'commander';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import type { Catalog } from '../../../compiler/catalog/catalog.ts';
import { type RunStatus, runStatusSchema } from '../../../compiler/catalog/run-status.ts';
import { parseCatalog } from '../../../compiler/catalog/whole-catalog.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import { decodeUtf8, parseJson } from '../../../compiler/format/strict-json.ts';
import type { JournalPlace } from '../../heart/journal/open-journal.ts';
import { dayStart, placeOf, STATE_OPTION, withBooks } from '../../heart/journal/with-journal.ts';
import { isLoopbackHost, listen } from '../../wire/listen.ts';
import { readOwnFile, replaceFile } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import { DASHBOARD_POLICY, type DiskSpace, dashboardPage } from './dashboard-page.ts';
import { readAnswers } from './logged-answers.ts';
import { readSales } from './sales.ts';

const DAYS_SHOWN = 30;
const WEEK_MS = 7 * DAY_MS;
/** Far more than 2,000 lines with 100,000 entities take. */
const CATALOG_BYTES_MAX = 256 * 1024 * 1024;
const EXIT_CODES =
  'Exit codes: 0 done, or stopped on request; 1 refused, nothing was changed, and the error says why';

interface DashboardCommandOptions {
  readonly place: JournalPlace;
  readonly note: (text: string) => void;
  readonly clock: () => number;
  /** Called with what stops the server, once it listens. */
  readonly onListen: (stop: () => Promise<void>) => void;
}

interface DashboardFlags {
  readonly state?: string;
  readonly log: readonly string[];
  readonly catalog?: string;
  readonly status?: string;
  readonly grafana?: string;
  readonly since?: number;
  readonly until?: number;
  readonly out: string;
  readonly serve?: number | true;
}

/** `signalpress-gate dashboard`: one page for the operator, beside the gatekeeper that writes the journal. */
export function dashboardCommand(by: DashboardCommandOptions): Command {
  return new Command('dashboard')
    .description(
      'write a page: more than last week? what was asked for and is not there? is all well?',
    )
    .option('--state <folder>', STATE_OPTION)
    .option('--log <file>', 'standard output of the gatekeeper; may be repeated', repeated, [])
    .option('--catalog <file>', 'catalog.json of a release that has its own catalogue')
    .option('--status <file>', 'status file of `signalpress run`')
    .option('--grafana <url>', 'address to link to, for what machines are watched by', webAddress)
    .option('--since <day>', `first day in UTC (default: ${DAYS_SHOWN} days back)`, dayStart)
    .option('--until <day>', 'day after the last one, in UTC', dayStart)
    .option('--out <file>', 'file to write, readable by its owner alone', 'dashboard.html')
    .option(
      '--serve [port]',
      'serve the page on 127.0.0.1 instead, made again for each visit',
      port,
    )
    .addHelpText('after', `\n${EXIT_CODES}`)
    .action(async (options: DashboardFlags) => {
      const make = (): Promise<string> => pageOf(options, by);
      const page = await make();
      // What is wrong with the files is told at once, not to the first visitor.
      if (options.serve === undefined) {
        const remedy = 'name a file in a folder that exists and is yours';
        orRefuse(`write "${options.out}"`, remedy, () => replaceFile(options.out, page));
        return by.note(`wrote ${options.out}\n`);
      }
      const { url, stop } = await serveDashboard(options.serve === true ? 0 : options.serve, make);
      by.note(`dashboard on ${url}; Ctrl-C stops it\n`);
      by.onListen(stop);
    });
}

function repeated(file: string, before: readonly string[]): string[] {
  return [...before, file];
}

function port(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new StartError(`Cannot read port "${text}": not a port; give one such as 4029`);
}

function webAddress(text: string): string {
  if (/^https?:\/\/[^\s/@]+(\/\S*)?$/.test(text)) return text;
  throw new StartError(
    `Cannot link to "${text}": no address; give one such as https://grafana.example/d/1`,
  );
}

async function pageOf(
  { state, log, catalog, status, grafana, since, until }: DashboardFlags,
  by: DashboardCommandOptions,
): Promise<string> {
  const nowMs = by.clock();
  const untilMs = until ?? Math.floor(nowMs / DAY_MS + 1) * DAY_MS;
  const all = { sinceMs: since ?? untilMs - DAYS_SHOWN * DAY_MS, untilMs };
  if (all.sinceMs >= untilMs) {
    throw new StartError('Cannot show days: --since is not before --until; give an earlier day');
  }
  const endMs = Math.min(nowMs, untilMs);
  const weekMs = endMs - WEEK_MS;
  const last = { sinceMs: weekMs, untilMs: endMs };
  const before = { sinceMs: weekMs - WEEK_MS, untilMs: weekMs };
  const periods = [last, before, all] as const;
  const place = placeOf(state, by.place);
  return dashboardPage({
    nowMs,
    grafana: grafana ?? null,
    disks: disksOf([place.stateDir, ...log, status ?? place.stateDir]),
    sales: await withBooks(place, (books) => readSales(books, periods)),
    answers: log.length === 0 ? null : readAnswers(log, { periods, catalog: catalogAt(catalog) }),
    status: status === undefined ? null : readRunStatus(status),
  });
}

/** The disks that hold these files, each once; a file that is not there has none. */
function disksOf(paths: readonly string[]): DiskSpace[] {
  const byDevice = new Map<number, DiskSpace>();
  for (const path of paths) {
    const device = statSync(path, { throwIfNoEntry: false })?.dev;
    if (device === undefined || byDevice.has(device)) continue;
    const { bavail, blocks, bsize } = statfsSync(path);
    byDevice.set(device, { path, freeBytes: bavail * bsize, totalBytes: blocks * bsize });
  }
  return [...byDevice.values()];
}

/** Does something with a file; throws a StartError that says what cannot be done, why, and what to do instead. */
function orRefuse<T>(what: string, remedy: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new StartError(`Cannot ${what}: ${messageOf(cause)}; ${remedy}`, { cause });
  }
}

/** By the catalogue the log tells what is sold. */
function catalogAt(file: string | undefined): Catalog {
  if (file === undefined) return BUILTIN;
  return orRefuse(`read catalogue "${file}"`, 'name the catalog.json of a release', () =>
    parseCatalog(readOwnFile(file, CATALOG_BYTES_MAX).bytes),
  );
}

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': `${DASHBOARD_POLICY}; frame-ancestors 'none'`,
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** Serves a page on this machine alone; `make` makes it again for each visit. */
async function serveDashboard(
  port: number,
  make: () => Promise<string>,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const server = createServer(({ method = '', url = '', headers }, response) => {
    if (!isLoopbackHost(headers.host))
      return send(response, 403, 'Open the address that was printed');
    if (url !== '/') return send(response, 404, 'There is one page, at /');
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'Only GET is answered');
    make().then(
      (page) => send(response, 200, page),
      (error: unknown) => send(response, 503, messageOf(error)),
    );
  });
  const bound = await listen(server, { port, host: '127.0.0.1' }).catch((cause: unknown) => {
    const why = `${messageOf(cause)}; choose another port`;
    throw new StartError(`Cannot serve on port "${port}": ${why}`, { cause });
  });
  return { url: `http://127.0.0.1:${bound.port}/`, stop: bound.close };
}

function send(response: ServerResponse, status: number, text: string): void {
  const type = status === 200 ? 'text/html' : 'text/plain';
  response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` });
  response.end(text);
}

const STATUS_BYTES_MAX = 16 << 20;

/** Reads the status file of `signalpress run`; throws a StartError for anything else. */
function readRunStatus(path: string): RunStatus {
  const remedy = 'name the status.json beside its archive, or leave --status out';
  return orRefuse(`read status file "${path}"`, remedy, () => {
    const { bytes } = readOwnFile(path, STATUS_BYTES_MAX);
    const parsed = runStatusSchema.safeParse(parseJson(decodeUtf8(bytes)));
    if (parsed.success) return parsed.data;
    throw new RangeError('not written by signalpress run');
  });
}
