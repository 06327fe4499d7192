import { type Citation, citedTarget } from '../format/citation.ts';
import { defined } from '../format/defined.ts';
import { isObject, type JsonObject } from '../format/strict-json.ts';
import {
  type CapturedCollection,
  MCP_SERVERS,
  STABLE_COINS,
  TRUST_SERVICES,
} from '../products/collections.ts';
import { endpointAt } from '../products/products.ts';
import { listsOf, type RosterProduct } from '../products/rosters.ts';
import { parseFreshnessBasis } from '../products/shapes/freshness.ts';
import { filePath } from '../products/shapes/path.ts';
import type { Provenance } from '../products/shapes/record.ts';
import {
  coinDeathRow,
  coinRow,
  type RosterMember,
  type RosterRow,
  rosterBody,
  rosterStatement,
  rosterVerifiable,
} from '../products/shapes/roster-views.ts';
import { checkMade, cited, type Related, rowsOf, storedBody } from './relation.ts';
import type { StoredBodies } from './stored-bodies.ts';

const ROSTER = /^(verifiable\/)?roster\//;
const VERIFIABLE = 'verifiable/';

interface SubjectRoster {
  readonly of: CapturedCollection;
  readonly product: RosterProduct;
}

/** The lists of collections in which each subject has a body, by their file. */
const ROSTERS: ReadonlyMap<string | null, SubjectRoster> = new Map(
  [TRUST_SERVICES, MCP_SERVERS].flatMap((of: CapturedCollection) =>
    listsOf(of.id).map((product) => [filePath(product, {}), { of, product }] as const),
  ),
);

/** Compares a roster with the bodies of its subjects, or its form with pre-images with the usual one. */
export function checkRoster(roster: Related): void {
  const { path, ownTables } = roster;
  if (!ROSTER.test(path) || !ownTables) return;
  const known = ROSTERS.get(path);
  if (path.startsWith(VERIFIABLE)) checkMade(roster, () => withCores(roster));
  else if (known !== undefined) checkMade(roster, () => madeRoster(roster, known));
  else checkMade(roster, () => withCoins(roster));
}

/** The usual form with the pre-images of the other one, which are judged with the hashes. */
function withCores({ path, body, bodies, count }: Related): object | null {
  const usual = storedBody(bodies, path.slice(VERIFIABLE.length));
  if (usual === null) return null;
  const member = memberOf(usual);
  const given = rowsOf(body[member]);
  const rows = rowsOf(usual[member]);
  const shown = rows.map((row, at) => {
    return {
      ...row,
      _hash_core: row.record_hash === null ? null : (given[at]?._hash_core ?? null),
    };
  });
  count('forms');
  const citation = citationOf(usual);
  const { claim, fact, retrieved_at, source } = citation;
  const target = `${citedTarget(citation)}?verifiable=1`;
  const says = { claim, fact, retrieved_at, target, observed_at: source.published_at ?? '' };
  const record_hash_verifiable = rosterVerifiable(rows, true);
  return cited({ ...usual, [member]: shown, record_hash_verifiable }, body, says);
}

/** Every body of this format states a claim. */
function citationOf({ _citation }: JsonObject): Required<Citation> {
  return _citation as unknown as Required<Citation>;
}

function memberOf(roster: JsonObject): RosterMember {
  const member = (['rows', 'deaths', 'records'] as const).find((name) => roster[name]);
  if (member === undefined) throw new TypeError('it has no rows');
  return member;
}

function madeRoster({ body, bodies, count }: Related, { of, product }: SubjectRoster): object {
  const { list, path: target } = product;
  const { member } = list;
  const row = defined(list.row, 'the row of a subject');
  const { claim } = citationOf(body);
  const rows = subjectsIn(bodies, of).flatMap(([, subject], index) => {
    const shown = row(subject as never, index + 1);
    return shown === null ? [] : [rowOf(subject, shown)];
  });
  count('roster_rows', rows.length);
  // Which notes its sources have stands in no subject.
  const noted = rows.map((row) => ({
    ...row,
    source_note: body.source_note as string | undefined,
  }));
  const says = rosterStatement({ member, claim, target }, rows);
  return cited(rosterBody(member, noted, false), body, says);
}

function subjectsIn(
  bodies: StoredBodies,
  { subject: { path, param, id } }: CapturedCollection,
): [string, JsonObject][] {
  const folder = endpointAt(path).file?.split(`{${param}}`)[0];
  const found = [...bodies.list.paths(defined(folder, 'the folder of the subjects'))].flatMap(
    (path): [string, JsonObject][] => {
      const body = storedBody(bodies, path);
      return body === null ? [] : [[String(body[id]), body]];
    },
  );
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

function rowOf(subject: JsonObject, shown: object): RosterRow {
  const { observed_at, data_age_hours, record_hash, grade, scope } =
    subject as unknown as RosterRow;
  const provenance = subject.provenance as unknown as Provenance;
  const { retrieved_at: collected_at } = citationOf(subject);
  const cadence = parseFreshnessBasis(provenance.freshness_basis);
  const [lineage] = provenance.data_lineage;
  if (cadence === null || lineage === undefined) throw new TypeError('a subject has no lineage');
  const { validation_status } = provenance;
  const part = { cadence, observed_at, data_age_hours, validation_status, lineage };
  return { ...part, shown, core: null, record_hash, collected_at, grade, scope };
}

/** The rows of a roster as they stand, but those of coins with a body as that body has them. */
function withCoins({ path, body, bodies, count }: Related): object {
  const member = memberOf(body);
  const rows = rowsOf(body[member]);
  const coins = new Map(path.startsWith('roster/stable/') ? subjectsIn(bodies, STABLE_COINS) : []);
  const shown = (coin: JsonObject, row: JsonObject | null, rank: number) => {
    if (member === 'deaths') return coinDeathRow(coin as never);
    const depegged = isObject(row?.lifecycle) && row.lifecycle.depegged === true;
    return coinRow({ ...coin, depegged } as never, rank);
  };
  const made = rows.map((row, at) => {
    const coin = coins.get(String(row.entity));
    coins.delete(String(row.entity));
    if (coin === undefined) return row;
    count('roster_rows');
    return shown(coin, row, at + 1);
  });
  const missing = [...coins.values()].filter((coin) => shown(coin, null, 0) !== null);
  const record_hash_verifiable = rosterVerifiable(rows, false);
  const all = [...made, ...missing];
  return { ...body, count: all.length, [member]: all, record_hash_verifiable };
}
