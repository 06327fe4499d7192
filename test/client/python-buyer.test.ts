import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/format/canonical.ts';
import {
  ANSWERED,
  answered,
  BASE,
  echoed,
  FIRST,
  hashText,
  proven,
  RECORD_TARGET,
  record,
  STRANGER,
  series,
  settlement,
} from '../verify/made-bodies.ts';
import { changed } from '../verify/made-cases.ts';
import { hasPython } from '../verify/python-judge.ts';
import { printedBy } from './python-gate.ts';

// The client in Python buys from a service that is a script: what it refuses before it signs, and after it paid.

const PROGRAM = `
import json, sys, time
from signalpress_client import SignalpressClient, ClientError, PendingPayment
from signalpress_http import Answer
from signalpress_verify import milliseconds
BASE, DID = sys.argv[1], sys.argv[2]
class Wallet:
    address = "0x" + "1" * 40
    def sign_typed_data(self, domain, types, message):
        return type("Signed", (), {"signature": b"s" * 65})
def bought(given):
    now, signed = milliseconds(given["now"]) / 1000, []
    def get(url, headers, timeout, *body):
        if "x-payment" in headers:
            return Answer(200, {}, given["answer"].encode("utf-8"))
        resource = url if not body else url + "?digest=" + given["digest"]
        entry = {"scheme": "exact", "network": "base", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                 "maxAmountRequired": "5000", "payTo": "0x" + "2" * 40, "maxTimeoutSeconds": 300, "resource": resource}
        offer = dict({"accepts": [entry]}, **given["offer"])
        return Answer(402, given["headers"], json.dumps(offer).encode("utf-8"))
    client = SignalpressClient(BASE, DID, Wallet(), get=get, clock=lambda: now, on_signed=signed.append)
    try:
        if "requests" in given:
            found = client.buy_basket(given["requests"])
        elif "signed_at" in given:
            value = milliseconds(given["signed_at"]) // 1000
            found = client.redeliver(PendingPayment(BASE + given["target"], "x-payment", "x", signed_at=value))
        else:
            found = client.buy(given["target"])
        return [found.report.verdict, len(signed), found.report.detail]
    except ClientError as error:
        return [error.code, len(signed), str(error)]
print(json.dumps([bought(given) for given in json.loads(sys.argv[3])]))
`;

interface Scene {
  readonly name: string;
  /** What the buyer comes to: a verdict, or the code of an error. */
  readonly end: string;
  readonly isPaid: boolean;
  readonly answer: string;
  readonly target?: string;
  readonly now?: string;
  readonly offer?: object;
  readonly headers?: object;
  readonly signed_at?: string;
  readonly requests?: readonly string[];
  readonly digest?: string;
}

const RELEASE = { sequence: 1, as_of: '2026-11-20T12:00:00Z', valid_until: '2026-11-21T12:00:00Z' };
const SERIES_TARGET = '/gauge/history-series?entity=07010000&signal_id=hydrology.river-level&days=';
const RESOLVE = '/resolve?cutoff=2026-11-11&entity=0000320193&form=10-K&market_or_event=';
const requests = [RECORD_TARGET, '/gauge?entity=x'];

const text = (body: object): string => JSON.stringify(body);
const whole = proven(answered(record(), ANSWERED));
const basket = (answer: object, total = '0.005') => {
  const parts = [{ request: RECORD_TARGET, price_usd: '0.005', answer }, UNSOLD];
  return text({ endpoint: 'gauge/basket', total_usd: total, parts });
};
const UNSOLD = { request: '/gauge?entity=x', not_sold: 'unknown' };
const quote = {
  release: RELEASE,
  basket: {
    total_usd: '0.005',
    parts: [{ request: RECORD_TARGET, price_usd: '0.005' }, UNSOLD],
  },
};

