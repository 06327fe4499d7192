import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERIES_DAYS_DEFAULT } from '../../../../compiler/products/series.ts';
import { NETWORKS, type Network } from '../../../../gatekeeper/settle/networks.ts';
import {
  canSign,
  OTHER_DID,
  PYTHON,
  type PythonGate,
  printedBy,
  pythonGate,
} from '../../../client/python-gate.ts';
import { SOLD_TARGETS, soldShop } from '../../../gate.ts';
import { typedTransfer } from '../../../gatekeeper/payer.ts';
import { hasPython } from '../../../verify/python-judge.ts';

let gate: PythonGate;
const python = (code: string): Promise<unknown> => gate.python(code);

describe.skipIf(!canSign)('signalpress_client.py (skipped without python3-cryptography)', () => {
  beforeAll(async () => {
    gate = await pythonGate();
  });
  afterAll(() => gate.close());
  beforeEach(() => gate.transactions.clear());

  it('searches, quotes, and reads what is free, without a wallet', async () => {
    const made = await python(`
c = client(wallet=None)
show([len(c.search("air quality in Denver", 2)), c.search("xyzzyqq"), c.quote("/gauge", PAIR).price_usd,
  c.get("/gauge/coverage", dict(PAIR, summary=1))["signals"][0]["signal_id"],
  code(lambda: c.quote("/gauge", dict(PAIR, entity="x"))), code(lambda: c.get("/gauge/nothing"))])`);
    expect(made).toEqual([2, [], '0.01', 'airquality.aqi', 'not_charged', 'not_charged']);
    expect(gate.transactions.size).toBe(0);
  });

  it('buys once, verified, and redelivers the same bytes at no charge', async () => {
    const made = await python(`
seen = []
c = client(on_signed=seen.append)
one = c.buy("/gauge", PAIR)
again = client(wallet=None).redeliver(list(seen[0]))
show([one.report.verdict, one.body["entity"], one.receipt["success"], again.text == one.text,
  c.verify(one.text).verdict, c.verify(one.text.replace("us-denver", "us-boston")).verdict,
  client(issuer="${OTHER_DID}").verify(one.text).verdict])`);
    expect(made).toEqual(['verified', 'us-denver', true, true, 'verified', 'failed', 'failed']);
    expect(gate.transactions.size).toBe(1);
  });

  it('makes the fact of a record that it bought and verified, and none of an altered one', async () => {
    const made = await python(`
def altered(url, headers, timeout):
    answer = http(url, headers, timeout)
    return answer._replace(data=answer.data.replace(b'"aqi_index":', b'"aqi_index":1')) if "x-payment" in headers else answer
fact, paid_usd, bought = client().fact(PAIR)
served = http_get(URL + "/gauge?entity=us-denver&signal_id=airquality.aqi&format=fact", {"x-payment": bought.payment.value,
  "payment-identifier": bought.payment.identifier}, 10)
show([paid_usd, bought.report.verdict, fact == json.loads(served.data), code(lambda: client(get=altered).fact(PAIR)),
  code(lambda: client().buy("/gauge", dict(PAIR, format="fact"))), len(set(sent))])`);
    expect(made).toEqual(['0.01', 'verified', true, 'unverified', 'refused', 2]);
  });

  it('sends the very same payment again after lost answers, 503 and 429, and is charged once', async () => {
    const made = await python(`
turn = []
def faulty(url, headers, timeout):
    answer = http(url, headers, timeout)
    if "x-payment" not in headers: return answer
    turn.append(1)
    if len(turn) == 1: raise ConnectionResetError()
    if len(turn) == 2: raise module.http.client.IncompleteRead(b"")
    if len(turn) == 3: return Answer(503, {"retry-after": "3"}, b"{}")
    if len(turn) == 4: return Answer(429, {"retry-after": "x"}, b"{}")
    return answer
bought = client(get=faulty).buy("/gauge", PAIR)
show([bought.report.verdict, len(sent), len(set(sent)), waits])`);
    expect(made).toEqual(['verified', 5, 1, [0.5, 1, 3, 4]]);
    expect(gate.transactions.size).toBe(1);
  });

  it('gives up with the payment, and another program redeems it', async () => {
    const made = await python(`
def lost(url, headers, timeout):
    answer = http(url, headers, timeout)
    if "x-payment" in headers: raise TimeoutError()
    return answer
try:
    client(get=lost).buy("/gauge", PAIR)
except ClientError as error:
    kept = error
show([kept.code, len(set(sent)), client().redeliver(kept.payment).report.verdict])`);
    expect(made).toEqual(['unsettled', 1, 'verified']);
    expect(gate.transactions.size).toBe(1);
  });

  it('signs nothing above the cap, elsewhere, for another token, or for another request', async () => {
    const made = await python(`
def changed(**members):
    def get(url, headers, timeout):
        answer = http(url, headers, timeout)
        if answer.status != 402: return answer
        body = json.loads(answer.data)
        for entry in body["accepts"]: entry.update(members)
        return answer._replace(data=json.dumps(body).encode())
    return get
def buy(**more): return code(lambda: client(**more).buy("/gauge", PAIR))
show([buy(max_usd="0.009999"), buy(max_usd="0.01"), buy(networks=["base"]), buy(networks=["base-sepolia"]),
  buy(get=changed(asset="0x" + "2" * 40)), buy(get=changed(network="base")), buy(get=changed(scheme="upto")),
  buy(get=changed(maxAmountRequired="100001")), buy(get=changed(maxAmountRequired="-1")),
  buy(get=changed(resource=URL + "/gauge?entity=us-boston&signal_id=airquality.aqi")),
  buy(get=changed(maxTimeoutSeconds=10**6)), buy(get=changed(payTo="me")), len(sent)])`);
    const [cheap, dear] = ['too_expensive', 'no error'];
    expect(made).toEqual([
      cheap,
      dear,
      'refused',
      dear,
      'refused',
      'refused',
      'refused',
      cheap,
      'failed',
      'refused',
      'refused',
      'refused',
      2,
    ]);
    expect(gate.transactions.size).toBe(2);
  });

  it('relies on no body that is altered, of another issuer, or of another request', async () => {
    const made = await python(`
def delivering(change):
    def get(url, headers, timeout):
        answer = http(url, headers, timeout)
        return answer._replace(data=change(answer.data)) if "x-payment" in headers else answer
    return get
def buy(change, path="/gauge", params=PAIR, **more):
    return code(lambda: client(get=delivering(change), **more).buy(path, params, max_usd="20"))
record = client().buy("/gauge", PAIR).text.encode()
thin = client().buy("/gauge", dict(PAIR, format="thin")).text.encode()
table = lambda format, days: client().buy(module.SERIES, dict(PAIR, format=format, days=days), "1").text.encode()
signed, bare, week = table("csv-signed", 7), table("csv", 7), client().buy(module.SERIES, SERIES, "1").text.encode()
csv = dict(SERIES, format="csv-signed")
same = lambda data: data
show([buy(same), buy(lambda data: data.replace(b'"aqi_index":', b'"aqi_index":1')), buy(same, issuer="${OTHER_DID}"),
  buy(lambda data: thin), buy(lambda data: week), buy(lambda data: b"{}"), buy(lambda data: b"[1]"),
  buy(lambda data: b"\\xff"), buy(same, module.SERIES, SERIES), buy(lambda data: week, module.SERIES, dict(PAIR)),
  buy(lambda data: signed, module.SERIES, SERIES), buy(same, module.SERIES, csv),
  buy(lambda data: bare, module.SERIES, csv), buy(lambda data: week, module.SERIES, csv),
  buy(lambda data: signed.replace(b'aqi_index"":', b'aqi_index"":1'), module.SERIES, csv),
  buy(same, "/gauge/subscribe", None), buy(lambda data: record, "/gauge/subscribe", None)])`);
    const [good, bad] = ['no error', 'unverified'];
    expect(made).toEqual([
      ...[good, bad, bad],
      ...[bad, bad, bad, bad],
      ...[bad, good, bad],
      ...[bad, good, bad, bad, bad],
      ...[good, bad],
    ]);
  });

  it('judges the proof of the log that comes with a body, and takes none without it but where it asked for that', async () => {
    const made = await python(`
import re
def changed(pattern, by):
    def get(url, headers, timeout):
        answer = http(url, headers, timeout)
        return answer._replace(data=re.sub(pattern, by, answer.data)) if answer.status == 200 else answer
    return get
bare, forged = changed(rb'"_proof":"[^"]*",', b""), changed(rb"index (\\d)", rb"index 1\\1")
def words(get, asked=PAIR):
    try: return client(get=get).buy("/gauge", asked).report.verdict
    except ClientError as error: return str(error)
show([words(http), words(http, dict(PAIR, proof=0)), words(bare), words(forged)])`);
    const [whole, without, bare, forged] = made as string[];
    expect([whole, without]).toEqual(['verified', 'verified']);
    expect(bare).toContain('proof');
    expect(forged).toContain('the entry is not in the log');
  });

  it('watches: each reading once, again when its hash changes, through four failures', async () => {
    const made = await python(`
turn = []
def get(url, headers, timeout):
    turn.append(1)
    if len(turn) in (2, 3, 4, 5): return Answer(503, {}, b"{}")
    answer = http(url, headers, timeout)
    body = json.loads(answer.data)
    if len(turn) == 7:
        for row in body["items"][0]["rows"]: row["record_hash"] = "sha256:" + "1" * 64
    return answer._replace(data=json.dumps(body).encode())
watched = client(get=get).watch(["environment:us-denver"], TOKEN)
first = next(watched)
rows = [first]
while len(turn) < 7: rows.append(next(watched))
down = client(get=lambda *args: Answer(503, {}, b"{}")).watch(["environment:us-denver"], TOKEN)
def short():
    try: client().watch([], TOKEN, 0.5)
    except ValueError as error: return str(error)
show([first[0], first[1]["entity"], rows[-1][1]["record_hash"][-4:], code(lambda: next(down)),
  code(lambda: next(client().watch(["environment:us-denver"], "no"))), short()])`);
    expect(made).toEqual([
      'environment:us-denver',
      'us-denver',
      '1111',
      'failed',
      'not_charged',
      'Cannot watch every 0.5 s: at least 1',
    ]);
  });

  it('refuses what it is given wrongly, before anything is asked', async () => {
    const made = await python(`
def fault(work):
    try: work()
    except ValueError as error: return str(error)[:24]
show([fault(lambda: client(issuer="did:web:x")), fault(lambda: client(networks=["moon"])),
  fault(lambda: client(max_usd=0.1)), fault(lambda: client(max_usd="0.0000001")), fault(lambda: KeyWallet("12")),
  fault(lambda: client(wallet=None).buy("/gauge", PAIR)), fault(lambda: client().redeliver(("http://x/", "a", "b")))])`);
    expect(made).toEqual([
      'Cannot make a client: is',
      "Cannot pay on 'moon': kn",
      'Cannot use 0.1 as a pric',
      "Cannot use '0.0000001' a",
      'Cannot make a wallet: th',
      'Cannot buy: the client h',
      "Cannot redeliver 'http:/",
    ]);
  });

  it('knows the networks of the gatekeeper, and its default look-back', async () => {
    const { networks, days } = (await python(
      'show({"networks": module.NETWORKS, "days": signalpress_verify.SERIES_DAYS_DEFAULT})',
    )) as { networks: Record<string, unknown>; days: number };
    expect(days).toBe(SERIES_DAYS_DEFAULT);
    expect(Object.keys(networks)).toEqual(['base', 'base-sepolia', 'polygon', 'avalanche']);
    for (const [name, facts] of Object.entries(networks)) {
      const { chainId, asset, extra } = NETWORKS[name as Network['name']];
      expect([name, facts]).toEqual([name, [chainId, asset, extra.name, extra.version]]);
    }
  });

  it('signs what a wallet of the field signs', async () => {
    const key = `0x${'11'.repeat(32)}` as const;
    const account = privateKeyToAccount(key);
    const authorization = {
      from: account.address,
      to: `0x${'3'.repeat(40)}`,
      value: '10000',
      validAfter: '1',
      validBefore: '2000000000',
      nonce: `0x${'05'.repeat(32)}`,
    } as const;
    const { hashTypedData, recoverTypedDataAddress } = await import('viem');
    const typed = typedTransfer(NETWORKS.base, authorization);
    const made = (await python(`
import key_wallet
chain, asset, name, version = module.NETWORKS["base"]
domain = {"name": name, "version": version, "chainId": chain, "verifyingContract": asset}
wallet = KeyWallet("${key}")
message = {"from": wallet.address, "to": "0x" + "3" * 40, "value": 10000, "validAfter": 1, "validBefore": 2000000000,
  "nonce": b"\\x05" * 32}
signatures = [wallet.sign_typed_data(domain, module.TYPES, message).signature.hex() for _ in range(8)]
show({"address": wallet.address, "digest": key_wallet.transfer_digest(domain, message).hex(), "signatures": signatures})`)) as {
      address: string;
      digest: string;
      signatures: string[];
    };
    expect(made.address).toBe(account.address);
    expect(`0x${made.digest}`).toBe(hashTypedData(typed));
    for (const text of made.signatures) {
      expect(await recoverTypedDataAddress({ ...typed, signature: `0x${text}` })).toBe(
        made.address,
      );
      expect(BigInt(`0x${text.slice(64, 128)}`)).toBeLessThan(2n ** 255n);
    }
  });

  it('is a tool of LangChain in ten lines', async () => {
    const text = readFileSync(join(PYTHON, 'README.md'), 'utf8');
    const [, example = ''] = /## A tool for LangChain\n\n```python\n([\s\S]*?)```/.exec(text) ?? [];
    expect(
      example
        .trim()
        .split('\n')
        .filter((line) => line !== ''),
    ).toHaveLength(8);
    const made = (await python(`
import inspect, types
def tool(function):
    "What langchain_core.tools.tool makes of a function, as far as an agent sees it."
    names = list(inspect.signature(function).parameters)
    return types.SimpleNamespace(name=function.__name__, description=function.__doc__, args=names,
      invoke=lambda given: function(**given))
sys.modules["langchain_core"] = types.ModuleType("langchain_core")
sys.modules["langchain_core.tools"] = types.SimpleNamespace(tool=tool)
client = client()
${example}
show([official_record.name, official_record.args, client.verify(official_record.invoke(PAIR)).verdict,
  official_record.invoke(dict(PAIR, entity="x"))])`)) as unknown[];
    expect(made.slice(0, 3)).toEqual(['official_record', ['signal_id', 'entity'], 'verified']);
    expect(made[3]).toMatch(/^Not bought \(not_charged\): Not charged\. Try GET /);
  });
});

