import { DAY_MS } from '../contract/iso-time.ts';
import { FILES_FOLDER } from '../contract/path.ts';
import { RELEASES_FOLDER } from '../contract/release.ts';
import { STATE_FOLDER } from '../stages/remember/memory.ts';

/** A file below the data folder. */
export interface SizedFile {
  readonly path: string;
  readonly size: number;
}

export interface Amount {
  readonly files: number;
  readonly bytes: number;
}

/** What came with a release. */
export interface Arrival {
  readonly name: string;
  /** Files that the release before does not have. */
  readonly added: Iterable<SizedFile>;
  /** By how much the release is later than the one before. */
  readonly spanMs: number;
}

/** What is measured. */
export interface Measured {
  /** Files of the current release. */
  readonly current: Iterable<SizedFile>;
  /** Everything in the data folder, each file once. */
  readonly stored: Iterable<SizedFile>;
  /** The newest releases, oldest first. */
  readonly arrivals: readonly Arrival[];
}

/** How large what is, and how fast it grows. */
export interface Figures {
  /** By kind, in a fixed order; only of what there is. */
  readonly kinds: readonly {
    readonly kind: string;
    readonly current: Amount;
    readonly all: Amount;
  }[];
  readonly arrivals: readonly (Omit<Arrival, 'added'> & { readonly amount: Amount })[];
  /** Bytes that come in a day on average; null where the releases span no time. */
  readonly bytesPerDay: number | null;
}

/** Kinds of files by the folder that they stand in, below that of all stored files or below the data folder. */
const KINDS = new Map<string, string>([
  ['record', 'records'],
  ...['history', 'ruler', 'calibrated', 'strata'].map((name) => [name, 'add-ons'] as const),
  ...['series', 'segment'].map((name) => [name, 'series and segments'] as const),
  ['bundle', 'bundles'],
  ...['air', 'precip', 'lifecycle'].map((name) => [name, 'cities and lifecycles'] as const),
  ['census', 'censuses'],
  ...['roster', 'subject', 'filing', 'document'].map(
    (name) => [name, 'rosters and filings'] as const,
  ),
  ['free', 'samples and previews'],
  ['verify', 'look-ups'],
  ['log', 'log'],
  ['index', 'indexes'],
  ['well-known', 'descriptions'],
  ['site', 'page for people'],
  [RELEASES_FOLDER, 'heads and lists'],
  [STATE_FOLDER, 'state'],
  ['signatures', 'signatures'],
]);
const OTHER = 'other';
const KINDS_IN_ORDER: readonly string[] = [...new Set(KINDS.values()), OTHER];

export function figuresOf({ current, stored, arrivals }: Measured): Figures {
  const [now, all] = [amountsByKind(current), amountsByKind(stored)];
  const kinds = KINDS_IN_ORDER.flatMap((kind) => {
    const [here, everywhere] = [now.get(kind) ?? NOTHING, all.get(kind) ?? NOTHING];
    return here.files + everywhere.files > 0 ? [{ kind, current: here, all: everywhere }] : [];
  });
  const came = arrivals.map(({ added, ...of }) => ({ ...of, amount: amountOf(added) }));
  return { kinds, arrivals: came, bytesPerDay: bytesPerDay(came) };
}

/** A release whose clock was set right says nothing of the time that passed. */
function bytesPerDay(arrivals: Figures['arrivals']): number | null {
  const timed = arrivals.filter(({ spanMs }) => spanMs >= 0);
  const days = timed.reduce((sum, { spanMs }) => sum + spanMs, 0) / DAY_MS;
  const bytes = timed.reduce((sum, { amount }) => sum + amount.bytes, 0);
  return days > 0 ? Math.round(bytes / days) : null;
}

const NOTHING: Amount = { files: 0, bytes: 0 };

export function plus(one: Amount, other: Amount): Amount {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes };
}

function amountOf(files: Iterable<SizedFile>): Amount {
  let amount = NOTHING;
  for (const { size } of files) amount = plus(amount, { files: 1, bytes: size });
  return amount;
}

function amountsByKind(files: Iterable<SizedFile>): ReadonlyMap<string, Amount> {
  const amounts = new Map<string, Amount>();
  for (const { path, size } of files) {
    const kind = kindOf(path);
    amounts.set(kind, plus(amounts.get(kind) ?? NOTHING, { files: 1, bytes: size }));
  }
  return amounts;
}

/** A form of a file, like `thin/bundle/…`, is of the kind of the file. */
export function kindOf(path: string): string {
  const [top = '', ...below] = path.split('/');
  const folder = top === FILES_FOLDER ? below.find((name) => KINDS.has(name)) : top;
  return KINDS.get(folder ?? '') ?? OTHER;
}
