import type { z } from 'zod';
import { COLLECTIONS, type CollectionId, findCollection } from '../contract/collections.ts';
import { entitiesOf, LINES, type Line, lineOf, SIGNALS, type Signal } from '../contract/lines.ts';
import { nearest } from '../contract/nearest.ts';
import { metricUnit } from '../contract/units.ts';
import { documentRowSchema } from '../stages/intake/document-row.ts';
import { filingRowSchema } from '../stages/intake/filing-row.ts';
import { mcpServerRowSchema } from '../stages/intake/mcp-server-row.ts';
import { memberNames } from '../stages/intake/member-names.ts';
import { fieldsSchema, REQUIRED } from '../stages/intake/reading.ts';
import { stableCoinRowSchema } from '../stages/intake/stable-coin-row.ts';
import { stablecoinDeathRowSchema } from '../stages/intake/stablecoin-death-row.ts';
import { trustServiceRowSchema } from '../stages/intake/trust-service-row.ts';
import { EXAMPLE_ROWS, exampleReading } from './example-line.ts';

/** Entities of a closed list that are written out; the rest is counted. */
const ENTITIES_SHOWN_MAX = 60;
const ROWS: readonly Line[] = LINES;

/** The schema that intake applies to the rows of each collection. */
export const ROW_SCHEMAS: Readonly<Record<CollectionId, z.ZodType>> = {
  'trust.service': trustServiceRowSchema,
  'mcp.server': mcpServerRowSchema,
  'stable.coin': stableCoinRowSchema,
  'stablecoin.death': stablecoinDeathRowSchema,
  'filing.submission': filingRowSchema,
  document: documentRowSchema,
};

/** What is accepted under an id: a line, a signal or a collection; all of them without one. Throws a RangeError for any other. */
export function linesText(id?: string): string {
  if (id === undefined) return overviewText();
  const signal = SIGNALS.find((row) => row.id === id);
  if (signal !== undefined) return signalText(signal);
  const collection = findCollection(id);
  if (collection !== undefined) return collectionText(collection);
  const line = ROWS.find((row) => row.id === id);
  if (line !== undefined) return line.signals.map(signalText).join('\n\n');
  throw new RangeError(
    `Cannot find "${id}": not a line, signal or collection; ${hintFor(id)}"signalpress lines" lists them`,
  );
}

function hintFor(id: string): string {
  const ids = [...SIGNALS, ...COLLECTIONS, ...ROWS].map((row) => row.id);
  const meant = nearest(id, ids);
  return meant === null ? '' : `did you mean "${meant}"? `;
}

function overviewText(): string {
  return [
    'Signals, by line; a batch holds one file <signal>.ndjson for each:',
    ...ROWS.flatMap((row) => [
      `  ${row.id}: ${row.title}`,
      ...row.signals.map(({ id, measures }) => `    ${id}  ${measures}`),
    ]),
    'Collections, one file <collection>.ndjson each:',
    ...COLLECTIONS.map(({ id, holds }) => `    ${id}  ${holds}`),
    'Members of one of them, with an example: signalpress lines <id>',
  ].join('\n');
}

function signalText(signal: Signal): string {
  const { id, measures, cadence, metrics, bands, range, ownThresholds } = signal;
  const [main, ...others] = metrics.map(metricText);
  return [
    `${id}: ${measures}`,
    `  file        <batch>/${id}.ndjson`,
    `  cadence     ${cadence}`,
    `  main metric ${main}${range === undefined ? '' : `, ${rangeText(range)}`}`,
    ...(others.length === 0 ? [] : [`  and         ${others.join(', ')}`]),
    ...(bands === undefined ? [] : [`  band        ${bands.join(', ')}`]),
    ...(ownThresholds === undefined ? [] : [`  thresholds  ${ownThresholds.join(', ')}`]),
    ...(lineOf(id)?.states === undefined
      ? []
      : [`  state       ${lineOf(id)?.states?.join(', ')}`]),
    `  entity      ${entitiesText(id)}`,
    `  members     ${readingMembers()}`,
    'An example, invented:',
    JSON.stringify(exampleReading(signal)),
  ].join('\n');
}

function metricText(name: string): string {
  const { unit, label } = metricUnit(name);
  return unit === ''
    ? `${name} (text)`
    : `${name} (number${label === '' ? '' : `, ${label}`}, or null)`;
}

function rangeText({ from, to }: NonNullable<Signal['range']>): string {
  return to === undefined ? `from ${from}` : `from ${from} to ${to}`;
}

function entitiesText(id: string): string {
  const legal = entitiesOf(id);
  if (legal === 'open') return `any id, such as ${lineOf(id)?.entities.slice(0, 6).join(', ')}`;
  const rest = legal.length - ENTITIES_SHOWN_MAX;
  const shown = legal.slice(0, ENTITIES_SHOWN_MAX).join(', ');
  return rest > 0 ? `${shown}, and ${rest} more` : shown;
}

/** The required members, then the optional ones with a question mark. */
function readingMembers(): string {
  const needed: readonly string[] = REQUIRED;
  const others = Object.keys(fieldsSchema.shape).filter((name) => !needed.includes(name));
  return [...needed, ...others.map((name) => `${name}?`)].join(', ');
}

function collectionText(id: CollectionId): string {
  const holds = COLLECTIONS.find((row) => row.id === id)?.holds;
  return [
    `${id}: ${holds}`,
    `  file        <batch>/${id}.ndjson`,
    `  members     ${memberNames(ROW_SCHEMAS[id]).join(', ')}; snapshots/README.md says which may be absent`,
    'An example, invented:',
    JSON.stringify(EXAMPLE_ROWS[id]),
  ].join('\n');
}
