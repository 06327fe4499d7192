/** Calls that change what a disk holds, and those that read it. */
export const CALLS = [
  ...['openat', 'write', 'pwrite64', 'writev', 'mkdir', 'rmdir', 'rename', 'link', 'symlink'],
  ...['unlink', 'ftruncate', 'fsync', 'fdatasync', 'syncfs', 'read', 'pread64'],
] as const;
const READS: ReadonlySet<string> = new Set(['read', 'pread64']);
const FAULTS = ['signal=KILL', 'error=EIO', 'error=ENOSPC', 'error=EDQUOT'] as const;
const READ_FAULTS = ['signal=KILL', 'error=EIO'] as const;
const LATE_SHARE = 0.75;
const LINE = /^(\d+)\s+(\w+)\((.*)/;

/** One call of a traced compile that touched the data folder. */
export interface TracedCall {
  readonly name: string;
  /** Which one of its name in its thread, from 1: what an injection counts. */
  readonly when: number;
  /** Whether it came with the sync before the switch, or after it. */
  readonly isLate: boolean;
}

/** One call that is to go wrong. */
export interface Injection {
  readonly call: TracedCall;
  readonly fault: string;
}

/** Calls that name the data folder, in their order; `trace` is one of `strace -f -y`. */
export function callsOn(data: string, trace: string): TracedCall[] {
  const counts = new Map<string, number>();
  const calls: TracedCall[] = [];
  let isLate = false;
  for (const line of trace.split('\n')) {
    const [, thread = '', name = '', rest = ''] = LINE.exec(line) ?? [];
    const when = (counts.get(`${thread} ${name}`) ?? 0) + 1;
    counts.set(`${thread} ${name}`, when);
    isLate ||= name === 'syncfs';
    if (rest.includes(data)) calls.push({ name, when, isLate });
  }
  return calls;
}

/** Every fault at every call, or as many as fit, spread evenly: of the late ones three times as many as of the others. */
export function injectionsAt(calls: readonly TracedCall[], most: number): Injection[] {
  const late = calls.filter(({ isLate }) => isLate).flatMap(allFaults);
  const early = calls.filter(({ isLate }) => !isLate).flatMap(allFaults);
  const lates = Math.min(late.length, Math.ceil(most * LATE_SHARE));
  const earlies = Math.min(early.length, most - lates);
  return [...spread(late, lates), ...spread(early, earlies)];
}

/** They begin with another one at each call, so that an even choice of them has all. */
function allFaults(call: TracedCall, at: number): Injection[] {
  const faults = READS.has(call.name) ? READ_FAULTS : FAULTS;
  const first = at % faults.length;
  const turned = [...faults.slice(first), ...faults.slice(0, first)];
  return turned.map((fault) => ({ call, fault }));
}

/** As many of the items, evenly. */
function spread<T>(items: readonly T[], wanted: number): T[] {
  const step = items.length / wanted;
  return Array.from({ length: wanted }, (_, at) => items[Math.floor(at * step)]).filter(
    (item) => item !== undefined,
  );
}

/** What `strace` is told. */
export function injectArgs({ call: { name, when }, fault }: Injection): string[] {
  return ['-e', `trace=${name}`, '-e', `inject=${name}:${fault}:when=${when}`];
}
