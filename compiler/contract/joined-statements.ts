import type { Statement } from './citation.ts';
import type { CityReading } from './city-readings.ts';
import { defined } from './defined.ts';
import { byTime } from './joined-provenance.ts';
import type { LegReading } from './leg.ts';
import type { Line } from './lines.ts';
import type { Bundle } from './record.ts';

/** What the citation of a bundle says; `more` is the rest of its query. */
export function bundleStatement(line: Line, bundle: Bundle, legs: readonly LegReading[]) {
  const { path, param } = defined(line.bundle, 'the bundle of the line');
  const subject = defined(bundle.location ?? bundle.entity, 'the subject of the bundle');
  return (more: string): Statement => ({
    claim: `${line.title}: joined readings of ${subject}, in causal order`,
    fact: bundle.cross_line_narrative,
    target: `${path}?${param}=${encodeURIComponent(subject)}${more}`,
    ...timesOf(legs),
  });
}

/** What the citation of a city add-on says. */
export function cityStatement(
  addon: 'air' | 'precip',
  loc: string,
  readings: readonly CityReading[],
): Statement {
  const legs = readings.map((reading) => reading.leg);
  const facts = legs.map((leg) => `${leg.signal_id} read ${leg.text} at ${leg.observed_at}`);
  return {
    claim: `${addon === 'air' ? 'air quality' : 'precipitation'} readings of ${loc}`,
    fact: facts.join('; '),
    target: `/gauge/${addon}?loc=${loc}`,
    ...timesOf(legs),
  };
}

/** What the citation of a life-cycle answer says. */
export function lifecycleStatement(entity: string, subjects: readonly LegReading[]): Statement {
  const states = subjects.map(
    (leg) => `${leg.signal_id} state ${leg.lifecycle?.state ?? 'unknown'}`,
  );
  return {
    claim: `life-cycle state of ${entity}`,
    fact: states.join('; '),
    target: `/gauge/lifecycle?entity=${encodeURIComponent(entity)}`,
    ...timesOf(subjects.slice(0, 1)),
  };
}

function timesOf(legs: readonly LegReading[]): Pick<Statement, 'observed_at' | 'retrieved_at'> {
  const observed = legs.map((leg) => leg.observed_at).sort(byTime);
  const collected = legs.map((leg) => leg.collected_at).sort(byTime);
  return {
    observed_at: defined(observed[0], 'the oldest leg'),
    retrieved_at: defined(collected.at(-1), 'the leg collected last'),
  };
}
