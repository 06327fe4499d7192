import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { formatFiles, parseFiles, type Release } from '../../../../compiler/format/release.ts';
import type { JsonObject, JsonValue } from '../../../../compiler/format/strict-json.ts';
import {
  FILERS_PATH,
  filingRecordsPath,
  parseFilerLine,
  settlementPath,
} from '../../../../compiler/products/shapes/filing-index.ts';
import { storedPath } from '../../../../compiler/products/shapes/path.ts';
import { nodeDisk } from '../../../../compiler/system/disk.ts';
import { jcs } from '../../../../compiler/system/jcs.ts';
import { makeSealer, signingKey } from '../../../../compiler/system/sealer.ts';
import { type FileList, openFileList } from '../../../../compiler/verify/file-list.ts';
import { checkFiler } from '../../../../compiler/verify/filing-relations.ts';
import { differences, type Related } from '../../../../compiler/verify/relation.ts';
import { StoredBodies } from '../../../../compiler/verify/stored-bodies.ts';
import {
  checkJoined,
  checkRecord,
  checkRoster,
  checkRows,
  checkView,
  viewsOf,
} from '../../../../compiler/verify/stored-relations.ts';
import { verifyRelease } from '../../../../compiler/verify/verify-release.ts';
import { CIK, FILINGS, filingSet, listingRow } from '../../../filing-rows.ts';
import { rosterFiles, rosterSet } from '../../../roster-rows.ts';
import { type Body, ownShop, type Shop, smallShop } from '../../../shop.ts';
import {
  compileFolder,
  filesBelow,
  readJson,
  removeFolders,
  SEED,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { leafChanges } from '../../../verify/alterations.ts';
import { proveAgain } from '../../../verify/resign.ts';

afterAll(removeFolders);

const RIVER = 'hydrology.river-level/07010000.json';
const DENVER = 'environment/us-denver.json';

let release: Shop;
let list: FileList;
beforeAll(async () => {
  release = await smallShop();
  list = openFileList(nodeDisk, release.folder);
});
afterAll(() => release.dispose());

/** A body as it would be judged, and where faults of it were found. */
function related(path: string, body: Body, { ownTables = true, bodies = stored() } = {}) {
  const found: string[] = [];
  return {
    path,
    body,
    bodies,
    catalog: BUILTIN,
    ownTables,
    found,
    fault: (where) => found.push(where),
    count: () => undefined,
  } satisfies Related & { readonly found: string[] };
}

const stored = (): StoredBodies => new StoredBodies(nodeDisk, release.folder, list);

const view = (path: string, body: Body): string[] => {
  const judged = related(path, body);
  const of = viewsOf(`record/${RIVER}`, list).find(({ entry }) => entry.path === path);
  if (of === undefined) throw new RangeError(`"${path}" is no view of the river`);
  checkView(judged, release.body(`record/${RIVER}`), of);
  return judged.found;
};
const joined = (path: string, body: Body): string[] => {
  const judged = related(path, body);
  checkJoined(judged);
  return judged.found;
};
const preview = (path: string, body: Body): string[] => {
  const judged = related(path, body);
  const record = related(`record/${RIVER}`, release.body(`record/${RIVER}`));
  checkRows({ record, preview: judged }, release.body(`series/${RIVER}`));
  return [...record.found, ...judged.found];
};

/** Members of a citation that follow from the body and the key; the others are judged with the signature. */
const SAID = /^_citation\.(claim|fact|retrieved_at|source\.(url|published_at))$/;
/** The one member of a view that stands in no record: it takes the readings of five years. */
const UNKNOWN = /^history\.percentile_table\./;

const VIEWS: readonly (readonly [
  path: string,
  judge: (path: string, body: Body) => string[],
  least: number,
])[] = [
  [`free/raw/${RIVER}`, view, 30],
  [`ruler/${RIVER}`, view, 25],
  [`calibrated/${RIVER}`, view, 20],
  [`thin/record/${RIVER}`, view, 10],
  [`thin/calibrated/${RIVER}`, view, 10],
  [`strata/${RIVER}`, view, 30],
  [`history/${RIVER}`, view, 20],
  [`free/history-preview/${RIVER}`, preview, 30],
  [`bundle/${DENVER}`, joined, 80],
  [`thin/bundle/${DENVER}`, joined, 35],
  ['air/us-denver.json', joined, 80],
  ['precip/us-denver.json', joined, 40],
  ['census/airquality.aqi.json', joined, 40],
  ['lifecycle/kyoto-protocol.json', joined, 20],
  ['free/sample/hydrology.river-level.json', joined, 60],
];

describe('a body that repeats records, made again', () => {
  it.each(VIEWS)('I24: %s is what its records make', (path, judge) => {
    expect(judge(path, release.body(path))).toEqual([]);
  });

  it.each(VIEWS)('I24: %s differs with any member changed', (path, judge, least) => {
    let changed = 0;
    for (const { path: where, altered } of leafChanges(release.body(path))) {
      if (where.startsWith('_citation') && !SAID.test(where)) continue;
      if (UNKNOWN.test(where)) continue;
      changed += 1;
      expect(judge(path, altered as Body), where).not.toEqual([]);
    }
    expect(changed).toBeGreaterThan(least);
  });

  it.each(VIEWS)('I24: %s differs with any member left out or added', (path, judge) => {
    const body = release.body(path);
    expect(judge(path, { ...body, additional: 'x' })).toEqual(['additional']);
    for (const name of Object.keys(body)) {
      const { [name]: _, ...rest } = body;
      expect(judge(path, rest), name).not.toEqual([]);
    }
  });

  it('I24: a record says in words what its members say', () => {
    const path = `record/${RIVER}`;
    const judge = (body: Body): string[] => {
      const judged = related(path, body);
      checkRecord(judged);
      return judged.found;
    };
    expect(judge(release.body(path))).toEqual([]);
    for (const { path: where, altered } of leafChanges(release.body(path))) {
      if (SAID.test(where) && !where.endsWith('retrieved_at')) {
        expect(judge(altered as Body), where).toEqual([where]);
      }
    }
  });

  it('I24: a record says of its past what its series says', () => {
    const body = release.body(`record/${RIVER}`);
    const judge = (altered: Body): string[] => {
      const record = related(`record/${RIVER}`, altered);
      checkRows({ record, preview: null }, release.body(`series/${RIVER}`));
      return record.found;
    };
    expect(judge(body)).toEqual([]);
    for (const name of ['previous', 'change', 'trend_7d']) {
      const changes = [...leafChanges(body[name] as JsonValue)];
      expect(changes.length, name).toBeGreaterThan(0);
      for (const { altered } of changes) {
        expect(judge({ ...body, [name]: altered }), name).toEqual([name]);
      }
    }
  });

  it('is not made in the words of other tables, but a sample always is its record', () => {
    const judge = (path: string): string[] => {
      const judged = related(
        path,
        { ...release.body(path), note: 'other words' },
        { ownTables: false },
      );
      checkJoined(judged);
      return judged.found;
    };
    expect(judge(`bundle/${DENVER}`)).toEqual([]);
    expect(judge('free/sample/hydrology.river-level.json')).toEqual(['note']);
  });

  it('repeats nothing where its record is not in the release', () => {
    const sample = { ...release.body(`record/${RIVER}`), entity: 'elsewhere' };
    expect(joined('free/sample/hydrology.river-level.json', { sample })).toEqual(['']);
  });
});

describe('a roster, made again of its subjects', () => {
  let root: string;
  let bodies: StoredBodies;
  beforeAll(async () => {
    const made = await ownShop('rosters', () => rosterFiles(rosterSet()));
    root = made.folder;
    bodies = new StoredBodies(nodeDisk, root, openFileList(nodeDisk, root));
  });
  const judge = (path: string, body: Body): string[] => {
    const judged = related(path, body, { bodies });
    checkRoster(judged);
    return judged.found;
  };
  const NOTED = /^source_note$|^_citation\.claim$/;
  /** Of a coin whose symbol is another one's, and of all coins together, no body tells. */
  const COINS =
    /^(?!(rows|deaths)\.\d|count$|record_hash_verifiable)|depegged$|^rows\.[^0]|^deaths\.[^0]/;

  it.each<[path: string, unknown: RegExp, least: number]>([
    ['roster/trust/scorecard.json', NOTED, 40],
    ['roster/trust/graveyard.json', NOTED, 20],
    ['roster/mcp/census.json', NOTED, 30],
    ['roster/mcp/graveyard.json', NOTED, 20],
    ['roster/stable/census.json', COINS, 10],
    ['roster/stable/graveyard.json', COINS, 10],
    ['verifiable/roster/trust/scorecard.json', /_hash_core/, 40],
    ['verifiable/roster/stable/census.json', /_hash_core/, 40],
    ['verifiable/roster/stablecoin-deaths.json', /_hash_core/, 30],
  ])('I24: %s', (path, unknown, least) => {
    const body = readJson(root, path) as Body;
    expect(judge(path, body)).toEqual([]);
    let changed = 0;
    for (const { path: where, altered } of leafChanges(body)) {
      if (unknown.test(where)) continue;
      if (where.startsWith('_citation') && !SAID.test(where)) continue;
      changed += 1;
      expect(judge(path, altered as Body), where).not.toEqual([]);
    }
    expect(changed).toBeGreaterThan(least);
  });

  it.each(['roster/trust/scorecard.json', 'roster/mcp/census.json', 'roster/stable/census.json'])(
    'I24: %s lacks no subject',
    (path) => {
      const body = readJson(root, path) as Body & { rows: JsonValue[] };
      expect(judge(path, { ...body, rows: body.rows.slice(1) })).not.toEqual([]);
      expect(judge(path, { ...body, rows: [...body.rows, ...body.rows.slice(0, 1)] })).not.toEqual(
        [],
      );
    },
  );
});

describe('differences()', () => {
  it.each<[JsonValue, JsonValue, string[]]>([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, []],
    [{ a: 1 }, { a: '1' }, ['a']],
    [{ a: null }, {}, ['a']],
    [{}, { a: null }, ['a']],
    [[1, 2], [1], ['']],
    [[], {}, ['']],
    [{ a: [1, { b: 2, c: 3 }] }, { a: [1, { b: 3, c: 4 }] }, ['a.1.b', 'a.1.c']],
    [{ constructor: 1 }, {}, ['constructor']],
    [null, {}, ['']],
  ])('%j and %j', (one, other, places) => {
    expect([...differences(one, other)]).toEqual(places);
  });
});

