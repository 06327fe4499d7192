import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliveredText } from '../../../compiler/products/shapes/request-time.ts';
import type { Trusted } from '../../../compiler/verify/key-trust.ts';
import { checkEvidence, parseEvidence } from '../../../compiler/verify/monitor/evidence.ts';
import { Monitor, type MonitorSettings } from '../../../compiler/verify/monitor/monitor.ts';
import type { MonitorStatus } from '../../../compiler/verify/monitor/monitor-state.ts';
import type { PolicyTrust } from '../../../compiler/verify/policy-check.ts';
import {
  AS_OF,
  compileFolder,
  fileOf,
  makeFolder,
  ndjson,
  reading,
  writeSnapshots,
} from '../../snapshot-folder.ts';
import { VirtualClock } from '../../sources/fetch/test-row.ts';
import { BASE_URL, DID, type Files, Network } from './lying-service.ts';

/** A monitor over addresses in memory. */
export class Watching {
  readonly network = new Network();
  readonly clock = new VirtualClock('2026-11-20T12:30:00Z');
  readonly lines: string[] = [];
  readonly folder = makeFolder();
  readonly #settings: Partial<MonitorSettings>;
  monitor: Monitor;

  constructor(settings: Partial<MonitorSettings> = {}) {
    this.#settings = settings;
    this.monitor = this.reopened();
  }

  /** A monitor that goes on from the folder, as after a kill. */
  reopened(): Monitor {
    this.monitor = this.reopenedWith({});
    return this.monitor;
  }

  reopenedWith(more: Partial<MonitorSettings>): Monitor {
    return new Monitor({
      folder: this.folder,
      addresses: [BASE_URL],
      issuers: [DID],
      roots: [],
      signals: [],
      everyMs: 300_000,
      fetch: this.network.fetch,
      clock: this.clock,
      print: (line) => this.lines.push(line),
      ...this.#settings,
      ...more,
    });
  }

  /** Shows files at an address, and looks; answers the kinds of alarms that are open. */
  async sees(files: Files, { address = BASE_URL, looks = 1, minutes = 5 } = {}): Promise<string[]> {
    this.network.sites.set(address, files);
    for (let look = 0; look < looks; look += 1) {
      this.clock.ms += minutes * 60_000;
      await this.monitor.look();
    }
    return this.alarms();
  }

  alarms(): string[] {
    return [...new Set(this.status().alarms.map(({ kind }) => kind))].sort();
  }

  status(): MonitorStatus {
    return JSON.parse(readFileSync(join(this.folder, 'status.json'), 'utf8'));
  }

  /** What a third person finds in the evidence, who knows nothing but whom to trust. */
  verdicts(trusted: Trusted & PolicyTrust = { trust: [DID] }): string[] {
    const folder = join(this.folder, 'evidence');
    return readdirSync(folder).map((name) => {
      const evidence = parseEvidence(readFileSync(join(folder, name), 'utf8'));
      return `${evidence.kind} ${checkEvidence(evidence, trusted).verdict}`;
    });
  }
}

/** Free samples of two releases that say another thing of one reading, as delivered. */
export async function sampleBodies(): Promise<[string, string]> {
  const of = async (aqi: number): Promise<string> => {
    const rows = ndjson([reading('us-denver', { aqi_index: aqi })]);
    const { data } = await compileFolder(
      writeSnapshots({ '2026-11-20/airquality.aqi.ndjson': rows }),
    );
    const stored = fileOf(join(data, 'current'), 'free/sample/airquality.aqi.json');
    return deliveredText(readFileSync(stored, 'utf8'), Date.parse(AS_OF));
  };
  return [await of(62), await of(63)];
}
