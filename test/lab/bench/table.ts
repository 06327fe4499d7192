import { defined } from '../../../compiler/contract/defined.ts';
import { type Case, LEAST_OF_BARE, type ServerName } from './cases.ts';

/** One load on one server. */
export interface Sample {
  readonly perSecond: number;
  /** CPU time of the server process for each answer, in microseconds. */
  readonly cpuMicros: number;
  /** Share of the time that the load generator's own thread was busy, 0..1. */
  readonly generatorBusy: number;
}
type Samples = ReadonlyMap<ServerName, readonly Sample[]>;

const WIDTHS = [22, 14, 9, 10, 9, 12, 9, 11];

export function headRow(): string {
  const names = ['case', 'server', 'req/s', 'us CPU', 'x bare', 'x bare, CPU', 'x peer'];
  return columns([...names, 'generator']);
}

/** Rows of one case, then what was aimed at; ratios are medians of the ratios of one round. */
export function caseRows(one: Case, samples: Samples): string[] {
  const rows = one.servers.flatMap((name) => {
    const own = samples.get(name);
    return own === undefined ? [] : [row(one, name, { own, samples })];
  });
  return [...rows, verdict(one, samples)];
}

function row(
  one: Case,
  name: ServerName,
  { own, samples }: { own: readonly Sample[]; samples: Samples },
): string {
  const against = (other: ServerName): readonly Sample[] =>
    name === other ? [] : (samples.get(other) ?? []);
  return columns([
    one.name,
    name,
    median(own.map(({ perSecond }) => perSecond)).toFixed(0),
    median(own.map(({ cpuMicros }) => cpuMicros)).toFixed(1),
    ratioText(ratio(own, against('bare'), rate)),
    ratioText(ratio(own, against('bare'), thrift)),
    ratioText(ratio(own, against('x402-express'), rate)),
    `${(100 * median(own.map(({ generatorBusy }) => generatorBusy))).toFixed(0)} %`,
  ]);
}

function columns(cells: readonly string[]): string {
  return cells
    .map((cell, at) => {
      const width = defined(WIDTHS[at], 'the width');
      return at < 2 ? cell.padEnd(width) : cell.padStart(width);
    })
    .join('');
}

type ComparedSample = Pick<Sample, 'perSecond' | 'cpuMicros'>;

/** Answers a second beside those of another server. */
export function rate(own: ComparedSample, other: ComparedSample): number {
  return own.perSecond / other.perSecond;
}

/** Answers for the same CPU time: what other programs of the machine take moves it less. */
export function thrift(own: ComparedSample, other: ComparedSample): number {
  return other.cpuMicros / own.cpuMicros;
}

/** Median of the ratios of one round each; NaN where the other server did not run. */
export function ratio(
  left: readonly ComparedSample[],
  right: readonly ComparedSample[],
  of: (own: ComparedSample, other: ComparedSample) => number,
): number {
  return median(
    left.flatMap((own, round) => {
      const other = right[round];
      return other === undefined ? [] : [of(own, other)];
    }),
  );
}

export function ratioText(value: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(2);
}

function verdict({ name }: Case, samples: Samples): string {
  const [own = [], bare = []] = [samples.get('gatekeeper'), samples.get('bare')];
  const reached = [ratio(own, bare, rate), ratio(own, bare, thrift)];
  const word = reached.every((value) => value >= LEAST_OF_BARE) ? 'reached' : 'MISSED';
  const shown = reached.map((value) => value.toFixed(2)).join(', by CPU time ');
  return `  ${name}: target ${LEAST_OF_BARE} x bare ${word} with ${shown}`;
}

/** The middle of some values; of an even number of them the upper of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
