import { endpointAt } from '../contract/endpoints.ts';
import { LINES, type Line, legEntity } from '../contract/lines.ts';
import { encodeSegment, filePath } from '../contract/path.ts';
import { isObject, type JsonObject, type ObjectNode, objectNodes } from './object-nodes.ts';
import { bandOf, differing, isSame, type Related } from './relation.ts';
import { placeOf } from './release-place.ts';

/** Folders of bodies that join stored records. */
const JOINED = /^(thin\/)?(bundle|census|lifecycle|air|precip)\/|^free\/sample\//;
/** Members that a joined body has of its own about the whole. */
const OWN = new Set(['provenance', 'grade', 'scope', 'nature', '_citation']);
const SAMPLE = 'sample';
/** Where a city and a sample hold whole records; other bodies hold what they need of a reading. */
const WHOLE = /^(readings\.\d+|sample)$/;
/** A whole record may show an older reading, its last fact; it is compared as a part of that record. */
const PART_OF_WHOLE = /^(readings\.\d+|sample)\./;

/** Compares everything that a joined body says of a reading with the record of that reading. */
export function checkJoined(joined: Related): void {
  if (!JOINED.test(joined.path)) return;
  for (const node of objectNodes(joined.body)) {
    if (isReading(node)) checkReading(node, joined);
  }
  if (joined.path.startsWith('census/')) checkCensus(joined);
  if (joined.ownTables && /^bundle\//.test(joined.path)) checkLegs(joined);
}

function isReading({ path, value }: ObjectNode): boolean {
  return (
    typeof value.signal_id === 'string' &&
    typeof value.record_hash === 'string' &&
    !path.includes('provenance') &&
    !PART_OF_WHOLE.test(path)
  );
}

function checkReading({ path, value }: ObjectNode, joined: Related): void {
  const at = path === '' ? '' : `${path}.`;
  const record = joined.bodies.get(recordPath(value, joined.body));
  if (record === 'absent') {
    joined.fault(`${at}record_hash`, 'is of a reading that has no record');
    return;
  }
  if (record === 'damaged') return;
  for (const name of differing(value, record, WHOLE.test(path) ? {} : { except: OWN })) {
    joined.fault(at + name, 'differs from the record');
  }
  if (value.band !== undefined && !isSame(value.band, bandOf(record))) {
    joined.fault(`${at}band`, 'differs from the band of the record');
  }
  joined.count(path === SAMPLE ? 'views' : 'legs');
}

function recordPath({ signal_id, entity }: JsonObject, body: JsonObject): string {
  const values = { signal_id: String(signal_id), entity: String(entity ?? body.entity) };
  try {
    return filePath(endpointAt('/gauge'), values) ?? '';
  } catch {
    return '';
  }
}

/** A census has a row for every record of its signal. */
function checkCensus({ path, body, bodies, fault }: Related): void {
  const signal = placeOf(path)?.values.signal_id ?? '';
  const records = bodies.list.count(`record/${encodeSegment(signal)}/`);
  const rows = Array.isArray(body.rows) ? body.rows.length : 0;
  if (rows !== records) fault('rows', `${rows} rows for ${records} records of "${signal}"`);
}

/** A bundle has a leg for every record that its line joins at this place. */
function checkLegs({ path, body, bodies, fault }: Related): void {
  const place = placeOf(path);
  const line = (LINES as readonly Line[]).find(
    (row) => row.bundle !== undefined && row.bundle.path === place?.endpoint.path,
  );
  const [subject] = Object.values(place?.values ?? {});
  if (line?.bundle === undefined || subject === undefined || !isObject(body.legs)) return;
  const held = new Set(Object.values(body.legs).map((leg) => isObject(leg) && leg.signal_id));
  for (const signal_id of line.bundle.legs.flatMap((leg) => leg.signals)) {
    const entity = legEntity(line, signal_id, subject);
    const stored = bodies.list.find(recordPath({ signal_id, entity }, body)) !== null;
    if (stored && !held.has(signal_id)) fault('legs', `lacks "${signal_id}", which has a record`);
  }
}
