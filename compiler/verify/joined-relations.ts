import { isObject } from '../format/strict-json.ts';
import { BUNDLE_FOLDER } from '../products/bundle.ts';
import { censusEntry } from '../products/census.ts';
import { endpointAt, productOf, TABLE } from '../products/products.ts';
import { legOf } from '../products/shapes/bundle.ts';
import { encodeSegment } from '../products/shapes/path.ts';
import type { JoinedSource, Product } from '../products/shapes/product.ts';
import { checkMade, cited, type Related, storedBody, storedRecord } from './relation.ts';
import { type FilePlace, placeOf } from './release-place.ts';

/** A sample is its record, made in the words of no table. */
const SAMPLE = 'free/sample/';

/** The folders of joined bodies, whatever their form: nothing else may lie there. */
const JOINED = new Set([
  BUNDLE_FOLDER,
  ...TABLE.flatMap(({ ofJoined, file }: Product) =>
    ofJoined === undefined || file === undefined ? [] : [file.slice(0, file.indexOf('/') + 1)],
  ),
]);

function isAmongJoined(path: string): boolean {
  const plain = path.replace(/^thin\//, '');
  return JOINED.has(plain.slice(0, plain.indexOf('/') + 1));
}

/** Compares a body that joins stored records with what these make. */
export function checkJoined(joined: Related): void {
  const { path, ownTables, catalog, bodies } = joined;
  if (path.startsWith(SAMPLE)) checkMade(joined, () => madeSample(joined));
  if (!ownTables) return;
  const place = placeOf(path, catalog);
  if (place === null) {
    if (isAmongJoined(path)) joined.fault('', 'answers no operation of the catalogue');
    return;
  }
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
      if (signals.length === 0) return listed;
      const cities = signals.flatMap((id) => entryById.get(id)?.line.entities ?? []);
      const isListed = new Set(listed);
      return [...new Set(cities)].filter((one) => isListed.has(one));
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
