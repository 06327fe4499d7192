import type { SignalEntry, Unit, Units } from '../products/shapes/line.ts';
import type { Spoken, SpokenMetric } from '../products/shapes/say.ts';
import { BUILTIN_FILES } from './builtin-files.ts';

/** As much of a catalogue's file as units are read from. */
interface UnitFile {
  readonly units?: Readonly<Record<string, Omit<Unit, 'symbol'> & { readonly note?: string }>>;
}

/** The units of checked files, beside those that every catalogue has; the last of a symbol holds. */
export function unitsOf(files: readonly UnitFile[]): Units {
  const rows = [...(BUILTIN_FILES as readonly UnitFile[]), ...files].flatMap(({ units = {} }) =>
    Object.entries(units),
  );
  return new Map(rows.map(([symbol, { note: _, ...row }]) => [symbol, { symbol, ...row }]));
}

/** The units that every catalogue has. */
export const BUILTIN_UNITS: Units = unitsOf([]);

/** The unit that a metric ends in, of two the one with the longer symbol; null for a name without any. */
export function metricUnit(metric: string, units: Units): Unit | null {
  for (let at = metric.indexOf('_'); at !== -1; at = metric.indexOf('_', at + 1)) {
    const unit = units.get(metric.slice(at + 1));
    if (unit !== undefined) return unit;
  }
  return null;
}

/** The units of metrics, by metric; a name without any is missing. */
export function metricUnits(metrics: readonly string[], units: Units): Record<string, Unit> {
  const known = metrics.flatMap((metric) => {
    const unit = metricUnit(metric, units);
    return unit === null ? [] : [[metric, unit] as const];
  });
  return Object.fromEntries(known);
}

/** The declared metric that `metric` spells in another unit, or null. */
export function foreignUnit(
  metric: string,
  declared: readonly string[],
  units: Units,
): string | null {
  if (declared.includes(metric)) return null;
  const stem = metricStem(metric, units);
  if (stem === null) return null;
  return declared.find((name) => (metricStem(name, units) ?? name) === stem) ?? null;
}

/** A metric without its unit; null for a name without any. */
export function metricStem(metric: string, units: Units): string | null {
  const unit = metricUnit(metric, units);
  return unit === null ? null : metric.slice(0, -unit.symbol.length - 1);
}

/** How readings of a signal are said, from its row; what the row does not say follows from the names that it has. */
export function spokenOf({ signal, units }: SignalEntry): Spoken {
  const { measures, cadence, metrics, words = {}, rulers = [], bands = [], ownThresholds } = signal;
  const { title = measures, labels = {}, none, classes = {}, all } = words;
  const [main] = metrics;
  const labelOf = (name: string): string => {
    if (Object.hasOwn(labels, name)) return labels[name] ?? name;
    return name === main ? title : (metricStem(name, units) ?? name).replaceAll('_', ' ');
  };
  const named = [...new Set([...metrics, ...Object.keys(labels)])].map((name): SpokenMetric => {
    const unit = metricUnit(name, units);
    const isPlural = unit?.label === `${unit?.name}s`;
    const one = unit !== null && isPlural ? { one: unit.name } : {};
    return { name, label: labelOf(name), unit: unit?.label ?? '', ...one };
  });
  return {
    title,
    cadence,
    metrics: named,
    says: words.says ?? [`{name}, ${labelOf(main)}: {${main}}.`],
    none: none ?? `{name}, ${title}: no value is given.`,
    classes,
    ...(all === undefined ? {} : { all }),
    scales: rulers,
    bands,
    ...(ownThresholds === undefined ? {} : { isOwn: true }),
  };
}