describe.skipIf(!hasPython)('judged_body() (skipped without python3)', () => {
  it('accepts each operation for its own request, and none for that of another', async () => {
    const shop = await soldShop();
    const sold = await Promise.all(
      SOLD_TARGETS.map(async (target) => [target, (await shop.ask(target)).toString()]),
    );
    const file = join(mkdtempSync(join(tmpdir(), 'signalpress-sold-')), 'sold.json');
    writeFileSync(file, JSON.stringify({ sold, did: shop.did, now: Date.parse(shop.now) }));
    const program = `
import json, sys
sys.dont_write_bytecode = True
from signalpress_answers import SUBSCRIBE, PendingPayment, judged_body
from signalpress_verify import Reader
given = json.load(open(sys.argv[1], encoding="utf-8"))
reader = Reader([given["did"]], given["now"])
payment = PendingPayment("", "x-payment", "e30=")
rows, off = [(target, text.encode("utf-8")) for target, text in given["sold"]], []
def fault(asked, data):
    asked += ("&" if "?" in asked else "?") + "proof=0"
    return judged_body(asked, data, payment, reader)[2]
for at, (own, data) in enumerate(rows):
    if fault(own, data) is not None: off.append(["refused", own, fault(own, data)])
    path, _, query = own.partition("?")
    for asked in rows[at - 1][0], rows[at - 2][0], path + "?" + query.replace("entity=", "entity=another"), path + "x?" + query:
        if asked.rstrip("?") == own or asked.partition("?")[0] == path == SUBSCRIBE: continue
        if fault(asked, data) is None: off.append(["accepted", asked, own])
print(json.dumps([len(rows), off]))`;
    expect(await printedBy(program, [file])).toEqual([SOLD_TARGETS.length, []]);
  });
});