let files: ReadonlyMap<string, Buffer>;
beforeAll(async () => {
  const { folder } = await compileFolder(writeSnapshots(filingSet([listingRow(), ...FILINGS])));
  files = new Map([...filesBelow(folder)].map(([path, bytes]) => [path, Buffer.from(bytes)]));
});

const LATER = settlementPath(CIK, '/resolve', 'later.json');
const RECORDS = filingRecordsPath(CIK, 0);

/** What is wrong with what is stored of a filer, one file of it changed, added or left out. */
function faultsOf(changed = '', edit: (text: string) => string | null = (text) => text): string[] {
  const texts = new Map([...files].map(([path, bytes]) => [path, String(bytes)]));
  const made = edit(texts.get(changed) ?? '');
  if (made === null) texts.delete(changed);
  else if (changed !== '') texts.set(changed, made);
  const faults: string[] = [];
  const read = (path: string) => JSON.parse(texts.get(path) ?? '{}');
  const filer: Related = {
    path: LATER,
    body: read(LATER),
    bodies: {
      get: (path: string) => (texts.has(path) ? read(path) : 'absent'),
      text: (path: string) => texts.get(path) ?? null,
      filers: (texts.get(FILERS_PATH) ?? '').split('\n').slice(0, -1).map(parseFilerLine),
      list: {
        find: (path: string) => texts.get(path) ?? null,
        count: (start: string) => [...texts.keys()].filter((path) => path.startsWith(start)).length,
      },
    } as unknown as Related['bodies'],
    catalog: BUILTIN,
    ownTables: true,
    fault: (where, detail) => void faults.push(`${where}: ${detail}`),
    count: () => undefined,
  };
  checkFiler(filer);
  return faults;
}

