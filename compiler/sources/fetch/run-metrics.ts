import type { RunStatus, SourceStatus } from '../../catalog/run-status.ts';

/** The status file in the text form of Prometheus, for the textfile collector of a node exporter. */
export function runMetrics({ sources, compile }: RunStatus): string {
  const each = (figureOf: (status: SourceStatus) => number | null): Sample[] =>
    Object.entries(sources).map(([id, status]) => [`{source="${id}"}`, figureOf(status)]);
  return [
    gauge(
      'source_failures',
      'Fetches of a source that failed in a row',
      each(({ consecutive_failures }) => consecutive_failures),
    ),
    gauge(
      'source_due_time_seconds',
      'When a source is fetched next',
      each(({ next_due }) => seconds(next_due)),
    ),
    gauge(
      'source_unread',
      'Entries of the last answers of a source that could not be read',
      each(({ unread }) => unread),
    ),
    gauge('compile_failed', '1 while the last release could not be published', [
      ['', compile.last_error === null ? 0 : 1],
    ]),
  ].join('');
}

/** Labels and value; null where there is none. */
type Sample = readonly [labels: string, value: number | null];

function gauge(name: string, help: string, samples: readonly Sample[]): string {
  const metric = `signalpress_${name}`;
  const lines = samples.flatMap(([labels, value]) =>
    value === null ? [] : [`${metric}${labels} ${value}\n`],
  );
  return `# HELP ${metric} ${help}\n# TYPE ${metric} gauge\n${lines.join('')}`;
}

function seconds(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}
