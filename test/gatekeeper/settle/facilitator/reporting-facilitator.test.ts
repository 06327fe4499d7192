import { describe, expect, it } from 'vitest';
import {
  type MissingVerdict,
  reportingFacilitator,
} from '../../../../gatekeeper/heart/payment/metered.ts';
import { decodePayment } from '../../../../gatekeeper/heart/payment/payment-header.ts';
import {
  ABANDONED,
  type Facilitator,
  facilitatorRequest,
  type SettleOutcome,
  type ValidityOutcome,
} from '../../../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../../../gatekeeper/settle/networks.ts';
import { isRefusal } from '../../../../gatekeeper/settle/payment.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { payer } from '../../payer.ts';
import { shop } from '../../payment-request.ts';

const REPORT_EVERY_MS = 1000;

const terms = shop.terms(builtinOperation('/gauge'), '/gauge', 1)[0];
const payment = decodePayment(await payer(NETWORKS.base).header(terms), 1);
if (isRefusal(payment)) throw new Error(payment.error);
const request = facilitatorRequest(payment, terms);
const SILENT = { verdict: 'none', detail: '/verify: status 500' } as const;

function reported(says: { verify: ValidityOutcome; settle: SettleOutcome }) {
  const by = { now: 0 };
  const silences: MissingVerdict[] = [];
  const facilitator: Facilitator = {
    verify: async () => says.verify,
    settle: async () => says.settle,
    supported: async () => ({ verdict: 'supported', kinds: [] }),
  };
  const report = (missing: MissingVerdict) => void silences.push(missing);
  return {
    by,
    silences,
    asked: reportingFacilitator(facilitator, report, () => by.now),
  };
}

describe('reportingFacilitator()', () => {
  it('reports what brought no verdict, now and then, and counts the rest', async () => {
    const { by, silences, asked } = reported({ verify: SILENT, settle: SILENT });
    for (let times = 0; times < 5; times++) expect(await asked.verify(request)).toEqual(SILENT);
    by.now += REPORT_EVERY_MS;
    expect(await asked.settle(request)).toEqual(SILENT);
    const { detail } = SILENT;
    expect(silences).toEqual([
      { call: 'verify', detail, more: 0 },
      { call: 'settle', detail, more: 4 },
    ]);
  });

  it('reports nothing of a buyer who left', async () => {
    const { silences, asked } = reported({ verify: SILENT, settle: ABANDONED });
    expect(await asked.settle(request)).toEqual(ABANDONED);
    expect(silences).toEqual([]);
  });

  it('reports nothing of verdicts, whatever they are', async () => {
    const verify = { verdict: 'invalid', reason: 'x' } as const;
    const settle = { verdict: 'refused', reason: 'x' } as const;
    const { silences, asked } = reported({ verify, settle });
    expect([await asked.verify(request), await asked.settle(request)]).toEqual([verify, settle]);
    expect(await asked.supported()).toMatchObject({ verdict: 'supported' });
    expect(silences).toEqual([]);
  });
});
