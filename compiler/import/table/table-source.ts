import { createHash } from 'node:crypto';
import { defined } from '../../contract/defined.ts';
import { isoTime } from '../../contract/iso-time.ts';
import type { JsonValue } from '../../contract/strict-json.ts';
import { memberNames, ROW_SCHEMAS } from '../../stages/intake/member-names.ts';
import type { Reading } from '../../stages/intake/reading.ts';
import { fetchAgain, ImportError, type Imported, type Payload } from '../payload.ts';
import { ReadingList } from '../readings.ts';
import type { Source } from '../source.ts';
import {
  type MapFile,
  type Member,
  parseTableMap,
  type ReadingsMap,
  type RowsMap,
  type TableMap,
} from './table-map.ts';
import { type MappedRow, tableRows } from './table-rows.ts';
import { timeOf } from './table-time.ts';

type TableFormat = 'csv' | 'json';
/** Lines do not say where they end. */
const UNENDED =
  'nothing shows whether the table was cut where a line ends, and what it leaves out counts as gone; a note with "bytes" does';
/** Letters of the hash of a map that name it. */
const MAP_ID_CHARS = 12;

/** The source that a map describes. Its name tells which map it was, so that evidence of a reading does. */
export function tableSource(format: TableFormat, given: MapFile): Source {
  const { bytes, file } = given;
  const map = parseTableMap(given);
  const other = format === 'csv' ? 'rows' : 'separator';
  if (map[other] !== undefined) {
    const state = `${other}: a table in ${format} has none; remove it from the map`;
    throw new ImportError({ subject: file, state });
  }
  return {
    id: `${format}-map-${createHash('sha256').update(bytes).digest('hex').slice(0, MAP_ID_CHARS)}`,
    agency: map.sources[0]?.name ?? file,
    version: 1,
    format,
    feeds: ['signal' in map ? map.signal : map.collection],
    home: map.source_ref,
    read: (payload) => readTable(payload, map, format),
    fetch: null,
  };
}

function readTable(payload: Payload, map: TableMap, format: TableFormat): Imported {
  const rows = tableRows(payload, map, format);
  try {
    if ('signal' in map) return readings(rows, map, payload);
    const isEnded = format === 'json' || payload.note.bytes !== undefined;
    return { ...collected(rows, map, payload), remarks: isEnded ? [] : [UNENDED] };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const state = `${cause.message}; correct the map, or fetch it again`;
    throw new ImportError({ subject: payload.subject, state }, { cause });
  }
}

function readings(rows: readonly MappedRow[], map: ReadingsMap, payload: Payload): Imported {
  const list = new ReadingList();
  const seen = new Set<string>();
  for (const row of rows) {
    const entity = row.part(map.entity);
    const current = currentOf(row, map);
    if (entity === undefined) list.skips.add('row', 'its word is not in entity.values');
    else if (entity === null) list.skips.add('row', 'it names no entity');
    else if (Object.values(current).every((value) => value === null))
      list.skips.add(entity, 'no data');
    else {
      const reading = readingOf(row, { entity, current }, { map, payload });
      const key = `${entity} ${reading.observed_at}`;
      if (seen.has(key)) throw row.fault(map.time.column, `${key} is listed twice`);
      seen.add(key);
      list.add(map.signal, reading);
    }
  }
  return list.someOf(payload);
}

function currentOf(row: MappedRow, { metrics, band }: ReadingsMap): Reading['current'] {
  const measured = metrics.map(({ name, column, type, unit, unit_column }) => {
    const written = unit_column === undefined ? unit : row.text(unit_column);
    if (unit_column !== undefined && written !== unit)
      throw row.fault(unit_column, `"${written}", and the map says "${unit}"`);
    return [name, type === 'text' ? row.text(column) : row.number(column)] as const;
  });
  if (band === undefined) return Object.fromEntries(measured);
  const word = row.part(band);
  if (word === undefined)
    throw row.fault(
      defined(band.column, 'the column of the band'),
      'its word is not in band.values',
    );
  const [main, ...others] = measured;
  return Object.fromEntries([defined(main, 'the main metric'), ['band', word], ...others]);
}

interface Of {
  readonly map: ReadingsMap;
  readonly payload: Payload;
}

function readingOf(
  row: MappedRow,
  { entity, current }: Pick<Reading, 'entity' | 'current'>,
  { map, payload }: Of,
): Reading {
  const { metrics, entity_name, sources } = map;
  const observed_at = observedAt(row, map);
  const name = entity_name === undefined ? null : row.part(entity_name);
  const value = current[defined(metrics[0], 'the main metric').name];
  const main = typeof value === 'number' ? { value } : {};
  return {
    entity,
    ...(typeof name === 'string' ? { entity_name: name } : {}),
    observed_at,
    collected_at: payload.note.fetched_at,
    current,
    sources: sources.map((source) => ({ ...source, ...main, as_of: observed_at })),
    ...origin(map),
  };
}

function observedAt(row: MappedRow, { time }: TableMap): string {
  const { column, format, zone, zone_column } = time;
  const written = String(format.startsWith('epoch') ? row.number(column) : row.text(column));
  const own = zone_column === undefined ? (zone ?? null) : row.text(zone_column);
  const instant = timeOf(written, format, own);
  if (typeof instant === 'string') throw row.fault(column, instant);
  return isoTime(instant);
}

/** What the map says of every row. */
function origin(map: TableMap) {
  const { source_ref, source_tier, grade, scope, validation_status, uncertainty } = map;
  return {
    source_ref,
    source_tier,
    ...(grade === undefined ? {} : { grade }),
    ...(scope === undefined ? {} : { scope }),
    ...(validation_status === undefined ? {} : { validation_status }),
    ...(uncertainty === undefined ? {} : { uncertainty }),
  };
}

/** Rows of a collection; whoever is not in the table counts as gone, so every row must be read. */
function collected(rows: readonly MappedRow[], map: RowsMap, payload: Payload): Imported {
  const { note } = payload;
  if (rows.length === 0) throw fetchAgain(payload, 'the table has no rows');
  const known = memberNames(ROW_SCHEMAS[map.collection]);
  const stored = rows.map((row) => {
    const members: Record<string, JsonValue> = {
      observed_at: observedAt(row, map),
      collected_at: note.fetched_at,
      ...(known.includes('capture_date') ? { capture_date: note.fetched_at.slice(0, 10) } : {}),
      sources: map.sources as unknown as JsonValue,
      ...origin(map),
    };
    for (const [name, member] of Object.entries(map.members))
      put(members, name.split('.'), memberOf(row, member));
    return members;
  });
  return {
    readings: new Map(),
    rows: new Map([[map.collection, stored]]),
    skipped: [],
    remarks: [],
  };
}

function memberOf(row: MappedRow, member: Member): JsonValue {
  const { column, constant, type, values } = member;
  if (column === undefined) return constant ?? null;
  if (type === 'number') return row.number(column);
  if (type === 'boolean') return row.boolean(column);
  const word = row.part({ column, values });
  if (word === undefined) throw row.fault(column, 'its word is not in "values"');
  return word;
}

/** Puts a value at a member of a member, as `current.price_in_peg` names it. */
function put(
  members: Record<string, JsonValue>,
  [name = '', ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (rest.length === 0) {
    members[name] = value;
    return;
  }
  const inner = (Object.hasOwn(members, name) ? members[name] : {}) as Record<string, JsonValue>;
  put(inner, rest, value);
  members[name] = inner;
}