function scenes(): Scene[] {
  const paid = (name: string, end: string, answer: string, more: Partial<Scene> = {}): Scene => {
    return { name, end, isPaid: true, answer, ...more };
  };
  const refused = (name: string, more: Partial<Scene>): Scene => {
    return { name, end: 'refused', isPaid: false, answer: text(whole), ...more };
  };
  const again = { signed_at: ANSWERED, isPaid: false };
  const inBasket = {
    requests,
    digest: hashText(canonicalJson({ requests })).slice('sha256:'.length),
    offer: quote,
  };
  return [
    paid('a record', 'verified', text(whole)),
    paid('a record of 48 hours ago', 'unverified', text(whole), {
      now: '2026-11-22T12:15:00Z',
      offer: { release: { ...RELEASE, valid_until: null } },
    }),
    paid('a record of six minutes ago', 'unverified', text(whole), { now: '2026-11-20T12:21:00Z' }),
    paid('a record of five minutes ago', 'verified', text(whole), { now: '2026-11-20T12:20:00Z' }),
    paid('a record of six minutes to come', 'unverified', text(whole), {
      now: '2026-11-20T12:09:00Z',
    }),
    paid('the same payment after three days', 'verified', text(whole), {
      ...again,
      now: '2026-11-23T12:15:00Z',
    }),
    paid('what was said before that payment', 'unverified', text(whole), {
      signed_at: '2026-11-20T12:21:00Z',
      isPaid: false,
      now: '2026-11-23T12:15:00Z',
    }),
    paid(
      'a release that is over',
      'unverified',
      text(proven(answered(record(), ANSWERED), { valid_until: '2026-11-20T12:14:59Z' })),
    ),
    paid(
      'a release without an end',
      'verified',
      text(proven(answered(record(), ANSWERED), { valid_until: null })),
    ),
    paid('without its proof', 'unverified', text(changed(whole, ['_proof']))),
    paid('without its proof, as asked', 'verified', text(changed(whole, ['_proof'])), {
      target: `${RECORD_TARGET}&proof=0`,
    }),
    paid(
      'without its words of time',
      'unverified',
      text(changed(whole, ['provenance', 'freshness'])),
    ),
    paid('signed by a stranger', 'unverified', text(proven(answered(record(STRANGER), ANSWERED)))),
    paid('another subject', 'unverified', text(whole), {
      target: '/gauge?entity=07010001&signal_id=hydrology.river-level',
    }),
    paid('a series', 'verified', text(proven(answered(series(2), ANSWERED))), {
      target: `${SERIES_TARGET}2`,
    }),
    paid('a series of other days', 'unverified', text(proven(answered(series(2), ANSWERED))), {
      target: `${SERIES_TARGET}3`,
    }),
    paid('a settlement answer', 'verified', text(proven(echoed(settlement()))), {
      target: `${RESOLVE}a%20market`,
    }),
    paid('the echo of another request', 'unverified', text(proven(echoed(settlement()))), {
      target: `${RESOLVE}another`,
    }),
    paid(
      'a settlement answer of a release that is over',
      'unverified',
      text(proven(echoed(settlement()), { valid_until: '2026-11-20T12:14:59Z' })),
      { target: `${RESOLVE}a%20market` },
    ),
    paid(
      'a settlement answer of a release before that of the offer',
      'unverified',
      text(proven(echoed(settlement()))),
      { target: `${RESOLVE}a%20market`, offer: { release: { ...RELEASE, sequence: 1_000 } } },
    ),
    refused('no release in the offer', { offer: {} }),
    refused('a release that is over', {
      offer: { release: { ...RELEASE, valid_until: '2026-11-20T12:14:59Z' } },
    }),
    refused('a release still to come', {
      offer: { release: { ...RELEASE, as_of: '2026-11-20T12:20:01Z' } },
    }),
    refused('a release of no number', { offer: { release: { ...RELEASE, sequence: 0 } } }),
    refused('no date', { headers: {} }),
    refused('a clock five minutes off', { headers: { date: 'Fri, 20 Nov 2026 12:10:00 GMT' } }),
    refused('a date that is none', { headers: { date: 'today' } }),
    paid('a basket', 'verified', basket(whole), inBasket),
    paid('a basket with another sum', 'unverified', basket(whole, '0.01'), inBasket),
    paid(
      'a basket with a forged part',
      'unverified',
      basket(changed(whole, ['current', 'stage_ft'], 1)),
      inBasket,
    ),
    paid(
      'a basket with the answer to another request',
      'unverified',
      basket(proven(answered(record(FIRST, '/gauge?entity=y'), ANSWERED))),
      inBasket,
    ),
  ];
}

describe.skipIf(!hasPython)('the client in Python (skipped without python3)', () => {
  it('I62: pays for what it asked for, of now, and by the offer of a release that counts', async () => {
    const all = scenes();
    const given = all.map(({ name: _, end: _end, isPaid: _isPaid, ...scene }) => {
      const { now = ANSWERED } = scene;
      const headers = { date: new Date(now).toUTCString() };
      return { target: RECORD_TARGET, offer: { release: RELEASE }, headers, now, ...scene };
    });
    const found = await printedBy(PROGRAM, [BASE, FIRST.did, JSON.stringify(given)]);
    const ends = (found as [string, number, string][]).map(([end, signed, words], at) => {
      return [all[at]?.name, end, signed > 0, words];
    });
    const wanted = all.map(({ name, end, isPaid }) => [name, end, isPaid, expect.any(String)]);
    expect(ends).toEqual(wanted);
    const again = ends.find(([name]) => name === 'the same payment after three days');
    expect(again?.[3]).toMatch('said fresh at 2026-11-20T12:15:00Z, 72.0 hours ago by your clock');
  });
});
