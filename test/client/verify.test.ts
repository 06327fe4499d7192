import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Verification, verify } from '../../compiler/client/verify.ts';
import { SERIES_CSV_HEADER } from '../../compiler/products/shapes/series.ts';
import { answer } from '../../gatekeeper/heart/answers/answers.ts';
import { compiledService, question } from '../gatekeeper/tiny-service.ts';
import { smallSet } from '../small-set.ts';
import { AS_OF, compileFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';

const AQI = '/gauge?signal_id=airquality.aqi&entity=us-denver';
const SERIES = '/gauge/history-series?signal_id=airquality.aqi&entity=us-denver&days=3650';

let shop: { readonly did: string; textOf(target: string): Promise<string> };
let record: string;
beforeAll(async () => {
  const { data, release } = await compileFolder(writeSnapshots(smallSet()));
  const service = await compiledService(data, AS_OF);
  const textOf = async (target: string): Promise<string> => {
    const answered = await answer(question(target), service);
    if (answered.kind !== 'content') throw new Error(`Cannot ask "${target}": no answer`);
    return answered.content.body.toString('utf8');
  };
  shop = { did: release.issuer_did, textOf };
  record = await textOf(AQI);
});
afterAll(removeFolders);

const statuses = ({ steps }: Verification) =>
  Object.fromEntries(steps.map(({ id, status }) => [id, status]));
const failed = ({ steps }: Verification): string[] =>
  steps.filter(({ status }) => status === 'fail').map(({ id }) => id);

describe('verify()', () => {
  it('passes every step of a genuine record for its issuer', () => {
    const own = { issuer: shop.did, demandsProof: false };
    const outcome = verify(record, own);
    expect(outcome.verdict).toBe('verified');
    expect(statuses(outcome)).toEqual({
      readable: 'pass',
      signature: 'pass',
      issuer: 'pass',
      content: 'pass',
      record_hash: 'pass',
      consistency: 'pass',
      request_time: 'pass',
      logged: 'not_applicable',
    });
    const bytes = new TextEncoder().encode(record);
    expect(verify(bytes, { ...own, issuer: [shop.did] })).toEqual(outcome);
  });

  it('says no more than "issuer unknown" when nobody was named, and refuses another issuer', () => {
    const open = verify(record);
    expect([open.verdict, statuses(open).issuer]).toEqual(['issuer_unknown', 'not_applicable']);
    const other = verify(record, {
      issuer: 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw',
    });
    expect([other.verdict, failed(other)]).toEqual(['failed', ['issuer']]);
  });

  it('turns the content and the fingerprint red for one altered digit', () => {
    const altered = record.replace(/"aqi_index":(\d)/, (_, digit) => {
      return `"aqi_index":${(Number(digit) + 1) % 10 || 1}`;
    });
    expect(altered).not.toBe(record);
    const outcome = verify(altered, { issuer: shop.did });
    expect(outcome.verdict).toBe('failed');
    expect(failed(outcome)).toEqual(expect.arrayContaining(['content', 'record_hash']));
    expect(statuses(outcome)).toMatchObject({ signature: 'pass', issuer: 'pass' });
  });

  it('turns the signature red for an altered statement', () => {
    const altered = record.replace('"not_advice":true,"claim":"', '"not_advice":true,"claim":"X');
    expect(failed(verify(altered, { issuer: shop.did }))).toContain('signature');
  });

  it('follows the chain of a series, and sees a row that is gone', async () => {
    const series = await shop.textOf(SERIES);
    expect(statuses(verify(series, { issuer: shop.did })).series).toBe('pass');
    const body = JSON.parse(series) as { rows: unknown[] };
    const shorter = JSON.stringify({ ...body, rows: body.rows.slice(0, -1) });
    expect(failed(verify(shorter, { issuer: shop.did }))).toContain('series');
  });

  it.each([
    ['{"a":1,"a":2}', 'readable'],
    ['', 'readable'],
  ])('reports "%s" as unreadable and never throws', (text, step) => {
    const outcome = verify(text);
    expect([outcome.verdict, failed(outcome)]).toEqual(['failed', [step]]);
  });

  it.each(['{"a":1}', '[1]'])(
    'says of %s, which has no signature, that nobody signed it',
    (text) => {
      const outcome = verify(text);
      expect(outcome.verdict).toBe('unsigned');
      expect(statuses(outcome)).toMatchObject({
        signature: 'not_applicable',
        content: 'not_applicable',
      });
    },
  );

  it('says of a table that it is not signed', () => {
    const outcome = verify(`${SERIES_CSV_HEADER}\r\n`);
    expect(outcome.verdict).toBe('unsigned');
    expect(outcome.checks[0]?.detail).toMatch(/CSV is not signed/);
  });

  it('refuses a list of keys that does not hold', () => {
    expect(() => verify(record, { issuer: shop.did, keys: { keys: [] } })).toThrow(/key/i);
  });
});
