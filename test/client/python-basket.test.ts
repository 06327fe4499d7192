import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canSign, OTHER_DID, type PythonGate, pythonGate } from './python-gate.ts';

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
  ["answer" in part for part in bought.body["parts"]], again.text == bought.text, c.verify(bought.text).verdict,
  c.verify(bought.text.replace("11.2", "11.3")).verdict, client(issuer="${OTHER_DID}").verify(bought.text).verdict])`);
      expect(made).toEqual([
        ...['0.02', ['0.01', null, '0.01'], 'verified', '0.02'],
        ...[[true, false, true], true, 'verified', 'failed', 'failed'],
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
show([[fault(lambda: buy(lie)) for lie in lies], fault(lambda: buy(bare, demands_proof=True)), fault(lambda: unquoted(lambda body: body)),
  buy(lambda body: body, demands_proof=True).report.verdict, buy(bare).report.verdict])`);
      const [lies, bareFault, unquoted, ...honest] = made as [
        string[][],
        string[],
        string[],
        string,
      ];
      expect(lies.map(([code]) => code)).toEqual(Array(8).fill('unverified'));
      const words = lies.map(([, text]) => text);
      expect(words[0]).toContain('part 1 is not what request 1 asked for');
      expect(words[1]).toContain('1 parts for 2 requests');
      expect(words[2]).toContain('part 2 is not what was quoted for request 2');
      expect(words[3]).toContain('part 1 is not what was quoted for request 1');
      expect(words[4]).toContain('total_usd: not the sum of the prices');
      expect(words[5]).toContain('not that of a basket');
      expect(words[6]).toContain('parts.1: _citation.source.content_hash');
      expect(words[7]).toContain('parts.0: request: the body answers');
      expect(bareFault[1]).toContain('no proof that it is in the log came with it');
      expect(unquoted[1]).toContain('not quoted');
      expect(honest).toEqual(['verified', 'verified']);
    });
  },
);