describe('python basket', () => {
  let gate: PythonGate;
  const python = (code: string): Promise<unknown> => gate.python(code);

  describe.skipIf(!canSign)(
    'buy_basket() of signalpress_client.py (skipped without python3-cryptography)',
    () => {
      beforeAll(async () => {
        gate = await pythonGate();
      });
      afterAll(() => gate.close());
      beforeEach(() => gate.transactions.clear());

      const BASKET = `
AQI, PM25, NONE = ["/gauge?entity=us-denver&signal_id=airquality." + name for name in ("aqi", "pm25", "ozone")]
BOTH = [AQI, PM25]
def delivering(change):
    def get(url, headers, timeout, *body):
        answer = http(url, headers, timeout, *body)
        if "x-payment" not in headers: return answer
        return answer._replace(data=json.dumps(change(json.loads(answer.data))).encode())
    return get
def buy(change, requests=BOTH, **more): return client(get=delivering(change), **more).buy_basket(requests)
def fault(work):
    try: work()
    except (ClientError, ValueError) as error: return [getattr(error, "code", None), str(error)]
`;

      it('quotes, buys with one payment, verified, and redelivers the same bytes', async () => {
        const made = await python(`${BASKET}
seen = []
c = client(on_signed=seen.append)
quote = c.quote_basket([AQI, NONE, PM25])
bought = c.buy_basket([AQI, NONE, PM25])
again = client(wallet=None).redeliver(json.loads(json.dumps(seen[0])))
show([quote.price_usd, [part.get("price_usd") for part in quote.parts], bought.report.verdict, bought.body["total_usd"],
  ["answer" in part for part in bought.body["parts"]], again.text == bought.text, c.verify(bought.text).verdict])`);
        expect(made).toEqual([
          ...['0.02', ['0.01', null, '0.01'], 'verified', '0.02'],
          ...[[true, false, true], true, 'unsigned'],
        ]);
        expect(gate.transactions.size).toBe(1);
      });

      it('signs nothing above its cap, where nothing is sold, and where the 402 names no prices', async () => {
        const made = await python(`${BASKET}
def unquoted(url, headers, timeout, *body):
    answer = http(url, headers, timeout, *body)
    given = json.loads(answer.data)
    del given["basket"]["parts"][0]["price_usd"]
    return answer._replace(data=json.dumps(given).encode())
def elsewhere(url, headers, timeout, body): return http(url, headers, timeout, body.replace(b"aqi", b"pm25"))
show([code(lambda: client().buy_basket(BOTH, max_usd="0.01")), code(lambda: client().buy_basket([NONE])),
  code(lambda: client(get=unquoted).buy_basket(BOTH)), code(lambda: client(get=elsewhere).buy_basket([AQI])),
  fault(lambda: client().buy_basket([]))[1][:34], fault(lambda: client().buy_basket([AQI] * 31))[1][:34],
  code(lambda: client().buy_basket(BOTH)), len(sent)])`);
        const none = 'Cannot ask for this basket: pass 1';
        expect(made).toEqual([
          ...['too_expensive', 'not_charged', 'refused', 'refused', none, none],
          ...['no error', 1],
        ]);
      });

      it('relies on no basket that is not the one which was asked for and quoted', async () => {
        const made = await python(`${BASKET}
def kept_back(body): return dict(body, total_usd="0.01", parts=[body["parts"][0], {"request": PM25, "not_sold": "none"}])
def dear(body): return dict(kept_back(body), total_usd="0.02", parts=[dict(body["parts"][0], price_usd="0.02")] + kept_back(body)["parts"][1:])
def edited(body):
    body["parts"][1]["answer"]["entity_name"] = "Boston"
    return body
def swapped(body):
    one, other = body["parts"]
    return dict(body, parts=[dict(one, answer=other["answer"]), dict(other, answer=one["answer"])])
def bare(body):
    del body["parts"][1]["answer"]["_proof"]
    return body
honest = client().buy_basket(BOTH)
def unquoted(change): return client(get=delivering(change)).redeliver(honest.payment._replace(quoted=None))
lies = [lambda body: dict(body, parts=body["parts"][::-1]), lambda body: dict(body, parts=body["parts"][:1], total_usd="0.01"),
  kept_back, dear, lambda body: dict(body, total_usd="0.01"), lambda body: body["parts"][0]["answer"], edited, swapped]
show([[fault(lambda: buy(lie)) for lie in lies], fault(lambda: buy(bare)), fault(lambda: unquoted(lambda body: body)),
  buy(lambda body: body).report.verdict])`);
        const [lies, bareFault, unquoted, ...honest] = made as [
          string[][],
          string[],
          string[],
          string,
        ];
        expect(lies.map(([code]) => code)).toEqual(Array(8).fill('unverified'));
        const words = lies.map(([, text]) => text);
        expect(words[0]).toContain('part 1 is not what was quoted for request 1');
        expect(words[1]).toContain('not the basket that was asked for');
        expect(words[2]).toContain('part 2 is not what was quoted for request 2');
        expect(words[3]).toContain('part 1 is not what was quoted for request 1');
        expect(words[4]).toContain('the parts cost 0.02 USD, not what was paid or is stated');
        expect(words[5]).toContain('not the basket that was asked for');
        expect(words[6]).toContain('part 2: _citation.source.content_hash');
        expect(words[7]).toContain('part 1: the body answers');
        expect(bareFault[1]).toContain('proof');
        expect(unquoted[1]).toContain('not quoted');
        expect(honest).toEqual(['verified']);
      });
    },
  );
});

