import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canSign, type PythonGate, pythonGate } from './python-gate.ts';

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
