import { describe, expect, it } from 'vitest';
import { verifyPage } from '../../../gatekeeper/rooms/pages.ts';

describe('verifyPage()', () => {
  const body = {
    endpoint: 'gauge/verify',
    hash: 'sha256:00',
    found: true,
    verified: true,
    recomputed_hash: null,
    is_issuer_record: true,
    is_truth_bear_record: true,
    record_status: { state: 'current' },
    signal_id: null,
    entity: '"><img src=x onerror=alert(1)>',
    observed_at: null,
    source_ref: "javascript:alert('1')",
    scope: null,
    note: 'a & b',
    ots_status: null,
    statement: '</p><script>1</script>',
  } as const;

  it('shows every fact and escapes all of it', () => {
    const shop = { issuerName: 'Issuer <b>', baseUrl: 'https://example.org', styles: ['/a.css'] };
    const page = verifyPage(body, shop);
    expect(page).toContain('a &amp; b');
    expect(page).toContain('Issuer &lt;b&gt;');
    expect(page).not.toMatch(/<script|<img|<b>|javascript:alert\('|style=/);
    expect(page).toContain('&lt;script&gt;1&lt;/script&gt;');
  });
});
