import { legOf } from '../contract/bundle.ts';
import { encodeSegment } from '../contract/path.ts';
import { isObject } from '../contract/strict-json.ts';
import { censusEntry } from '../products/census.ts';
import type { JoinedSource } from '../products/product.ts';
import { endpointAt, productOf } from '../products/products.ts';
import { checkMade, cited, type Related, storedBody, storedRecord } from './relation.ts';
import { type FilePlace, placeOf } from './release-place.ts';

/** A sample is its record, made in the words of no table. */
const SAMPLE = 'free/sample/';

/** Compares a body that joins stored records with what these make. */
export function checkJoined(joined: Related): void {
  const { path, ownTables, catalog, bodies } = joined;
  if (path.startsWith(SAMPLE)) checkMade(joined, () => madeSample(joined));
  const place = ownTables ? placeOf(path, catalog) : null;
  if (place === null) return;
  const { endpoint, values, form } = place;
  const { ofJoined, forms = {} } = productOf(endpoint, catalog.lines);
  const make = form === '' ? ofJoined : forms[form]?.ofJoined;
  if (make === undefined) return;
  const [subject = ''] = Object.values(values);
  checkMade(joined, () => {
    const usual = form === '' ? null : storedBody(bodies, path.slice(form.length + 1));
    const made = make(subject, { ...storedSource(joined, place), usual });
    return made && cited(made.body, joined.body, made.statement);
  });
  if (form !== '') joined.count('forms');
}

/** What a release holds, as what joined bodies are made of. */
function storedSource(joined: Related, { endpoint, form }: FilePlace): JoinedSource {
  const { path, catalog, bodies } = joined;
  const { lines, entryById, namedByLine } = catalog;
  const recordOf = (signal_id: string, entity: string) =>
    storedRecord(bodies, { signal_id, entity });
  const leg: JoinedSource['leg'] = (signalId, entity) => {
    const record = recordOf(signalId, entity);
    if (record === null) return undefined;
    if (form === '') joined.count('legs');
    return legOf(record, entryById.get(signalId)?.signal);
  };
  return {
    lines,
    entryById,
    namedByLine,
    usual: null,
    leg,
    record(signalId, entity) {
      const signed = recordOf(signalId, entity);
      if (signed === null) return null;
      const { _citation, ...record } = signed;
      return record;
    },
    census(signalId) {
      const folder = `record/${encodeSegment(signalId)}/`;
      return bodies.list.values(endpointAt('/gauge'), folder).flatMap((entity) => {
        const [record, read] = [recordOf(signalId, entity), leg(signalId, entity)];
        return record === null || read === undefined ? [] : [censusEntry(record, read)];
      });
    },
    subjects() {
      const listed = bodies.list.values(endpoint, path.slice(0, path.lastIndexOf('/') + 1));
      const { signals = [] } = productOf(endpoint, lines);
      const cities = signals.flatMap((id) => entryById.get(id)?.line.entities ?? []);
      return signals.length === 0
        ? listed
        : [...new Set(cities)].filter((one) => listed.includes(one));
    },
  };
}

function madeSample(joined: Related): object | null {
  const { sample } = joined.body;
  if (!isObject(sample)) return null;
  const { signal_id, entity } = sample;
  joined.count('views');
  const record = { signal_id: String(signal_id), entity: String(entity) };
  const stored = storedRecord(joined.bodies, record);
  return stored && { sample: stored };
}
