import { describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { historyOf } from '../../compiler/contract/key-history.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { FOREIGN_BODIES } from './foreign-texts.ts';
import { hasPython, pythonVerdicts } from './python-judge.ts';
import type { Body } from './small-release.ts';

const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

describe('verifyBody() on bodies of another service', () => {
  const texts = FOREIGN_BODIES.map(({ text }) => text);
  const did = (text: string): string => /did:key:z6Mk\w+/.exec(text)?.[0] ?? '';
  const verdict = (text: string, trust = [did(text)]): string =>
    verifyBody(parseJson(text), { trust }).verdict;

  it('accepts their citation from a trusted issuer and says that their content hash is not recomputable', () => {
    for (const text of texts) {
      expect(verdict(text)).toBe('partly_verified');
      const { checks } = verifyBody(parseJson(text), { trust: [did(text)] });
      const content = checks.find((each) => each.check === 'content');
      expect(content).toMatchObject({ status: 'not_applicable' });
      expect(content?.detail).toMatch('not recomputable');
    }
  });

  it('says by command and library that nothing signs the content, whatever it is', async () => {
    for (const text of texts) {
      const issuer = [did(text)];
      const altered = JSON.stringify({ ...(parseJson(text) as Body), count: 1e6, deaths: [] });
      for (const body of [text, altered]) {
        const said = await runVerify('-', { issuer, readStdin: () => Buffer.from(body) });
        expect(said.exitCode).toBe(0);
        expect(said.text).toMatch(/^partly verified, the citation alone /);
        expect(said.text).toMatch(
          /^ {2}- +content +not recomputable: .*nothing signs the content$/m,
        );
        const { verdict: word, about } = verify(body, { issuer });
        expect([word, about?.answers]).toEqual(['partly_verified', null]);
        expect(verify(body, { issuer, maxAgeMs: 1e15 }).verdict).toBe('failed');
        expect(verify(body, { issuer, demandsProof: true }).verdict).toBe('failed');
      }
    }
  });

  it('I30: takes a citation without a claim in no other form: each of ours signs its content', () => {
    for (const text of texts) {
      const body = parseJson(text) as Body;
      const issuer = did(text);
      const keyed = { ...(body._citation as Body), key_id: `${issuer}#${issuer.slice(8)}` };
      const forms = { keyed: { ...body, _citation: keyed }, sample: { sample: body } };
      const more = { proven: { ...body, _proof: 'x' }, nested: { ...body, part: body } };
      for (const [name, form] of Object.entries({ ...forms, ...more })) {
        const report = verifyBody(form as unknown as Body, { trust: [issuer] });
        const content = report.checks.filter(({ check }) => check === 'content');
        expect([name, report.verdict, content[0]?.status]).toEqual([name, 'failed', 'fail']);
      }
      const keys = historyOf(issuer, [], []);
      expect(verifyBody(body, { trust: [issuer], keys }).verdict).toBe('failed');
    }
  });

  it('calls them consistent, of an unknown issuer, where nobody was named', () => {
    for (const text of texts) {
      expect(verifyBody(parseJson(text), { trust: 'any' }).verdict).toBe('issuer_unknown');
    }
  });

  it.skipIf(!hasPython)('are judged alike by verify_record.py (skipped without python3)', () => {
    const lines = texts.map((text) => JSON.stringify(JSON.parse(text)));
    const forged = lines.map((line) => line.replace('"translated":false', '"translated":true'));
    const judged = (issuers: readonly string[]) => pythonVerdicts([...lines, ...forged], issuers);
    const dids = texts.map(did);
    const verdicts = (word: string) => [...texts.map(() => word), ...texts.map(() => 'failed')];
    expect(judged([]).map(({ verdict: word }) => word)).toEqual(verdicts('issuer_unknown'));
    expect(judged(dids).map(({ verdict: word }) => word)).toEqual(verdicts('partly_verified'));
    expect(judged(dids)[0]?.detail).toMatch('not recomputable');
    expect(judged([OTHER_DID])[0]?.verdict).toBe('failed');
  });

  it('refuses them for other issuers', () => {
    for (const text of texts) expect(verdict(text, [OTHER_DID])).toBe('failed');
  });

  it('refuses them after one changed character anywhere in the citation', () => {
    for (const text of texts) {
      const body = parseJson(text) as Body;
      const citation = JSON.stringify(body._citation);
      for (let i = 0; i < citation.length; i += 5) {
        const changed = changeAt(citation, i);
        if (changed === null) continue;
        const forged = { ...body, _citation: changed } as unknown as Body;
        expect(verifyBody(forged, { trust: [did(text)] }).verdict, changedAt(citation, i)).toBe(
          'failed',
        );
      }
    }
  });
});

/** One other letter or digit at a place; null where that is no longer JSON, or is the unsigned key label. */
function changeAt(text: string, at: number): unknown {
  if (changedAt(text, at).includes('"key_id"') || !/[a-z0-9]/i.test(text.charAt(at))) return null;
  const other = text.charAt(at) === 'b' ? 'c' : 'b';
  try {
    return parseJson(text.slice(0, at) + other + text.slice(at + 1));
  } catch {
    return null;
  }
}

function changedAt(text: string, at: number): string {
  return text.slice(Math.max(0, at - 20), at + 1);
}
