import { median } from '../median.ts';
import type { Case, ServerName } from './cases.ts';

/** One load on one server. */
export interface Sample {
  readonly perSecond: number;
  /** CPU time of the server process for each answer, in microseconds. */
  readonly cpuMicros: number;
  /** Share of the time that the load generator's own thread was busy, 0..1. */
  readonly generatorBusy: number;
}
export type Samples = ReadonlyMap<ServerName, readonly Sample[]>;

const WIDTHS = [33, 14, 9, 10, 9, 9, 10, 0];

/** Rows of one case, then what was aimed at; ratios are medians of the ratios of one round. */
export function caseRows(one: Case, samples: Samples): string[] {
  const rows = one.servers.flatMap((name) => {
    const own = samples.get(name);
    return own === undefined ? [] : [row(one, name, { own, samples })];
  });
  return [...rows, verdict(one, samples)];
}

export function headRow(): string {
  const names = ['case', 'server', 'req/s', 'us CPU', 'x bare', 'x peer', 'generator'];
  return columns(names);
}

function row(
  one: Case,
  name: ServerName,
  { own, samples }: { own: readonly Sample[]; samples: Samples },
): string {
  return columns([
    one.name,
    name,
    median(own.map((sample) => sample.perSecond)).toFixed(0),
    median(own.map((sample) => sample.cpuMicros)).toFixed(1),
    ratioText(name, 'bare', samples),
    ratioText(name, 'x402-express', samples),
    `${(100 * median(own.map((sample) => sample.generatorBusy))).toFixed(0)} %`,
  ]);
}

function columns(cells: readonly string[]): string {
  return cells
    .map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at] ?? 0) : cell.padStart(WIDTHS[at] ?? 0)))
    .join('');
}

function ratioText(name: ServerName, of: ServerName, samples: Samples): string {
  const ratio = name === of ? null : ratioOf(name, of, samples);
  return ratio === null ? '-' : ratio.toFixed(2);
}

/** Null where the other server did not run. */
function ratioOf(name: ServerName, of: ServerName, samples: Samples): number | null {
  const left = samples.get(name) ?? [];
  const right = samples.get(of) ?? [];
  const ratios = left.flatMap((sample, round) => {
    const other = right[round];
    return other === undefined ? [] : [sample.perSecond / other.perSecond];
  });
  return ratios.length === 0 ? null : median(ratios);
}

function verdict({ name, goal }: Case, samples: Samples): string {
  const ratio = ratioOf('gatekeeper', goal.of, samples);
  if (ratio === null) return `  ${name}: not judged, ${goal.of} did not run`;
  const word = ratio >= goal.least ? 'reached' : 'MISSED';
  return `  ${name}: target ${goal.least} x ${goal.of} ${word} with ${ratio.toFixed(2)}`;
}
