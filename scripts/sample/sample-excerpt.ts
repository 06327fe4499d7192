import { defined } from '../../compiler/contract/defined.ts';

/** Signals and collections that a reader of `snapshots/` finds there: one of each shape. */
const SHOWN = [
  'agriculture.drought',
  'ai-tool.lifecycle',
  'airquality.aqi',
  'border-wait.lane-wait',
  'climate-policy.lifecycle',
  'crypto.spot',
  'document',
  'earthquake.current_activity',
  'energy.gas-price',
  'filing.submission',
  'hydrology.river-level',
  'macro.unemployment',
  'mcp.server',
  'stable.coin',
  'stablecoin.death',
  'trust.service',
];
/** Batches of a file that are shown: enough for a change, a revision and a repeat. */
const BATCHES = 2;

/** The part of the sample that stands in `snapshots/`: the newest files of some signals. They compile as they are. */
export function excerptOf(files: ReadonlyMap<string, string>): Map<string, string> {
  const paths = SHOWN.flatMap((id) => {
    const own = [...files.keys()].filter((path) => path.endsWith(`/${id}.ndjson`));
    if (own.length === 0) throw new RangeError(`Cannot show "${id}": no such file in the sample`);
    return own.sort().slice(-BATCHES);
  });
  return new Map(paths.sort().map((path) => [path, defined(files.get(path), 'the file')]));
}
