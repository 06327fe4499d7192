import { type Html, type HtmlPart, html } from '../../compiler/contract/html.ts';
import type { RunStatus, SourceStatus } from '../../compiler/contract/run-status.ts';
import { HEALTH_WORDS, type HealthWord, healthOf } from './read-run-status.ts';
import { section, table } from './table.ts';

const CLASSES: Readonly<Record<HealthWord, string>> = {
  failing: 'bad',
  late: 'wait',
  'never asked': 'wait',
  healthy: 'good',
};

/** How many sources are healthy. */
export function healthCount(status: RunStatus | null, nowMs: number): HtmlPart {
  if (status === null) return html`?<small>give a status file with --status</small>`;
  const all = Object.values(status.sources);
  const healthy = all.filter((source) => healthOf(source, nowMs) === 'healthy').length;
  return html`${healthy} of ${all.length}<small>as of ${status.updated_at ?? 'never'}</small>`;
}

/** Each source with its health, the worst first. */
export function sourcesSection(status: RunStatus | null, nowMs: number): Html {
  const title = 'Sources';
  if (status === null) {
    return section(
      title,
      html`<p>Give the status file of <code>signalpress run</code> with --status.</p>`,
    );
  }
  const sources = Object.entries(status.sources).map(([name, source]) => {
    return { name, source, health: healthOf(source, nowMs) };
  });
  sources.sort((left, right) => {
    const worse = HEALTH_WORDS.indexOf(left.health) - HEALTH_WORDS.indexOf(right.health);
    return worse === 0 ? (left.name < right.name ? -1 : 1) : worse;
  });
  const rows = sources.map(sourceRow);
  const columns = [
    'Source',
    'Health',
    'Last success',
    'Last change',
    'Next due',
    { number: 'Failures in a row' },
    { number: 'Readings that wait' },
    'Last error',
  ];
  return section(title, [
    compileText(status.compile),
    rows.length === 0
      ? html`<p>No source was asked yet.</p>`
      : table({ caption: 'Sources, the worst first', columns, rows }),
  ]);
}

function sourceRow({
  name,
  source,
  health,
}: {
  name: string;
  source: SourceStatus;
  health: HealthWord;
}): HtmlPart[] {
  const { last_success, last_change, next_due, consecutive_failures, waiting, last_error } = source;
  const word = html`<span class="${CLASSES[health]}">${health}</span>`;
  const times = [last_success, last_change, next_due].map((time) => time ?? 'never');
  return [name, word, ...times, consecutive_failures, waiting, last_error ?? ''];
}

function compileText({ release, last_success, last_error, is_due }: RunStatus['compile']): Html {
  const published =
    release === null
      ? 'No release was published yet.'
      : `Release ${release} was published at ${last_success ?? 'an unknown time'}.`;
  const due = is_due ? ' Newer snapshots wait for the next one.' : '';
  const failed =
    last_error === null ? null : html`<p class="bad">The last compile failed: ${last_error}</p>`;
  return html`<p>${published}${due}</p>${failed}`;
}
