import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '../../../compiler/cli/compile.ts';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';
import { peakMegabytes } from '../bench.ts';
import { APART, campaign } from '../campaign.ts';

const RSS_MB_MAX = 256;
/** As the command line compiles on two cores; a second signal would keep the second worker busy. */
const WORKERS = 2;
/** Hourly readings of one gauge; the number of gauges follows from the size. */
const READINGS_PER_ENTITY = 2000;
const END = Date.UTC(2026, 10, 20, 11);
const BUFFER_CHARS = 4_000_000;
const SIGNAL = 'hydrology.river-level';
const HEADER = {
  header: {
    collected_at: '2026-11-20T12:00:00Z',
    sources: [{ name: 'campaign', weight: 1, role: 'generated', independent: true }],
    source_ref: null,
    source_tier: null,
  },
};

type Form = 'lines' | 'single-line';
interface MeasuredRun {
  readonly peakMb: number;
  readonly seconds: number;
  readonly outcome: string;
}

/** Shows that the memory of a compile is bounded by configuration, not by its input (I34): many lines, and one single line. */
export const experiment = campaign({ megabytes: 1000 }, async ({ flags, folder, say }) => {
  const { megabytes } = flags;
  if (!Number.isInteger(megabytes) || megabytes < 1 || megabytes > 4000) {
    throw new RangeError('Cannot run the campaign: pass a whole number of megabytes up to 4000');
  }
  const wrong: string[] = [];
  for (const form of ['lines', 'single-line'] as const) {
    const root = join(folder, form);
    const lines = writeBatch(join(root, 'snapshots', '2026-11-20'), form, megabytes);
    const run = spawnSync(process.execPath, [APART, 'memory', root], { encoding: 'utf8' });
    if (run.status !== 0) throw new Error(`Cannot measure "${form}": ${run.stderr.slice(0, 2000)}`);
    const report = readFileSync(join(root, 'report.json'), 'utf8');
    const { peakMb, seconds, outcome } = JSON.parse(report) as MeasuredRun;
    const peak = `peak RSS ${peakMb.toFixed(0)} MB of ${RSS_MB_MAX}`;
    const rate = `${lines} lines, ${Math.round(lines / seconds)} lines/s`;
    say(`${form}: ${megabytes} MB, ${rate}, ${outcome}, ${peak}`);
    if (peakMb > RSS_MB_MAX) wrong.push(`${form}: ${peak}`);
  }
  return wrong;
});

/** Writes one batch of the wanted size and returns its lines. */
function writeBatch(folder: string, form: Form, megabytes: number): number {
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, `${SIGNAL}.ndjson`), 'w');
  try {
    return form === 'lines' ? writeLines(file, megabytes) : writeSingleLine(file, megabytes);
  } finally {
    closeSync(file);
  }
}

function writeLines(file: number, megabytes: number): number {
  const line = (index: number): string => {
    const hour = index % READINGS_PER_ENTITY;
    const entity = String(Math.floor(index / READINGS_PER_ENTITY)).padStart(8, '0');
    const time = new Date(END - (READINGS_PER_ENTITY - 1 - hour) * HOUR_MS).toISOString();
    const stage = ((index * 7919) % 4000) / 100;
    return `{"entity":"${entity}","observed_at":"${time}","current":{"stage_ft":${stage}}}\n`;
  };
  let lines = 0;
  let text = `${JSON.stringify(HEADER)}\n`;
  for (let written = 0; written < megabytes * 1e6; text = '') {
    while (text.length < BUFFER_CHARS) text += line(lines++);
    written += writeSync(file, text);
  }
  return lines;
}

function writeSingleLine(file: number, megabytes: number): number {
  writeSync(file, '{"entity":"');
  const part = 'x'.repeat(1_000_000);
  for (let written = 0; written < megabytes; written++) writeSync(file, part);
  writeSync(file, '"}\n');
  return 1;
}

/** Compiles in its own process, so that the peak is the compile's alone. */
export async function measuredCompile(folder: string): Promise<MeasuredRun> {
  const started = performance.now();
  let outcome: string;
  try {
    const { release } = await compile({
      snapshots: join(folder, 'snapshots'),
      data: join(folder, 'data'),
      asOf: '2026-11-20T12:00:00Z',
      issuerName: 'campaign',
      baseUrl: 'http://127.0.0.1:4021',
      seed: new Uint8Array(32).fill(1),
      workers: WORKERS,
    });
    outcome = `${release.counts.readings} readings, ${release.counts.records} records`;
  } catch (error) {
    outcome = `refused: ${error instanceof Error ? error.message.split('\n').at(-1)?.trim() : error}`;
  }
  const seconds = (performance.now() - started) / 1000;
  return { peakMb: peakMegabytes(), seconds, outcome };
}
