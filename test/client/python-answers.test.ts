import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hashedIn } from '../../compiler/contract/citation.ts';
import { TABLE } from '../../compiler/contract/endpoints.ts';
import { SOLD_TARGETS, soldShop } from '../sold-shop.ts';
import { hasPython } from '../verify/python-judge.ts';
import { printedBy } from './python-gate.ts';

describe.skipIf(!hasPython)('verify_log.py (skipped without python3)', () => {
  it('knows which operations are about one reading or one row', async () => {
    const code = 'import json, verify_log as log; print(json.dumps([log.OF_READING, log.OF_ROW]))';
    const of = (kind: string): string[] =>
      TABLE.filter((row) => hashedIn(row) === kind).map(({ path }) => path);
    expect(await printedBy(code, [])).toEqual([of('reading'), of('row')]);
  });
});

describe.skipIf(!hasPython)('judged_body() (skipped without python3)', () => {
  it('accepts each operation for its own request, and none for that of another', async () => {
    const shop = await soldShop();
    const sold = await Promise.all(
      SOLD_TARGETS.map(async (target) => [target, (await shop.ask(target)).toString()]),
    );
    const file = join(mkdtempSync(join(tmpdir(), 'signalpress-sold-')), 'sold.json');
    writeFileSync(file, JSON.stringify({ sold, did: shop.did, now: Date.parse(shop.now) }));
    const program = `
import json, sys
sys.dont_write_bytecode = True
from signalpress_answers import Verification, judged_body
from verify_body import judge, judge_body
from verify_demands import target_of
from verify_keys import Reader
given = json.load(open(sys.argv[1], encoding="utf-8"))
rows, off = [], []
for target, text in given["sold"]:
    data = text.encode("utf-8")
    report = Verification(*judge(judge_body, lambda: data, Reader([given["did"]], given["now"], demands_proof=False)))
    rows.append((target_of(target), data, report))
for at, (own, data, report) in enumerate(rows):
    if judged_body(*own, data, report)[1] is not None: off.append(["refused", own, judged_body(*own, data, report)[1]])
    for asked in rows[at - 1][0], rows[at - 2][0], (own[0], dict(own[1], entity="another")), (own[0] + "x", own[1]):
        if asked[0] != own[0] + "x" and own[0] == "/gauge/subscribe" and asked[0] == own[0]: continue
        if judged_body(*asked, data, report)[1] is None: off.append(["accepted", asked])
print(json.dumps([len(rows), off]))`;
    expect(await printedBy(program, [file])).toEqual([SOLD_TARGETS.length, []]);
  });
});
