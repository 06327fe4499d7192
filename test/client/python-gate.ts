import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PayingFetch } from '../../compiler/client/payment-trip.ts';
import { localFacilitator } from '../../gatekeeper/settle/facilitator/local-facilitator.ts';
import type { Facilitator } from '../../gatekeeper/settle/facilitator.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import type { RequirementsV1 } from '../../gatekeeper/settle/payment.ts';
import type { Gatekeeper } from '../../gatekeeper/start.ts';
import { sampleGate, sampleToken } from '../gate.ts';
import { NOW_MS, payer, windowAt } from '../gatekeeper/payer.ts';
import { BASE_URL, smallShop } from '../shop.ts';

// The client in Python buys from a gatekeeper that runs here.

export const PYTHON = join(import.meta.dirname, '../../compiler/client/python');
export const canSign = spawnSync('python3', ['-c', 'import cryptography']).status === 0;
export const OTHER_DID = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';

const PRELUDE = `
import base64, http.client, json, sys
sys.dont_write_bytecode = True
import signalpress_client as module, signalpress_verify
from signalpress_client import *
from signalpress_http import Answer, http_get
from key_wallet import KeyWallet
URL, DID, NOW, TOKEN = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
PUBLIC = "${BASE_URL}"
PAIR = {"signal_id": "airquality.aqi", "entity": "us-denver"}
SERIES = dict(PAIR, days=7)
waits, sent = [], []
def http(url, headers, timeout, *body):
    if "x-payment" in headers: sent.append(headers["x-payment"])
    return http_get(url, headers, timeout, *body)
def at(address):
    def get(url, headers, timeout, *body):
        gate = module.urllib.parse.urlsplit(URL)
        peer = module.http.client.HTTPConnection(gate.hostname, gate.port, timeout, (address, 0))
        peer.request("POST" if body else "GET", url[len(PUBLIC):], *(body or (None,)), headers=headers)
        answer = peer.getresponse()
        return Answer(answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read())
    return get
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
  readonly gate: Gatekeeper;
  /** The did:key of its issuer. */
  readonly did: string;
  /** Of what was settled; a test empties it. */
  readonly transactions: Set<string>;
  /** Its clock, and that of its buyers. */
  nowMs: number;
  /** What a program prints behind the prelude, as JSON. */
  python(code: string): Promise<unknown>;
  /** Goes on from what was written down, at another port. */
  restart(): Promise<void>;
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
  const release = await smallShop();
  const { did } = release;
  const state = mkdtempSync(join(tmpdir(), 'signalpress-python-'));
  const time = { nowMs: NOW_MS };
  const clock = (): number => time.nowMs;
  const facilitator = counting(transactions);
  const start = () => sampleGate(release.data, { settings: { state }, facilitator, clock });
  const own = Object.assign(time, {
    ...{ did, transactions, gate: await start() },
    python(code: string) {
      const nowS = String(Math.floor(time.nowMs / 1000));
      return printedBy(PRELUDE + code, [own.gate.url, did, nowS, sampleToken()]);
    },
    async restart() {
      await own.gate.close();
      own.gate = await start();
    },
    async close() {
      await own.gate.close();
      release.dispose();
    },
  });
  return own;
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

/** A wallet as the published wrappers are: asks, signs what is asked for, sends it with the payment. */
export function payingAt(clock: () => number): PayingFetch {
  return (inner) => async (input, init) => {
    const asked = await inner(input, init);
    if (asked.status !== 402) return asked;
    const { accepts } = (await asked.json()) as { accepts: [RequirementsV1] };
    const header = await payer(NETWORKS['base-sepolia']).header(accepts[0], windowAt(clock()));
    return inner(input, { ...init, headers: { 'X-PAYMENT': header } });
  };
}

export const payingFetch = payingAt(() => NOW_MS);
