import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { localFacilitator } from '../../gatekeeper/facilitator/local-facilitator.ts';
import type { Facilitator } from '../../gatekeeper/money/facilitator.ts';
import { NOW_MS, NOW_S } from '../gatekeeper/payer.ts';
import { sampleGate, sampleToken } from '../sample-gate.ts';
import { smallRelease } from '../verify/small-release.ts';

// The client in Python buys from a gatekeeper that runs here.

export const PYTHON = join(import.meta.dirname, '../../compiler/client/python');
export const canSign = spawnSync('python3', ['-c', 'import cryptography']).status === 0;
export const OTHER_DID = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';

const PRELUDE = `
import base64, http.client, json, sys
sys.dont_write_bytecode = True
import signalpress_client as module, verify_demands
from signalpress_client import *
from signalpress_http import Answer, http_get
from key_wallet import KeyWallet
URL, DID, NOW, TOKEN = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
PAIR = {"signal_id": "airquality.aqi", "entity": "us-denver"}
SERIES = dict(PAIR, days=7)
waits, sent = [], []
def http(url, headers, timeout, *body):
    if "x-payment" in headers: sent.append(headers["x-payment"])
    return http_get(url, headers, timeout, *body)
def client(**more):
    given = dict(wallet=KeyWallet("11" * 32), clock=lambda: NOW, wait=waits.append, get=http)
    given.update(more)
    return SignalpressClient(URL, more.pop("issuer", DID), **{k: v for k, v in given.items() if k != "issuer"})
def code(work):
    try: work()
    except ClientError as error: return error.code
    return "no error"
def show(value): print(json.dumps(value))
`;

/** A gatekeeper that programs in Python buy from. */
export interface PythonGate {
  /** Of what was settled; a test empties it. */
  readonly transactions: Set<string>;
  /** What a program prints behind the prelude, as JSON. */
  python(code: string): Promise<unknown>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const env = { ...process.env, PYTHONPATH: PYTHON };

/** What a program prints, as JSON; it finds the client where it imports it. */
export async function printedBy(code: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run('python3', ['-c', code, ...args], { env });
  return JSON.parse(stdout);
}

export async function pythonGate(): Promise<PythonGate> {
  const transactions = new Set<string>();
  const release = await smallRelease();
  const state = mkdtempSync(join(tmpdir(), 'signalpress-python-'));
  const facilitator = counting(transactions);
  const more = { tokens: true, receipts: false, state, facilitator };
  const gate = await sampleGate(release.data, more);
  const args = [gate.url, release.did, String(NOW_S), sampleToken()];
  return {
    transactions,
    python: (code) => printedBy(PRELUDE + code, args),
    async close() {
      await gate.close();
      release.dispose();
    },
  };
}

/** Settles like the local one, and counts charges rather than calls. */
function counting(transactions: Set<string>): Facilitator {
  const real = localFacilitator({ clock: () => NOW_MS });
  return {
    ...real,
    async settle(request) {
      const outcome = await real.settle(request);
      if (outcome.verdict === 'settled') transactions.add(outcome.transaction);
      return outcome;
    },
  };
}