describe('python http', () => {
  let gate: PythonGate;
  const python = (code: string): Promise<unknown> => gate.python(code);

  describe.skipIf(!canSign)('signalpress_http.py (skipped without python3-cryptography)', () => {
    beforeAll(async () => {
      gate = await pythonGate();
    });
    afterAll(() => gate.close());

    it('follows no redirect', async () => {
      const made = await python(`
import threading, http.server
class Moved(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(308)
        self.send_header("location", URL + self.path)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *args): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Moved)
threading.Thread(target=server.serve_forever, daemon=True).start()
away = SignalpressClient("http://127.0.0.1:%d" % server.server_port, DID, wallet=KeyWallet("11" * 32))
show([code(lambda: away.buy("/gauge", PAIR)), code(lambda: away.get("/gauge/preview"))])`);
      expect(made).toEqual(['not_charged', 'not_charged']);
    });

    it('is not held by a service that sends a byte at a time', async () => {
      const made = await python(`
import itertools, socket, threading
def serve(pieces):
    door = socket.create_server(("127.0.0.1", 0))
    def answer(peer):
        try:
            peer.recv(65536)
            for piece in pieces():
                peer.sendall(piece)
                time.sleep(0.02)
        except OSError: pass
        peer.close()
    def accept():
        while True: threading.Thread(target=answer, args=(door.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return "http://127.0.0.1:%d" % door.getsockname()[1]
def at(root, timeout): return SignalpressClient(root, DID, timeout_s=timeout, wait=waits.append)
def endless(*head): return lambda: itertools.chain(head, itertools.repeat(b"1"))
HEAD = b"HTTP/1.1 200 OK\\r\\nconnection: close\\r\\n"
body, headers = serve(endless(HEAD + b"\\r\\n")), serve(endless(HEAD + b"a: "))
chunks = serve(lambda: itertools.chain([HEAD + b"transfer-encoding: chunked\\r\\n\\r\\n"], itertools.repeat(b"1\\r\\n1\\r\\n")))
slow = serve(lambda: [HEAD + b"content-length: 8\\r\\n\\r\\n"] + [b"1"] * 8)
def payment(root): return PendingPayment(root + "/gauge", "x-payment", "e30=")
show([code(lambda: at(root, 0.4).get("/gauge/preview")) for root in (body, headers, chunks)]
  + [code(lambda: at(body, 0.2).redeliver(payment(body))), len(waits), at(slow, 60).get("/gauge/preview")])`);
      expect(made).toEqual(['failed', 'failed', 'failed', 'unsettled', 5, 11111111]);
    });

    it('keeps the payment where the answer to it has headers that nobody can read', async () => {
      const made = await python(`
import threading, http.server
from urllib.parse import urlsplit
asked = json.loads(http_get(URL + "/gauge?entity=us-denver&signal_id=airquality.aqi", {}, 9).data)
class Odd(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        paid = self.headers.get("x-payment") is not None
        body = json.dumps(asked).encode()
        self.send_response(302 if paid and self.server.odd == "location" else 200 if paid else 402)
        if paid and self.server.odd == "location": self.send_header("location", "http://[bad")
        self.send_header("content-length", "abc" if paid and self.server.odd == "length" else str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
def shop(odd):
    server = http.server.HTTPServer(("127.0.0.1", 0), Odd)
    server.odd = odd
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return SignalpressClient("http://127.0.0.1:%d" % server.server_port, DID, wallet=KeyWallet("11" * 32),
                             wait=waits.append)
def kept(odd):
    try: shop(odd).buy("/gauge", PAIR)
    except ClientError as error: return [error.code, error.payment is not None]
show([kept("location"), kept("length"), kept("none"), len(waits)])`);
      const unsettled = ['unsettled', true];
      expect(made).toEqual([unsettled, unsettled, ['unverified', true], 10]);
    });
  });
});
