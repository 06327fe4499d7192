import type { Source } from '../import/source.ts';
import { addressesOf } from './fetch-source.ts';
import { tableText } from './run-report.ts';
import { everyMsOf, type WantedSource } from './sources-config.ts';

const MINUTE_MS = 60_000;

/** What the sources ask for that a configuration does not hold. */
interface Means {
  readonly contact: string | null;
  readonly env: (name: string) => string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Why sources cannot be asked, by their names; nothing is asked to find out. */
export function refusalsOf(
  wanted: readonly WantedSource[],
  { contact, env, now }: Means,
): ReadonlyMap<string, string> {
  return new Map(
    wanted.flatMap(({ source, entities }) => {
      const found = addressesOf(source, entities, { contact, keyOf: env, now });
      return typeof found === 'string' ? [[source.id, found] as const] : [];
    }),
  );
}

/** Every source, how often it is fetched, and what it needs. */
export function listText(
  sources: readonly Source[],
  env: (name: string) => string | undefined,
): string {
  const head = ['source', 'every', 'needs', 'agency'];
  const rows = sources.map((source) => [
    source.id,
    source.fetch === null ? 'files only' : durationText(everyMsOf(source)),
    needsOf(source, env),
    source.agency,
  ]);
  return tableText([head, ...rows]);
}

function needsOf({ fetch }: Source, env: (name: string) => string | undefined): string {
  if (fetch === null) return '-';
  const { key, needsContact } = fetch;
  const isSet = (name: string): string => ((env(name) ?? '') === '' ? '' : ' (set)');
  const contact = 'SIGNALPRESS_CONTACT';
  const needs = [
    ...(key === undefined ? [] : [`${key.variable}${isSet(key.variable)}`]),
    ...(needsContact === true ? [`${contact}${isSet(contact)}`] : []),
  ];
  return needs.length === 0 ? '-' : needs.join(', ');
}

/** What a configuration fetches, and what stands against it. */
export function checkText(
  wanted: readonly WantedSource[],
  refusals: ReadonlyMap<string, string>,
): string {
  const head = ['source', 'every', 'entities', 'state'];
  const rows = wanted.map(({ source: { id }, entities, everyMs }) => [
    id,
    durationText(everyMs),
    entities.length === 0 ? 'all that it knows' : String(entities.length),
    refusals.get(id) ?? 'ok',
  ]);
  return tableText([head, ...rows]);
}

function durationText(ms: number): string {
  const minutes = ms / MINUTE_MS;
  if (minutes % 1440 === 0) return `${minutes / 1440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
