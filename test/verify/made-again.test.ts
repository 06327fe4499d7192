import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { nodeDisk } from '../../compiler/verify/disk.ts';
import { type FileList, openFileList } from '../../compiler/verify/file-list.ts';
import { checkJoined } from '../../compiler/verify/joined-relations.ts';
import {
  checkRecord,
  checkRows,
  checkView,
  viewsOf,
} from '../../compiler/verify/record-relations.ts';
import { differences, type Related } from '../../compiler/verify/relation.ts';
import { checkRoster } from '../../compiler/verify/roster-relations.ts';
import { StoredBodies } from '../../compiler/verify/stored-bodies.ts';
import { rosterFiles, rosterSet } from '../roster-rows.ts';
import { compileFolder, readJson, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { leafChanges } from './alterations.ts';
import { type Body, type SmallRelease, smallRelease } from './small-release.ts';

const RIVER = 'hydrology.river-level/07010000.json';
const DENVER = 'environment/us-denver.json';

let release: SmallRelease;
let list: FileList;
beforeAll(async () => {
  release = await smallRelease();
  list = openFileList(nodeDisk, release.root);
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

const stored = (): StoredBodies => new StoredBodies(nodeDisk, release.root, list);

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
    const made = await compileFolder(writeSnapshots(rosterFiles(rosterSet())));
    root = made.folder;
    bodies = new StoredBodies(nodeDisk, root, openFileList(nodeDisk, root));
  });
  afterAll(removeFolders);
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
