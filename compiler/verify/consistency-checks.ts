import { type Citation, citedTarget, keyIdOf } from '../contract/citation.ts';
import { parseFreshnessBasis } from '../contract/freshness.ts';
import { HOUR_MS, utcTime } from '../contract/iso-time.ts';
import { isObject, type JsonObject } from '../contract/strict-json.ts';
import { roundDecimal } from '../contract/units.ts';
import { agreement, type BodyCheck, checkAt } from './body-check.ts';
import { memberPath, type ObjectNode, objectNodes } from './object-nodes.ts';

/** Whether the lineage of a body names the readings that the body holds, and no other. */
export function lineageChecks({ path, value }: ObjectNode): BodyCheck[] {
  const { provenance } = value;
  if (!isObject(provenance) || !Array.isArray(provenance.data_lineage)) return [];
  const where = memberPath(path, 'provenance');
  const links = provenance.data_lineage.filter(isObject);
  const held = heldReadings(value);
  if (held.size === 0) return [];
  return [
    ...links.flatMap((link, i) => linkChecks(link, held, memberPath(where, `data_lineage.${i}`))),
    ...missingLink(value, links, memberPath(where, 'data_lineage')),
    ...oldestCheck(provenance, links, where),
  ];
}

/** What a body holds by record hash, its own provenance left aside. */
function heldReadings(value: JsonObject): Map<string, JsonObject> {
  const held = new Map<string, JsonObject>();
  for (const node of objectNodes(value)) {
    const { record_hash } = node.value;
    if (typeof record_hash !== 'string' || /(^|\.)provenance\./.test(node.path)) continue;
    if (!held.has(record_hash)) held.set(record_hash, node.value);
  }
  return held;
}

function linkChecks(link: JsonObject, held: Map<string, JsonObject>, where: string): BodyCheck[] {
  const { record_hash } = link;
  if (typeof record_hash !== 'string') return [];
  const at = checkAt('consistency', memberPath(where, 'record_hash'));
  const reading = held.get(record_hash);
  if (reading === undefined) return [at.fail('names a reading that the body does not hold')];
  const pairs = [
    ['observed_at', reading.observed_at],
    ['signal', reading.signal_id],
    ['source_ref', reading.source_ref],
  ] as const;
  const off = pairs.find(([name, own]) => own !== undefined && link[name] !== own);
  if (off === undefined) return [at.pass('names a reading of the body')];
  return [checkAt('consistency', memberPath(where, off[0])).fail('differs from its reading')];
}

/** A body about one reading, and a body of legs, must name each of them. */
function missingLink(value: JsonObject, links: readonly JsonObject[], where: string): BodyCheck[] {
  const legs = isObject(value.legs) ? Object.values(value.legs).filter(isObject) : [];
  const named = new Set(links.map((link) => link.record_hash));
  const unnamed = [value, ...legs].find(
    ({ record_hash }) => typeof record_hash === 'string' && !named.has(record_hash),
  );
  if (unnamed === undefined) return [];
  return [checkAt('consistency', where).fail(`does not name ${String(unnamed.record_hash)}`)];
}

function oldestCheck(provenance: JsonObject, links: readonly JsonObject[], where: string) {
  const at = checkAt('consistency', memberPath(where, 'oldest_leg_as_of'));
  const times = links.map((link) => instant(link.observed_at));
  if (times.length === 0 || times.some(Number.isNaN)) return [];
  return instant(provenance.oldest_leg_as_of) === Math.min(...times)
    ? [at.pass('the oldest time of the lineage')]
    : [at.fail('not the oldest time of the lineage')];
}

/** The address of a citation is not signed itself, but it must lie where the signed source does. */
export function addressCheck({ path }: ObjectNode, citation: Citation): BodyCheck {
  const near = citation.source.url === null || citedTarget(citation) !== null;
  return agreement(memberPath(path, '_citation.verify_url'), near, 'at the address of source.url');
}

/** What of a citation is not signed, or repeats the body it is attached to; for citations of this format. */
export function citedChecks({ path, value }: ObjectNode, citation: Citation): BodyCheck[] {
  const { source, key_id, issuer_DID } = citation;
  const provenance = isObject(value.provenance) ? value.provenance : {};
  const expected: readonly (readonly [where: string, holds: boolean, what: string])[] = [
    ['key_id', key_id === keyIdOf(issuer_DID), 'the key of the issuer DID'],
    [
      'source.published_at',
      source.published_at === (value.observed_at ?? provenance.oldest_leg_as_of),
      'the observation time of the body',
    ],
  ];
  const cited = expected.map(([where, holds, what]) =>
    agreement(memberPath(path, `_citation.${where}`), holds, what),
  );
  return [...cited, ...collectionChecks({ path, value }, citation.retrieved_at)];
}

/** Times that a body about one reading derives from when the reading was collected. */
function collectionChecks({ path, value }: ObjectNode, collectedAt: string): BodyCheck[] {
  const { observed_at, record_hash, data_age_hours, snapshot_date, provenance } = value;
  if (typeof observed_at !== 'string' || typeof record_hash !== 'string') return [];
  const age = Math.max(0, instant(collectedAt) - instant(observed_at)) / HOUR_MS;
  if (Number.isNaN(age)) return [];
  const hours = roundDecimal(age, 1);
  const joined = isObject(provenance) ? provenance.data_age_hours : undefined;
  const derived = [
    ['data_age_hours', data_age_hours, hours],
    ['provenance.data_age_hours', joined, hours],
    ['snapshot_date', snapshot_date, `${collectedAt.slice(0, 10)}T00:00:00Z`],
  ] as const;
  return derived
    .filter(([, found]) => found !== undefined && found !== null)
    .map(([where, found, want]) =>
      agreement(memberPath(path, where), found === want, `${want}, from the time of collection`),
    );
}

/** What the publication state of a record follows from: its cadence is said twice, and it was looked at no earlier than observed or collected. */
export function lookChecks({ path, value }: ObjectNode): BodyCheck[] {
  const { last_looked_at, official_cadence, observed_at, provenance, _citation } = value;
  if (last_looked_at === undefined || !isObject(provenance)) return [];
  const basis = String(provenance.freshness_basis);
  const collected = isObject(_citation) ? _citation.retrieved_at : observed_at;
  const looked = instant(last_looked_at);
  const isLater = [observed_at, collected].every((time) => !(looked < instant(time)));
  return [
    agreement(
      memberPath(path, 'official_cadence'),
      parseFreshnessBasis(basis) === official_cadence,
      'the cadence of the freshness_basis',
    ),
    agreement(memberPath(path, 'last_looked_at'), isLater, 'at or after the collection'),
  ];
}

function instant(time: unknown): number {
  return typeof time === 'string' ? utcTime(time) : Number.NaN;
}