const under = (folder: string): string[] =>
  [...files.keys()].filter((path) => path.startsWith(`filing/${CIK}/${folder}`)).sort();
const swap = (from: string, to: string) => (text: string) => text.replaceAll(from, to);

describe('checkFiler()', () => {
  it('I53: accepts the answers that follow from the stored filings', () => {
    expect(under('').length).toBeGreaterThan(200);
    expect(faultsOf()).toEqual([]);
  });

  it('I53: refuses an answer with other bounds, another fact or another statement, whoever signed it', () => {
    const [first = ''] = under('resolve/10-~4b/~/filing_date/').concat(
      under('resolve/10-~4b/~/filing_date/'),
    );
    const TENK =
      under('').find((path) => /resolve\/10.*filing_date\/2026-02-01/.test(path)) ?? first;
    expect(faultsOf(TENK)).toEqual([]);
    for (const edit of [
      swap('"valid_from":"2026-02-01"', '"valid_from":"2026-01-31"'),
      swap('"valid_until":"2026-11-20"', '"valid_until":"2026-12-20"'),
      swap('"filed_by_cutoff":true', '"filed_by_cutoff":false'),
      swap('"resolution_status":"resolved"', '"resolution_status":"ambiguous"'),
      swap('"fact":"By', '"fact":"Not by'),
      swap(
        '"retrieved_at":"2026-11-20T11:00:00Z","status"',
        '"retrieved_at":"2026-11-20T11:00:01Z","status"',
      ),
    ]) {
      const [fault = ''] = faultsOf(TENK, edit);
      expect(fault).toContain(TENK);
    }
  });

  it('I53: refuses an answer that is missing or too many, and an index that names others', () => {
    const [index = ''] = under('index/');
    const answers = under('proposer/');
    expect(faultsOf(answers[5], () => null).join()).toContain(`${answers[5]}: is missing`);
    expect(faultsOf(`${answers[5]}x.json`).join()).toContain('files are stored');
    expect(faultsOf(index, swap('0001-01-01', '0001-01-02')).join()).toContain(index);
  });

  it('I53: refuses records that are left out, out of order, or contradict themselves', () => {
    const rows = (change: (all: JsonObject[]) => JsonObject[]) => (text: string) =>
      JSON.stringify({ rows: change(JSON.parse(text).rows) });
    expect(
      faultsOf(
        RECORDS,
        rows((all) => all.slice(1)),
      ),
    ).not.toEqual([]);
    expect(
      faultsOf(
        RECORDS,
        rows((all) => all.toReversed()),
      ).join(),
    ).toContain('out of order');
    const day = swap(
      '"filing_date":"2026-02-01","disclosure_time"',
      '"filing_date":"2026-02-02","disclosure_time"',
    );
    const [fault = ''] = faultsOf(RECORDS, (text) =>
      day(text.replace(/"_hash_core".*?\}/g, (core) => swap('2026-02-01"', '2026-02-03"')(core))),
    );
    expect(fault).toContain('contradicts itself');
  });
});

