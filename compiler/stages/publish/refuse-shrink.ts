import { CompileError, type InputFault } from '../intake/compile-error.ts';
import { nothingStored } from '../intake/list-snapshots.ts';

/** A signal that loses more than this share of its entities or readings is taken for a mistake in the input. */
const SHRINK_SHARE_MAX = 0.2;

type ShrinkCounts = Readonly<Record<'entities' | 'readings', number>>;

/** What the previous release has: its catalog, and what its compile counted, where that is still known. */
interface PreviousCounts {
  readonly catalog: Buffer;
  readonly signals: Readonly<Record<string, Pick<ShrinkCounts, 'readings'>>>;
}

/**
 * Refuses to publish when a signal shrinks suspiciously against the previous release: an emptied or cut snapshot must not
 * empty the shop. Throws a CompileError that names every such signal.
 */
export function refuseShrink(before: PreviousCounts, now: ReadonlyMap<string, ShrinkCounts>): void {
  const faults: InputFault[] = [];
  for (const [id, entities] of countBySignal(before.catalog)) {
    const { readings = 0 } = before.signals[id] ?? {};
    const had: ShrinkCounts = { entities, readings };
    const has = now.get(id) ?? { entities: 0, readings: 0 };
    const less = (['entities', 'readings'] as const).find(
      (count) => has[count] < had[count] * (1 - SHRINK_SHARE_MAX),
    );
    if (less === undefined) continue;
    const message =
      `${has[less]} ${less} where the previous release has ${had[less]}; restore the missing snapshots, ` +
      'or publish anyway with --allow-shrink';
    faults.push({ code: 'cannot_publish', file: id, message });
  }
  if (faults.length > 0) throw new CompileError(faults);
}

/**
 * Refuses an empty release: files that are empty or hold only a header usually mean a failed fetch. Throws a
 * CompileError that says what to do.
 */
export function refuseNothing(root: string, readings: number, rows: number): void {
  if (readings + rows > 0) return;
  const found = 'no snapshots found except files that are empty or hold only a header';
  const fault = nothingStored(root, found);
  const message = `${fault.message}; publish anyway with --allow-shrink`;
  throw new CompileError([{ ...fault, message }]);
}

/** A catalog line begins with the signal: `["genus.species",`. */
function countBySignal(catalog: Buffer): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at < catalog.length; ) {
    const id = catalog.toString('latin1', at + 2, catalog.indexOf('"', at + 2));
    counts.set(id, (counts.get(id) ?? 0) + 1);
    at = catalog.indexOf(0x0a, at) + 1;
    if (at === 0) return counts;
  }
  return counts;
}
