import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import {
  ANSWERED,
  answered,
  BASE,
  echoed,
  FIRST,
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
print(json.dumps([bought(given) for given in json.load(open(sys.argv[3]))] if len(sys.argv) > 3 else [bought(given) for given in json.load(sys.stdin)]))
`;