let data: string;
let root: string;
let did: string;
const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const entries = () => parseFiles(readFileSync(join(root, 'files.txt'), 'utf8'));

function textOf(path: string): string {
  const entry = entries().find((each) => each.path === path);
  return readFileSync(join(data, storedPath(path, entry?.sha256 ?? '')), 'utf8');
}

/** Changes one file and signs the release again, as only its issuer can. */
function republish(changed: string, edit: (text: string) => string): void {
  const made = entries().map((entry) => {
    if (entry.path !== changed) return entry;
    const bytes = Buffer.from(edit(textOf(changed)));
    const fresh = { path: changed, size: bytes.length, sha256: digest(bytes) };
    writeFileSync(join(data, storedPath(changed, fresh.sha256)), bytes);
    return fresh;
  });
  const list = formatFiles(made);
  const head = JSON.parse(readFileSync(join(root, 'release.json'), 'utf8')) as Release;
  const { signature, ...unsigned } = { ...head, files_sha256: `sha256:${digest(list)}` };
  const issuer = { name: head.issuer_name, did, keyId: head.key_id, baseUrl: head.base_url };
  const sealer = makeSealer(issuer, signingKey(SEED));
  const signed = { ...unsigned, signature: sealer.signText(jcs(unsigned)) };
  writeFileSync(join(root, 'files.txt'), list);
  writeFileSync(join(root, 'release.json'), `${JSON.stringify(signed, null, 2)}\n`);
  proveAgain(root, signed, { sealer });
}

