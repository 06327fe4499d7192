import { describe, expect, it } from 'vitest';
import type { TenderHeader } from '../../../gatekeeper/http/header-facts.ts';
import { alice, bench, gauge, TARGET, v1 } from '../payment-bench.ts';

const PAYMENT = await alice.header(v1);
const PROCESSOR = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

/** How often the header of what is offered is looked at, from the entry of a request to its answer. */
async function readsOf(kind: TenderHeader['kind'], header: string): Promise<number> {
  let reads = 0;
  const paymentHeader = {
    kind,
    version: 1 as const,
    get text() {
      reads += 1;
      return header;
    },
  };
  const purchases = bench({ processor: PROCESSOR }).service();
  purchases.boughtBy(paymentHeader, null);
  const opened = await purchases.open({
    endpoint: gauge,
    target: TARGET,
    method: 'GET',
    paymentHeader,
  });
  expect(opened).toHaveProperty('sell');
  return reads;
}

describe('boughtBy() and open()', () => {
  it.each([
    ['payment', PAYMENT],
    ['payment', 'no payment'],
    ['receipt', 'no receipt'],
  ] as const)('read the header of a %s once between them', async (kind, header) => {
    expect(await readsOf(kind, header)).toBe(1);
  });
});
