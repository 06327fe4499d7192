import {
  bundleBody,
  type LegReading,
  legOf,
  legReadings,
  placeLegs,
  thinBundle,
} from '../contract/bundle.ts';
import type { Line, Signal } from '../contract/catalog/line.ts';
import { endpointAt } from '../contract/endpoints.ts';
import {
  bundleStatement,
  censusBody,
  censusEntry,
  censusStatement,
  cityBody,
  cityStatement,
  lifecycleBody,
  lifecycleSignals,
  lifecycleStatement,
  thinBundleStatement,
} from '../contract/joined-bodies.ts';
import { encodeSegment } from '../contract/path.ts';
import { CITY_ADD_ONS } from '../contract/products.ts';
import { knownName } from '../contract/reading-text.ts';
import type { Bundle } from '../contract/record.ts';
import { isObject } from '../contract/strict-json.ts';
import { checkMade, cited, type Related, storedBody, storedRecord } from './relation.ts';
import { placeOf } from './release-place.ts';

const THIN = 'thin/';

interface Joined {
  readonly joined: Related;
  readonly subject: string;
}

/** How a joined body is made of the records it repeats, by the folder of its file; null where one of them is missing. */
const MADE: Readonly<Record<string, (of: Joined) => object | null>> = {
  bundle: madeBundle,
  'thin/bundle': madeThin,
  census: madeCensus,
  air: (of) => madeCity('air', of),
  precip: (of) => madeCity('precip', of),
  lifecycle: madeLifecycle,
  'free/sample': madeSample,
};
/** What is made in the words of the tables cannot be made with other tables; a sample is its record. */
const OF_NO_TABLE = 'free/sample';

/** Compares a body that joins stored records with what these make. */
export function checkJoined(joined: Related): void {
  const { path, ownTables } = joined;
  const folder = Object.keys(MADE).find((name) => path.startsWith(`${name}/`));
  const made = folder === undefined ? undefined : MADE[folder];
  if (folder === undefined || made === undefined) return;
  if (!ownTables && folder !== OF_NO_TABLE) return;
  const [subject = ''] = Object.values(placeOf(path, joined.catalog)?.values ?? {});
  checkMade(joined, () => made({ joined, subject }));
}

function madeBundle({ joined, subject }: Joined): object | null {
  const line = lineAt(joined);
  const placed = placedLegs(joined, line, subject);
  const folder = joined.path.slice(0, joined.path.lastIndexOf('/') + 1);
  const file = `${folder}{${line.bundle.param}}.json`;
  const row = { path: line.bundle.path, file, params: {} };
  const subjects = joined.bodies.list.values(row, folder);
  const named = joined.catalog.namedByLine.get(line.id) ?? {};
  const name = knownName({ named }, subject);
  const bundle = bundleBody(line, { subject, name, placed, subjects });
  const legs = legReadings(placed);
  joined.count('legs', legs.length);
  return bundle && cited(bundle, joined.body, bundleStatement(line, bundle, legs));
}

function madeThin({ joined, subject }: Joined): object | null {
  const line = lineAt(joined);
  const usual = storedBody(joined.bodies, joined.path.slice(THIN.length));
  if (usual === null) return null;
  const bundle = usual as unknown as Bundle;
  const legs = legReadings(placedLegs(joined, line, subject));
  joined.count('forms');
  return cited(thinBundle(bundle), joined.body, thinBundleStatement(line, bundle, legs));
}

function lineAt({ path, catalog }: Related) {
  const operation = placeOf(path, catalog)?.endpoint.path;
  const line = catalog.lines.find(({ bundle }) => bundle?.path === operation);
  if (line?.bundle === undefined) throw new RangeError(`no line has a bundle at "${path}"`);
  return { ...line, bundle: line.bundle };
}

function placedLegs(joined: Related, line: Line, subject: string) {
  return placeLegs(line, subject, (signalId, entity) => legAt(joined, signalId, entity));
}

function legAt(joined: Related, signal_id: string, entity: string): LegReading | undefined {
  const record = storedRecord(joined.bodies, { signal_id, entity });
  return record === null ? undefined : legOf(record, signalIn(joined, signal_id));
}

function signalIn({ catalog }: Related, id: string): Signal | undefined {
  return catalog.entryById.get(id)?.signal;
}

/** A census has a row for every record of its signal. */
function madeCensus({ joined, subject: signal_id }: Joined): object | null {
  const signal = signalIn(joined, signal_id);
  const folder = `record/${encodeSegment(signal_id)}/`;
  const entities = joined.bodies.list.values(endpointAt('/gauge'), folder);
  const entries = entities.flatMap((entity) => {
    const record = storedRecord(joined.bodies, { signal_id, entity });
    return record === null ? [] : [censusEntry(record, legOf(record, signal))];
  });
  if (signal === undefined || entries.length === 0) return null;
  joined.count('legs', entries.length);
  return cited(censusBody(signal, entries), joined.body, censusStatement(signal, entries));
}

function madeCity(addon: keyof typeof CITY_ADD_ONS, { joined, subject: loc }: Joined) {
  const readings = CITY_ADD_ONS[addon].flatMap((signal_id) => {
    const signed = storedRecord(joined.bodies, { signal_id, entity: loc });
    if (signed === null) return [];
    const { _citation, ...record } = signed;
    return [{ record, leg: legOf(signed, signalIn(joined, signal_id)) }];
  });
  if (readings.length === 0) return null;
  joined.count('legs', readings.length);
  const listed = new Set(joined.bodies.list.values(endpointAt(`/gauge/${addon}`), `${addon}/`));
  const { entryById } = joined.catalog;
  const first = CITY_ADD_ONS[addon].find((id) => entryById.has(id)) ?? '';
  const cities = entryById.get(first)?.line.entities ?? [];
  const locs = cities.filter((each) => listed.has(each));
  const body = cityBody(addon, { loc, readings, locs });
  return cited(body, joined.body, cityStatement(addon, loc, readings));
}

function madeLifecycle({ joined, subject: entity }: Joined): object | null {
  const legs = lifecycleSignals(joined.catalog).flatMap((id) => legAt(joined, id, entity) ?? []);
  if (legs.length === 0) return null;
  joined.count('legs', legs.length);
  return cited(lifecycleBody(legs), joined.body, lifecycleStatement(entity, legs));
}

function madeSample({ joined }: Joined): object | null {
  const { sample } = joined.body;
  if (!isObject(sample)) return null;
  const { signal_id, entity } = sample;
  joined.count('views');
  const record = { signal_id: String(signal_id), entity: String(entity) };
  const stored = storedRecord(joined.bodies, record);
  return stored && { sample: stored };
}
