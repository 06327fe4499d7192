import type { SignalEntry } from '../products/shapes/line.ts';
import type { Spoken, SpokenMetric } from '../products/shapes/say.ts';
import { metricStem, metricUnit } from './units.ts';

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
