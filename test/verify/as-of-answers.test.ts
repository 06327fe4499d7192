import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { defined } from '../../compiler/contract/defined.ts';
import type { JsonObject } from '../../compiler/contract/strict-json.ts';
import { loadCatalog } from '../../compiler/stages/intake/load-catalog.ts';
import { answerFault, questionOf } from '../../compiler/verify/answer-fault.ts';
import { withDemands } from '../../compiler/verify/demand-checks.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { asOfShop, asOfTarget, asOfTime, recordTarget } from '../as-of-shop.ts';
import { printedBy } from '../client/python-gate.ts';
import { makeFolder, readJson, removeFolders } from '../snapshot-folder.ts';
import { hasPython } from './python-judge.ts';

let shop: Awaited<ReturnType<typeof asOfShop>>;
let catalog: Catalog;
beforeAll(async () => {
  shop = await asOfShop(3);
  ({ catalog } = loadCatalog(shop.snapshots));
}, 120_000);
afterAll(removeFolders);

/** A body as one of the releases stored it. */
function stored(release: number, folder = 'record', station = 'pier-one'): JsonObject {
  const name = defined(readdirSync(join(shop.data, 'releases')).sort()[release], 'the release');
  return readJson(join(shop.data, 'releases', name), `${folder}/tides.level/${station}.json`);
}
function fault(target: string, body: JsonObject): string | null {
  return answerFault(defined(questionOf(target, catalog), 'the question'), body, catalog);
}
/** What `verify --expect` says of a body. */
function expected(target: string, body: JsonObject) {
  const report = verifyBody(body, { trust: [shop.issuer], judgedBy: { catalog, isOfBody: true } });
  return withDemands(report, body, { catalog, expect: `GET ${target}` }).verdict;
}

const TIMES = [
  '2026-11-20T07:30:00Z',
  '2026-11-20T07:45:00Z',
  '2026-11-20T09:45:00+02:00',
  '2026-11-20',
  // Clocks differ by five minutes.
  '2026-11-20T07:10:00Z',
];

// The second release stands from 07:30 on; its reading was collected, and its source last looked at, at 07:15.
describe('answerFault() of a record as of a time', () => {
  it.each(TIMES)('I53: takes the record of then as of %s', (time) => {
    expect(fault(asOfTarget(time), stored(1))).toBeNull();
    expect(expected(asOfTarget(time), stored(1))).toBe('verified');
  });

  it.each([asOfTime(0), '2026-11-20T07:09:59.999Z', '2026-11-19', '2026-11-20T09:00:00+02:00'])(
    'I53: refuses a record that was collected later than %s',
    (time) => {
      expect(fault(asOfTarget(time), stored(1))).toBe(
        `the body speaks of 2026-11-20T07:15:00Z, which is after as_of ${time}`,
      );
      expect(expected(asOfTarget(time), stored(1))).toBe('failed');
    },
  );

  it('I67: takes the older record where that is the one of then', () => {
    expect(fault(asOfTarget(asOfTime(0)), stored(0))).toBeNull();
  });

  it('I53: refuses a newer record of the same reading: its source was looked at later', () => {
    const looked = { ...stored(1), last_looked_at: '2026-11-20T08:15:00Z' };
    expect(fault(asOfTarget(asOfTime(2)), looked)).toBeNull();
    expect(fault(asOfTarget(asOfTime(1)), looked)).toMatch(/speaks of 2026-11-20T08:15:00Z/);
    const { last_looked_at: _, ...silent } = stored(1);
    expect(fault(asOfTarget(asOfTime(1)), silent)).toMatch(/^the body speaks of undefined/);
  });

  it('I53: refuses another station, another product, and a time that is none', () => {
    const time = asOfTime(2);
    expect(fault(asOfTarget(time, 'quay-two'), stored(2))).toMatch(/^the body answers /);
    expect(fault(asOfTarget(time, 'quay-two'), stored(2, 'record', 'quay-two'))).toBeNull();
    expect(fault(asOfTarget(time), stored(2, 'ruler'))).toMatch(/^the body answers /);
    expect(fault(asOfTarget('yesterday'), stored(2))).toBe('as_of "yesterday" is no time');
  });

  it('is the record that it was for who asks nothing of its time', () => {
    expect(fault(recordTarget(), stored(1))).toBeNull();
  });

  it.skipIf(!hasPython)(
    'I53: says the same in Python, of each record as of each time',
    async () => {
      const records = [
        stored(0),
        stored(1),
        stored(2),
        stored(2, 'record', 'quay-two'),
        stored(2, 'ruler'),
      ];
      const times = [
        ...TIMES,
        ...[0, 1, 2].map(asOfTime),
        'yesterday',
        '2026-02-30',
        '2026-11-20T07:30',
      ];
      const cases = records.flatMap((body) => times.map((time) => ({ body, time })));
      const own = cases.map(({ body, time }) => fault(asOfTarget(time), body) === null);
      expect(own.filter((taken) => taken).length).toBeGreaterThan(10);
      expect(own.filter((taken) => !taken).length).toBeGreaterThan(20);
      const file = join(makeFolder(), 'cases.json');
      writeFileSync(
        file,
        JSON.stringify(cases.map(({ body, time }) => ({ body, target: asOfTarget(time) }))),
      );
      expect(await printedBy(PROGRAM, [file])).toEqual(own);
    },
  );
});

const PROGRAM = `
import json, sys
sys.dont_write_bytecode = True
from verify_demands import answer_fault, target_of
from verify_json import Refused
def is_taken(case):
    try:
        return answer_fault(*target_of(case["target"]), case["body"]) is None
    except Refused:
        return False
print(json.dumps([is_taken(case) for case in json.load(open(sys.argv[1], encoding="utf-8"))]))`;
