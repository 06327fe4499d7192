import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import { compile } from '../../../compiler/cli/compile.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { agencyClient } from '../../../compiler/sources/fetch/agency-client.ts';
import { Archive, archiveFolder } from '../../../compiler/sources/fetch/archive.ts';
import { exitCodeOf, stepText } from '../../../compiler/sources/fetch/fetch-cli.ts';
import {
  readStatus,
  SourcesRunner,
  type WantedSource,
} from '../../../compiler/sources/fetch/sources-runner.ts';
import { importDisk } from '../../../compiler/sources/import-command.ts';
import type { Source } from '../../../compiler/sources/kit/source.ts';
import { sourceOf } from '../../../compiler/sources/sources.ts';
import { Pace } from '../../../compiler/system/clock.ts';
import { makeFolder, SEED, sha256Text } from '../../snapshot-folder.ts';
import type { Agency } from './agency.ts';
import { PLAYS } from './agency-payloads.ts';
import { testRow, VirtualClock } from './test-row.ts';

type StepOptions = NonNullable<Parameters<SourcesRunner['step']>[0]>;

type RunBy = ConstructorParameters<typeof SourcesRunner>[1];

/** Time between two fetches of a played source. */
const EVERY_MS = 3_600_000;

/** A shop from an empty folder, fed by a loopback agency, with a clock of its own. */
export class PlayedShop {
  readonly clock: VirtualClock;
  readonly snapshots = join(makeFolder(), 'readings');
  readonly data = join(makeFolder(), 'data');
  readonly statusFile: string;
  readonly ids: readonly string[];
  /** Of all sources that are wanted. */
  readonly hosts: readonly string[];
  readonly #by: RunBy;
  #runner: SourcesRunner;
  readonly #wanted: readonly WantedSource[];

  constructor(
    agency: Agency,
    {
      start = '2026-11-20T11:07:00Z',
      plays = PLAYS,
      ids = Object.keys(plays) as readonly string[],
      everyMs = EVERY_MS as number | ((id: string) => number),
      addresses = null as readonly string[] | null,
      entities = {} as Readonly<Record<string, readonly string[]>>,
      by = {} as Partial<RunBy>,
    } = {},
  ) {
    this.clock = new VirtualClock(start);
    this.ids = ids;
    agency.now = () => this.clock.ms;
    for (const { host } of Object.values(plays)) {
      const own = Object.values(plays).filter((play) => play.host === host);
      agency.serve(host, (path) => {
        const meant = own.find(({ part = '' }) => path.includes(part));
        return meant?.reply(this.clock.ms, path) ?? null;
      });
    }
    const archive = new Archive(archiveFolder(this.snapshots));
    this.statusFile = join(archive.folder, 'status.json');
    this.hosts = ids.flatMap((id) => hostsOf(rowOf(id)));
    const hosts = [...this.hosts, ...Object.values(plays).map(({ host }) => host)];
    this.#by = {
      client: agencyClient({
        userAgent: 'signalpress/test (ops@example.org)',
        origins: agency.origins(hosts),
        timeouts: { connect: 1000, silence: 120, total: 3000 },
        bytesMax: 4 << 20,
      }),
      archive,
      clock: this.clock,
      pace: new Pace(this.clock),
      contact: 'ops@example.org',
      keyOf: () => 'key',
      disk: importDisk.snapshots(this.snapshots),
      statusFile: this.statusFile,
      publish: async () => (await this.compile()).release.sequence,
      errorText: (error) => (error instanceof Error ? error.message : String(error)),
      ...by,
    };
    this.#wanted = ids.map((id) => {
      return {
        source: asking(sourceOf(id), addresses),
        entities: entities[id] ?? plays[id]?.entities ?? [],
        everyMs: typeof everyMs === 'number' ? everyMs : everyMs(id),
      };
    });
    this.#runner = new SourcesRunner(this.#wanted, this.#by);
  }

  get archive() {
    return this.#by.archive;
  }

  get runner() {
    return this.#runner;
  }

  compile() {
    const { snapshots, data } = this;
    const fixed = { issuerName: 'Test issuer', baseUrl: 'https://example.org', workers: 0 };
    return compile({ snapshots, data, asOf: isoTime(this.clock.ms), seed: SEED, ...fixed });
  }

  /** A step of a process that was just started, as cron does it. */
  async once(options: StepOptions = { hasSlack: true }) {
    this.#runner = new SourcesRunner(this.#wanted, this.#by);
    return this.step(options);
  }

  async step(options: StepOptions = {}) {
    const report = await this.#runner.step(options);
    const { status, release, sources } = report;
    return {
      log: stepText(report).join('\n'),
      exit: exitCodeOf(status, this.ids),
      status,
      release,
      sources,
    };
  }

  status() {
    return readStatus(this.statusFile);
  }

  async close(): Promise<void> {
    await this.#by.client.close();
    for (const folder of [this.snapshots, this.data])
      rmSync(folder, { recursive: true, force: true });
  }
}

/** The same source, asked at these addresses. */
function asking(source: Source, addresses: readonly string[] | null): Source {
  if (addresses === null || source.row === null) return source;
  const { addresses: played } = testRow(addresses);
  const { asks: _asks, ...rest } = source;
  return { ...rest, row: { ...source.row, addresses: played } };
}

/** Every file of a folder with the digest of what it holds. */
export function digestsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, sha256Text(readFileSync(join(folder, name)).toString('latin1'))]),
  );
}
