import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../compiler/contract/strict-json.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import type { Service } from '../../gatekeeper/answers/service.ts';
import { resolve } from '../../gatekeeper/rooms/resolve.ts';
import { FILINGS } from '../filing-rows.ts';
import { filingService } from '../gatekeeper/filing-service.ts';
import { question } from '../gatekeeper/tiny-service.ts';
import { removeFolders } from '../snapshot-folder.ts';

let service: Service;
beforeAll(async () => {
  service = await filingService(FILINGS);
});
afterAll(removeFolders);

const RESOLVE = '/resolve?entity=EXMP&form=10-Q&cutoff=2026-05-25';
const PROPOSER = '/resolve/proposer?entity=EXMP&form=10-K&cutoff=2026-03-31';
const NONE = '/resolve/proposer?entity=EXMP&form=SC%2013D&cutoff=2026-03-31';

async function delivered(target: string): Promise<Record<string, JsonValue>> {
  const answered = await resolve(question(target), service);
  if (answered.kind !== 'content') throw new Error('no content');
  return parseJson(answered.content.body.toString('utf8')) as Record<string, JsonValue>;
}

const verdict = (body: JsonValue) =>
  verifyBody(body, { trust: [service.release.head.issuer_did] }).verdict;

describe('settlementAnswer()', () => {
  it('accepts answers as they are delivered', async () => {
    for (const target of [RESOLVE, PROPOSER, NONE]) {
      expect(verdict(await delivered(target))).toBe('verified');
    }
  });

  it.each([
    [RESOLVE, { resolution_status: 'resolved' }],
    [RESOLVE, { filed_by_cutoff: false }],
    [RESOLVE, { filed_by_cutoff: null }],
    [RESOLVE, { disclosure_time: '2026-05-02T15:00:00Z' }],
    [RESOLVE, { disclosure_date: '2026-05-02' }],
    [RESOLVE, { event_time: '2026-05-02' }],
    [RESOLVE, { cutoff_time: '2026-05-26T04:59:59Z' }],
    [RESOLVE, { cutoff_basis: 'acceptance_time' }],
    [RESOLVE, { cutoff: '2026-04-25' }],
    [RESOLVE, { form: '10-K' }],
    [RESOLVE, { cik: '0000000001' }],
    [RESOLVE, { entity: 'OTHER' }],
    [RESOLVE, { entity_name: 'Other Corp' }],
    [RESOLVE, { note: 'nothing' }],
    [RESOLVE, { candidate_count: 1 }],
    [RESOLVE, { candidate_sources: [] }],
    [RESOLVE, { extra: 1 }],
    [PROPOSER, { answer: false }],
    [PROPOSER, { confidence: 0.5 }],
    [PROPOSER, { answer: null }],
    [PROPOSER, { timestamp: null }],
    [PROPOSER, { evidence_url: 'https://www.sec.gov/other' }],
    [PROPOSER, { source_tier: 'T2' }],
    [PROPOSER, { form: '10-Q' }],
    [NONE, { answer: true }],
    [NONE, { answer: null }],
    [NONE, { confidence: 1 }],
    [NONE, { cutoff: '2027-03-31', cutoff_time: '2027-04-01T03:59:59Z' }],
  ])('I24: refuses %s with %j', async (target, change) => {
    expect(verdict({ ...(await delivered(target)), ...change })).toBe('failed');
  });

  it('I24: refuses a candidate that was left out, changed or quoted from elsewhere', async () => {
    const body = await delivered(RESOLVE);
    const rows = body.candidate_sources as Record<string, JsonValue>[];
    const [first = {}, second = {}] = rows;
    expect(verdict({ ...body, candidate_sources: [first] })).toBe('failed');
    expect(verdict({ ...body, candidate_sources: [second, first] })).toBe('failed');
    const moved = { ...first, filing_date: '2026-05-02' };
    expect(verdict({ ...body, candidate_sources: [moved, second] })).toBe('failed');
    expect(verdict({ ...body, _citation: second._citation ?? null })).toBe('failed');
    const coverage = { ...(body.coverage as object), covered_from: '2026-01-01' };
    expect(verdict({ ...body, coverage })).toBe('failed');
  });

  it('I24: refuses a no that rests on a list which begins on a day', async () => {
    const pages = [{ from: '2010-01-01', to: '2024-01-31' }];
    const begun = await filingService(FILINGS, { from: '2024-02-01', pages });
    const trust = [begun.release.head.issuer_did];
    for (const path of ['/resolve', '/resolve/proposer']) {
      const target = `${path}?entity=EXMP&form=SC%2013D&cutoff=2026-03-31`;
      const answered = await resolve(question(target), begun);
      if (answered.kind !== 'content') throw new Error('no content');
      const body = parseJson(answered.content.body.toString('utf8')) as Record<string, JsonValue>;
      const member = path === '/resolve' ? 'filed_by_cutoff' : 'answer';
      expect(body[member]).toBeNull();
      expect(verifyBody(body, { trust }).verdict).toBe('verified');
      expect(verifyBody({ ...body, [member]: false }, { trust }).verdict).toBe('failed');
    }
  });
});