const named = async (): Promise<string[]> => {
  const { faults } = await verifyRelease(data, { trust: [did] });
  return faults.map(({ file, where }) => `${file} ${where}`);
};

const SERVICE = 'subject/trust/stays-example.json';
const CENSUS = 'verifiable/roster/stable/census.json';

function shardOf(path: string): string {
  return `verify/${JSON.parse(textOf(path)).record_hash.slice(7, 9)}.txt`;
}

describe('verifyRelease() on rosters, registries and documents', () => {
  beforeEach(async () => {
    const made = await ownShop('rosters', () => rosterFiles(rosterSet()));
    ({ data, did, folder: root } = made);
  });

  it('verifies what compile wrote, and what was only signed again', async () => {
    expect(await named()).toEqual([]);
    republish(SERVICE, (text) => text);
    expect(await named()).toEqual([]);
  });

  it('names a subject with one fact of its core changed', async () => {
    republish(SERVICE, (text) => text.replace('"demand_class":"REAL"', '"demand_class":"WASH"'));
    expect(await named()).toEqual([
      'roster/trust/scorecard.json rows.1.demand_class',
      `${SERVICE} _citation.source.content_hash`,
      `${SERVICE} record_hash`,
    ]);
  });

  it('names a genuine subject at the place of another', async () => {
    republish(SERVICE, () => textOf('subject/trust/back-example.json'));
    expect(await named()).toEqual(expect.arrayContaining([`${SERVICE} service_id`]));
  });

  it('names a document at the place of another', async () => {
    const topic = 'document/chatter/energy.json';
    republish(topic, (text) => text.replace('{"topic":"energy"}', '{"topic":"water"}'));
    expect(await named()).toEqual(
      expect.arrayContaining([`${topic} topic`, `${topic} record_hash`]),
    );
  });

  it('names a row whose pre-image is of another row, or differs from it', async () => {
    republish(CENSUS, (text) => text.replace('"coin_id":"late"', '"coin_id":"large"'));
    expect(await named()).toContain(`${CENSUS} rows.1.record_hash`);
    republish(CENSUS, (text) => text.replace('"rank":2,"entity":"late"', '"rank":2,"entity":"x"'));
    expect(await named()).toContain(`${CENSUS} rows.1.record_hash`);
  });

  it('names a subject whose hash no look-up line has', async () => {
    republish(shardOf(SERVICE), (text) =>
      text.replace(new RegExp(`^.*"row","${SERVICE}".*\n`, 'm'), ''),
    );
    expect(await named()).toEqual([`${SERVICE} record_hash`]);
  });

  it('names a look-up line whose file holds another row, or is not there', async () => {
    const shard = shardOf(SERVICE);
    for (const other of [CENSUS, 'subject/trust/nobody.json']) {
      republish(shard, (text) => text.replace(/"subject\/trust\/[a-z-]+\.json"/, `"${other}"`));
      expect(await named()).toContainEqual(expect.stringMatching(`^${shard} line \\d+$`));
    }
  });
});

describe('a body that lies where no operation has it', () => {
  it.each([
    'bundle/nowhere/us-denver.json',
    'thin/bundle/nowhere/us-denver.json',
    'air/us/denver.json',
  ])('is a fault in the folders of joined bodies: %s', (path) => {
    expect(joined(path, release.body(`bundle/${DENVER}`))).toEqual(['']);
  });

  it('is none where it belongs, nor in a folder of other bodies', () => {
    expect(joined(`bundle/${DENVER}`, release.body(`bundle/${DENVER}`))).toEqual([]);
    expect(joined('segment/nowhere.json', release.body(`bundle/${DENVER}`))).toEqual([]);
  });
});
