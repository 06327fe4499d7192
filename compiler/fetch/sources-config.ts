import { z } from 'zod';
import { HOUR_MS } from '../contract/iso-time.ts';
import { nearest } from '../contract/nearest.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import type { Source } from '../import/source.ts';
import { DURATION_WORDS, durationMs } from './clock.ts';

/** The file that says what `run` fetches, where no other is named. */
export const SOURCES_FILE = 'signalpress.sources.json';
export const CONFIG_BYTES_MAX = 1 << 20;
/**
 * A batch is one hour. A second fetch within it brings little, and makes the next compile read everything again, so it is
 * done only where the operator asks for it.
 */
const EVERY_MS_LEAST = HOUR_MS;
const ENTITIES_MAX = 1000;

const duration = z.string().transform((text, context) => {
  const ms = durationMs(text);
  if (ms !== null) return ms;
  context.addIssue({ code: 'custom', message: `not ${DURATION_WORDS}` });
  return z.NEVER;
});

const origin = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !/[?#]/.test(text), 'an address with a query or fragment; leave that out');

const configSchema = z.strictObject({
  every: duration.optional(),
  origins: z.record(z.string(), origin).optional(),
  sources: z.record(
    z.string(),
    z.strictObject({
      entities: z.array(z.string().trim().min(1).max(200)).max(ENTITIES_MAX).optional(),
      every: duration.optional(),
    }),
  ),
});

/** One source that is wanted. */
export interface WantedSource {
  readonly source: Source;
  readonly entities: readonly string[];
  /** Time from one fetch to the next, in milliseconds. */
  readonly everyMs: number;
}

/** What `run` does. */
export interface SourcesConfig {
  readonly wanted: readonly WantedSource[];
  /** Mirrors by host of an agency. */
  readonly origins: Readonly<Record<string, string>>;
}

/** A configuration that cannot be used; the message names every fault. */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

function refusal(file: string, faults: readonly string[]): string {
  const list = faults.map((fault) => `\n  ${fault}`).join('');
  return `Cannot use configuration "${file}": correct it:${list}`;
}

/** Reads the bytes of a configuration; throws a ConfigError that names every member at fault. */
export function parseConfig(
  bytes: Uint8Array,
  file: string,
  sources: readonly Source[],
): SourcesConfig {
  let value: unknown;
  try {
    value = parseJson(decodeUtf8(bytes));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(refusal(file, [reason]), { cause });
  }
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new ConfigError(refusal(file, faults), { cause: parsed.error });
  }
  const { every, origins = {}, sources: named } = parsed.data;
  const faults = [...unknownSources(named, sources), ...unknownHosts(origins, sources)];
  if (Object.keys(named).length === 0) faults.push('sources: none; "sources list" shows all');
  if (faults.length > 0) throw new ConfigError(refusal(file, faults));
  const wanted = sources.flatMap((source) => {
    const own = named[source.id];
    if (own === undefined) return [];
    const { entities = [] } = own;
    return [{ source, entities, everyMs: own.every ?? everyMsOf(source, every) }];
  });
  return { wanted, origins };
}

/** How often a source is fetched where nothing else is said of it. */
export function everyMsOf({ fetch }: Source, least = EVERY_MS_LEAST): number {
  return Math.max(least, (fetch?.everyMinutes ?? 0) * 60_000);
}

/** A configuration with these sources, for a start. */
export function configText(sources: readonly Source[]): string {
  const named = Object.fromEntries(sources.map(({ id }) => [id, {}] as const));
  return `${JSON.stringify({ sources: named }, null, 2)}\n`;
}

function unknownSources(named: Readonly<Record<string, unknown>>, sources: readonly Source[]) {
  const known = sources.map(({ id }) => id);
  return Object.keys(named).flatMap((id) => {
    if (known.includes(id)) return [];
    const suggestion = nearest(id, known);
    const hint =
      suggestion === null ? 'see "signalpress sources list"' : `did you mean "${suggestion}"?`;
    return [`sources.${id}: no such source; ${hint}`];
  });
}

function unknownHosts(origins: Readonly<Record<string, string>>, sources: readonly Source[]) {
  const hosts: readonly string[] = sources.flatMap(({ fetch }) => fetch?.hosts ?? []);
  return Object.keys(origins).flatMap((host) =>
    hosts.includes(host) ? [] : [`origins.${host}: no source is fetched from this host`],
  );
}
