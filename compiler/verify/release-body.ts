import type { Catalog } from '../contract/catalog/catalog.ts';
import { type Citation, citationSchema, verifyUrl } from '../contract/citation.ts';
import type { Release } from '../contract/release.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject, type JsonObject } from '../contract/strict-json.ts';
import type { BodyReport } from './body-check.ts';
import { type FilePlace, placeOf } from './release-place.ts';
import type { SignatureCheck } from './strict-signature.ts';
import { verifyBody } from './verify-body.ts';

/** Names of the body members that repeat a parameter of the path. */
const MEMBER_OF: Readonly<Record<string, string>> = {
  signal_id: 'signal_id',
  entity: 'entity',
  loc: 'location',
  service: 'service_id',
  name: 'server_id',
};

export type BodyFault = readonly [where: string, detail: string];

interface BodyUnder {
  /** What the release was compiled from. */
  readonly catalog: Catalog;
  readonly head: Release;
  readonly isSignature: SignatureCheck;
}

/** One published body by itself, and what is wrong with it there, at its place, or under this head. */
interface JudgedBody {
  readonly report: BodyReport;
  readonly faults: readonly BodyFault[];
}

export function judgeBody(
  path: string,
  body: JsonValue,
  { catalog, head, isSignature }: BodyUnder,
): JudgedBody {
  const report = verifyBody(body, { trust: [head.issuer_did], isSignature });
  const failed = report.checks
    .filter((each) => each.status === 'fail')
    .map((each): BodyFault => [each.where, `${each.check}: ${each.detail}`]);
  const place = placeOf(path, catalog);
  if (place === null || !isObject(body)) return { report, faults: failed };
  const sold = place.endpoint.priceUsd !== null || place.endpoint.token;
  if (sold && report.verdict === 'unsigned') failed.push(['_citation', 'missing in a sold body']);
  const faults = [...failed, ...placeFaults(place, body), ...headFaults(place, body, head)];
  return { report, faults };
}

function placeFaults({ values }: FilePlace, body: JsonObject): BodyFault[] {
  const subject = isObject(body.sample) ? body.sample : body;
  const params = isObject(subject.params) ? subject.params : {};
  return Object.entries(values).flatMap(([name, value]): BodyFault[] => {
    const found = subject[MEMBER_OF[name] ?? name] ?? params[name];
    if (found === undefined || found === value) return [];
    return [[MEMBER_OF[name] ?? name, `not "${value}", which its path stands for`]];
  });
}

/** Citations of a release are made by its issuer, for its address and for the place they are at. */
function headFaults(place: FilePlace, body: JsonObject, head: Release): BodyFault[] {
  const cited = isObject(body.sample) ? body.sample : body;
  const parsed = citationSchema.safeParse(cited._citation);
  if (!parsed.success) return [];
  const { source, key_id, verify_url, record_hash } = parsed.data;
  const faults: BodyFault[] = [];
  if (source.issuer !== head.issuer_name) faults.push(['source.issuer', 'not the issuer name']);
  if (key_id !== head.key_id) faults.push(['key_id', 'not the key of the release']);
  if (verify_url !== verifyUrl(head.base_url, record_hash)) {
    faults.push(['verify_url', 'not at the address of the release']);
  }
  if (cited === body && !isTarget(place, parsed.data, head)) {
    faults.push(['source.url', `not the operation "${place.endpoint.path}" of this body`]);
  }
  return faults.map(([where, detail]) => [`_citation.${where}`, detail]);
}

function isTarget({ endpoint, values }: FilePlace, { source }: Citation, head: Release): boolean {
  const start = head.base_url + endpoint.path;
  const [address, query = ''] = (source.url ?? '').split('?', 2);
  const asked = new URLSearchParams(query);
  return address === start && Object.entries(values).every(([k, v]) => asked.get(k) === v);
}
