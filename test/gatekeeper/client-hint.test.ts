import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type Endpoint, endpointAt } from '../../compiler/contract/endpoints.ts';
import { BUDGET_ROWS_MAX, clientHint, exampleUrl } from '../../gatekeeper/client-hint.ts';

const BASE = 'https://api.example.com';

describe('clientHint()', () => {
  it('clientHint() speaks exactly above 0.10 USD', () => {
    const hinted = (ENDPOINTS as readonly Endpoint[])
      .filter((row) => clientHint(row, BASE) !== null)
      .map((row) => row.priceUsd);
    expect(new Set(hinted)).toEqual(new Set(['0.25', '0.35', '9.90']));
    expect(clientHint(endpointAt('/pay/tier3'), BASE)).toBeNull();
  });

  it('clientHint() lists a bounded number of cheaper operations with runnable URLs', () => {
    const rows = clientHint(endpointAt('/gauge/subscribe'), BASE)?.within_your_budget ?? [];
    expect(rows).toHaveLength(BUDGET_ROWS_MAX);
    for (const row of rows) expect(new URL(row.example).pathname).toBe(row.path);
  });
});

describe('exampleUrl()', () => {
  it('exampleUrl() gives the required parameters in sorted order and no others', () => {
    expect(exampleUrl(endpointAt('/gauge/calibrated'), BASE)).toBe(
      `${BASE}/gauge/calibrated?entity=us-denver&signal_id=airquality.aqi`,
    );
    expect(exampleUrl(endpointAt('/stablecoin-deaths'), BASE)).toBe(`${BASE}/stablecoin-deaths`);
  });
});
