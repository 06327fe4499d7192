"""Searches, quotes, buys, redelivers, verifies and watches: the calls of `signalpress/client`, in Python.

It needs the standard library alone, `verify_record.py` beside it, and to buy a wallet: an account of eth_account, or
`key_wallet.KeyWallet`. It signs nothing above the cap, for another token than USDC or on a network that it was not given.
What it returns was judged offline by verify_record.py for the issuer that you trust, and answers what was asked for.

A payment that may have moved money is sent again as it is, never signed anew.
"""

import base64
import decimal
import http.client
import io
import json
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import NamedTuple, Optional

import verify_record

MAX_USD = "0.10"
ANSWER_TIMEOUT_S = 90
ANSWER_BYTES_MAX = 67108864
# How often the same payment is sent again, and the longest wait in between.
REDELIVERIES_MAX = 5
WAIT_S_MAX = 10
WAIT_S = 0.5
WATCH_S = 60
WATCH_S_MIN = 1
FAILURES_MAX = 5
# A clock that is behind by this much still signs what is valid now.
CLOCK_ALLOWANCE_S = 600
WINDOW_S_MAX = 3600
SERIES = "/gauge/history-series"
SERIES_DAYS_DEFAULT = 400
SUBSCRIBE = "/gauge/subscribe"
TOKEN_MEMBERS = {"token", "plan", "expires_at", "days"}
SETTLEMENTS = {"/resolve": "candidate_sources", "/resolve/proposer": "evidence"}
ECHOED = ("entity", "form", "cutoff", "event_class", "source_class", "market_or_event")

# USDC by its network: chain, contract, and name and version of its EIP-712 domain. Only of a token that is worth a dollar
# does a price in USD bound what a service may ask for, so nothing of this is taken from the service.
NETWORKS = {
    "base": (8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2"),
    "base-sepolia": (84532, "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2"),
    "polygon": (137, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin", "2"),
    "avalanche": (43114, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USD Coin", "2"),
}
TRANSFER = "TransferWithAuthorization"
TYPES = {TRANSFER: [{"name": name, "type": kind} for name, kind in (
    ("from", "address"), ("to", "address"), ("value", "uint256"), ("validAfter", "uint256"),
    ("validBefore", "uint256"), ("nonce", "bytes32"))]}


class PendingPayment(NamedTuple):
    """A signed payment and what it was signed for: sent again it delivers the same bytes and costs nothing more."""
    url: str
    header: str
    value: str


class Verification(NamedTuple):
    """`verified`, `failed`, `unsigned` or `issuer_unknown`, and why."""
    verdict: str
    detail: str


class Quote(NamedTuple):
    """A price question that was answered: the lowest price in decimal USD, and all ways to pay of x402 version 1."""
    url: str
    price_usd: str
    accepts: list


class Purchase(NamedTuple):
    """What was paid for; `body` and `report` are None for a bare table, which nobody signs."""
    body: Optional[dict]
    text: str
    report: Optional[Verification]
    receipt: Optional[dict]
    payment: PendingPayment


class Answer(NamedTuple):
    status: int
    headers: dict
    data: bytes


class ClientError(Exception):
    """Why a call has no result. The codes are those of `signalpress/client`:

    too_expensive: nothing was signed, raise max_usd. not_charged: the service has no answer. refused: the payment was
    not made or not taken. unsettled: money may have moved, redeliver `payment`, sign nothing. unverified: paid for, but
    the body does not hold. failed: the service was not reached, or failed before any payment.
    """

    def __init__(self, message, code, status=None, answer=None, payment=None, purchase=None):
        super().__init__(message)
        self.code, self.status, self.answer = code, status, answer
        self.payment, self.purchase = payment, purchase


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A signed payment must go only where it was meant to go."""

    def redirect_request(self, *args):
        return None


class TimedReader(io.RawIOBase):
    """What arrives on a socket until its timeout has passed as a whole: a timeout of Python begins anew with each byte."""

    def __init__(self, sock):
        super().__init__()
        limit = sock.gettimeout()
        self._sock, self._raw = sock, sock.makefile("rb", buffering=0)
        self._end = None if limit is None else time.monotonic() + limit

    def readable(self):
        return True

    def readinto(self, buffer):
        if self._end is not None:
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError("the answer took too long")
            self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self):
        self._raw.close()
        super().close()


class TimedResponse(http.client.HTTPResponse):
    def __init__(self, sock, *args, **named):
        super().__init__(sock, *args, **named)
        self.fp.close()
        self.fp = io.BufferedReader(TimedReader(sock))


class TimedHttp(http.client.HTTPConnection):
    response_class = TimedResponse


class TimedHttps(http.client.HTTPSConnection):
    response_class = TimedResponse


class HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(TimedHttp, request)


class HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, request):
        return self.do_open(TimedHttps, request, context=self._context)


OPENER = urllib.request.build_opener(NoRedirects, HttpHandler, HttpsHandler)


def http_get(url, headers, timeout):
    """The whole answer, whatever its status; raises OSError or HTTPException where none arrives in time."""
    request = urllib.request.Request(url, headers=headers)
    try:
        return whole_answer(request, timeout)
    except ValueError as error:
        # Of a header that Python cannot read, such as the address of a redirect: a payment may have been sent.
        raise http.client.HTTPException("a header that is not readable: %s" % error) from error


def whole_answer(request, timeout):
    try:
        response = OPENER.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        data = response.read(ANSWER_BYTES_MAX + 1)
        if len(data) > ANSWER_BYTES_MAX:
            raise http.client.HTTPException("longer than %d bytes" % ANSWER_BYTES_MAX)
        length = response.headers.get("content-length")
        if length is not None and int(length) != len(data):
            raise http.client.IncompleteRead(data)
        return Answer(response.status, {name.lower(): text for name, text in response.headers.items()}, data)


class SignalpressClient:
    """Calls of one service; a misused call raises ValueError, one without a result a ClientError.

    base_url   public address of the service
    issuer     did:key whose signatures are trusted; learn it from a source of your own
    wallet     needed to buy: `address` and `sign_typed_data`, as of eth_account
    max_usd    cap of a call in decimal USD
    networks   names in NETWORKS on which money may move
    on_signed  told of a payment before it is sent, so that a program that dies can redeliver it
    get        (url, headers, timeout in seconds) -> Answer, in place of http_get
    clock      seconds since 1970
    demands_proof  refuse a purchase without the proof that it is in the log, unless it was asked for with proof=0
    """

    def __init__(self, base_url, issuer, wallet=None, max_usd=MAX_USD, networks=tuple(NETWORKS),
                 on_signed=lambda payment: None, get=http_get, wait=time.sleep, clock=time.time,
                 timeout_s=ANSWER_TIMEOUT_S, demands_proof=False):
        try:
            verify_record.public_key(issuer)
        except verify_record.Refused as error:
            raise ValueError("Cannot make a client: issuer: %s" % error) from error
        unknown = [name for name in networks if name not in NETWORKS]
        if unknown:
            raise ValueError("Cannot pay on %r: known networks are %s" % (unknown[0], ", ".join(NETWORKS)))
        self._root, self._issuer, self._wallet = base_url.rstrip("/"), issuer, wallet
        self._max, self._networks, self._on_signed = atomic(max_usd), tuple(networks), on_signed
        self._http, self._wait, self._clock, self._timeout = get, wait, clock, timeout_s
        self._demands_proof = demands_proof

    # ---- what is free

    def get(self, path, params=None, token=None):
        """A free answer as it is, not verified; `token` opens the subscription paths."""
        headers = {} if token is None else {"authorization": "Bearer " + token}
        answer = self._ask(self._url(path, params), headers)
        if answer.status != 200:
            raise refusal(answer)
        return parsed(answer)

    def search(self, words, limit=None):
        """What fits some words, best first, each with its price and the request that buys it; limit is 1 to 20."""
        answer = self.get("/gauge/search", {"q": words, "limit": limit})
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
            raise ClientError("Cannot search: the answer has no results", "failed", answer=answer)
        return results

    def quote(self, path, params=None):
        """What a purchase would cost; nothing is signed. Raises where nothing is for sale."""
        url = self._url(path, params)
        answer = self._ask(url, {})
        if answer.status != 402:
            raise refusal(answer)
        accepts = accepts_of(answer)
        return Quote(url, usd(min(int(entry["maxAmountRequired"]) for entry in accepts)), accepts)

    def verify(self, saved):
        """Judges what was saved, text or bytes, offline and for the issuer."""
        data = saved.encode("utf-8", "surrogatepass") if isinstance(saved, str) else saved
        now = int(self._clock() * 1000)
        return Verification(*verify_record.judge(verify_record.judge_body, lambda: data, [self._issuer], now))

    def watch(self, items, token, every_s=WATCH_S):
        """Yields (item, row) for each reading of up to 30 items line:entity, and again when its hash changes.

        Rows are not signed: buy the record of a hash before you rely on it. A service that is not reached is asked
        again; after five times the last error is raised.
        """
        if not every_s >= WATCH_S_MIN:
            raise ValueError("Cannot watch every %s s: at least %d" % (every_s, WATCH_S_MIN))
        return self._watched(",".join(items), token, every_s)

    def _watched(self, items, token, every_s):
        known, failures = {}, 0
        while True:
            try:
                body, failures = self.get("/gauge/watch", {"items": items}, token), 0
            except ClientError as error:
                failures += 1
                if failures == FAILURES_MAX or not (error.code == "failed" or error.status == 429):
                    raise
                body = None
            if body is not None:
                seen = {(each["item"], row["signal_id"]): row for each in body["items"] for row in each["rows"]}
                for (item, name), row in seen.items():
                    if known.get((item, name)) != row["record_hash"]:
                        yield item, row
                known = {key: row["record_hash"] for key, row in seen.items()}
            self._wait(every_s)

    # ---- what costs money

    def buy(self, path, params=None, max_usd=None):
        """Buys, verifies offline and returns; one charge, however often the answer is lost on its way."""
        if self._wallet is None:
            raise ValueError("Cannot buy: the client has no wallet")
        cap = self._max if max_usd is None else atomic(max_usd)
        url = self._url(path, params)
        asked = self._ask(url, {})
        if asked.status != 402:
            raise refusal(asked)
        payment = self._signed(url, self._chosen(url, asked, cap))
        self._on_signed(payment)
        return self.redeliver(payment)

    def redeliver(self, payment):
        """Sends a payment again that was signed before, by this program or by one that has died."""
        payment = PendingPayment(*payment)
        if not payment.url.startswith(self._root + "/"):
            raise ValueError("Cannot redeliver %r: not a URL under %s" % (payment.url, self._root))
        answer = self._delivered(payment)
        if answer.status != 200:
            raise refusal(answer, payment)
        return self._judged(answer, payment)

    def _chosen(self, url, asked, cap):
        """The entry of a challenge to pay; it must be about this very request, in USDC and within the cap."""
        entries = []
        for entry in accepts_of(asked):
            network = NETWORKS.get(entry.get("network")) if entry.get("network") in self._networks else None
            if network and entry.get("scheme") == "exact" and str(entry.get("asset")).lower() == network[1].lower():
                entries.append(entry)
        if not entries:
            raise ClientError("Cannot pay: no USDC on one of %s is asked for; nothing was signed"
                              % ", ".join(self._networks), "refused", answer=json_of(asked))
        entry = min(entries, key=lambda one: int(one["maxAmountRequired"]))
        path, params = target_of(url[len(self._root):])
        shown = target_of(str(entry.get("resource")))
        if not shown[0].endswith(path) or shown[1] != params:
            raise ClientError("Cannot buy %r: the service spells it %r; ask for that, nothing was signed"
                              % (url, entry.get("resource")), "refused", answer=json_of(asked))
        amount = int(entry["maxAmountRequired"])
        if amount > cap:
            raise ClientError("Cannot buy for %s USD: max_usd is %s; nothing was signed" % (usd(amount), usd(cap)),
                              "too_expensive", answer=json_of(asked))
        return entry

    def _signed(self, url, entry):
        chain, asset, name, version = NETWORKS[entry["network"]]
        now, window = int(self._clock()), entry.get("maxTimeoutSeconds")
        if not isinstance(window, int) or not 0 < window <= WINDOW_S_MAX or not is_address(entry.get("payTo")):
            raise ClientError("Cannot pay: the challenge has no payee or no time limit of an hour at most", "refused")
        nonce = secrets.token_bytes(32)
        message = {"from": self._wallet.address, "to": entry["payTo"], "value": int(entry["maxAmountRequired"]),
                   "validAfter": now - CLOCK_ALLOWANCE_S, "validBefore": now + window, "nonce": nonce}
        domain = {"name": name, "version": version, "chainId": chain, "verifyingContract": asset}
        signature = bytes(self._wallet.sign_typed_data(domain, TYPES, message).signature)
        authorization = {key: value if isinstance(value, str) else str(value) for key, value in message.items()}
        authorization["nonce"] = "0x" + nonce.hex()
        payload = {"x402Version": 1, "scheme": "exact", "network": entry["network"],
                   "payload": {"signature": "0x" + signature.hex(), "authorization": authorization}}
        value = base64.b64encode(json.dumps(payload).encode("ascii")).decode("ascii")
        return PendingPayment(url, "x-payment", value)

    def _delivered(self, payment):
        """Sends one payment until it is answered; a lost answer, 429 or 5xx is asked for again with the same header."""
        for again in range(REDELIVERIES_MAX + 1):
            state, asked_s = "no answer arrived", 0
            try:
                answer = self._http(payment.url, {payment.header: payment.value, "accept": "*/*"}, self._timeout)
                if answer.status < 500 and answer.status != 429:
                    return answer
                state, asked_s = "the service answered %d" % answer.status, seconds(answer.headers.get("retry-after"))
            except (OSError, http.client.HTTPException):
                pass
            if again < REDELIVERIES_MAX:
                self._wait(min(WAIT_S_MAX, max(asked_s, WAIT_S * 2 ** again)))
        raise ClientError("Cannot tell whether %r was paid: %s; redeliver this error's payment; do not sign a new one"
                          % (payment.url, state), "unsettled", payment=payment)

    def _judged(self, answer, payment):
        path, asked = target_of(payment.url[len(self._root):])
        try:
            text = answer.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ClientError("Cannot read what %r sold: not UTF-8" % payment.url, "unverified",
                              payment=payment) from error
        body, report, fault = None, None, None
        if path == SERIES and asked.get("format") == "csv":
            has_cores = asked.get("verifiable") is not None
            columns = verify_record.CORE_COLUMNS if has_cores else verify_record.SERIES_COLUMNS
            is_table = text.startswith(",".join(columns) + "\r\n")
            fault = None if is_table else "the table does not have the columns of a series"
        else:
            report = self.verify(answer.data)
            body, fault = judged_body(path, asked, answer.data, report)
            if fault is None and self._demands_proof and lacks_proof(path, asked, body):
                fault = "no proof that it is in the log came with it"
        purchase = Purchase(body, text, report, receipt_of(answer.headers), payment)
        if fault is None:
            return purchase
        raise ClientError("Cannot rely on %r: %s; keep this error's purchase as evidence" % (payment.url, fault),
                          "unverified", payment=payment, purchase=purchase)

    def _url(self, path, params):
        given = sorted((name, str(value)) for name, value in (params or {}).items() if value is not None)
        for name, value in given:
            if "/:%s" % name in path:
                path = path.replace(":%s" % name, urllib.parse.quote(value, safe=":"))
                given = [pair for pair in given if pair[0] != name]
        return self._root + path + ("?" + urllib.parse.urlencode(given) if given else "")

    def _ask(self, url, headers):
        try:
            return self._http(url, dict(headers, accept="application/json"), self._timeout)
        except (OSError, http.client.HTTPException) as error:
            raise ClientError("Cannot reach %r: nothing was signed" % url, "failed") from error


# ---- whether a body answers what was asked for --------------------------------------------------------------------


def judged_body(path, asked, data, report):
    """The body that was delivered, and why it cannot be relied on, or None."""
    try:
        is_table = path == SERIES and asked.get("format") == "csv-signed"
        if is_table != data.startswith(b"# "):
            return None, "not in the format that was asked for"
        body = verify_record.body_of(data)
        if not isinstance(body, dict):
            return None, "not a JSON object"
        bare, _ = verify_record.without_proof(body)
        return body, report_fault(path, bare, report) or answer_fault(path, asked, bare)
    except (verify_record.Refused,) + verify_record.MALFORMED as error:
        return None, "not readable: %s" % error


def lacks_proof(path, asked, body):
    return "_proof" not in body and asked.get("proof") != "0" and path != SUBSCRIBE


def report_fault(path, body, report):
    """A token is made at the request, by a service that holds no signing key; all else is signed as a whole."""
    if path == SUBSCRIBE:
        return None if report.verdict == "unsigned" and set(body) == TOKEN_MEMBERS else "not a token"
    if report.verdict != "verified":
        return report.detail
    citation = body.get("_citation")
    return None if isinstance(citation, dict) and "claim" in citation else "not all of it is signed"


def answer_fault(path, asked, body):
    """The signed address names operation and parameters; what is computed at the request repeats them in the body."""
    if path == SUBSCRIBE:
        return None
    if path in SETTLEMENTS:
        return settlement_fault(path, asked, body)
    beside = ("proof", "days", "format", "verifiable") if path == SERIES else ("proof",)
    signed = {name: value for name, value in asked.items() if name not in beside}
    citation = body["_citation"]
    base = citation["verify_url"][:-len("/v/" + citation["record_hash"])]
    cited = target_of(str(citation["source"]["url"])[len(base):])
    if cited != (path, signed):
        return "the body answers %r, not %r" % (cited, (path, signed))
    days = int(asked.get("days", SERIES_DAYS_DEFAULT))
    if path == SERIES and not verify_record.is_same(body.get("days"), days):
        return "the body answers days %r, not %d" % (body.get("days"), days)
    if path == SERIES and any(("_hash_core" in row) != ("verifiable" in asked) for row in body["rows"]):
        return "the body answers verifiable otherwise: its rows have no _hash_core, or one that nobody asked for"
    return None


def settlement_fault(path, asked, body):
    if not verify_record.is_settlement(body) or SETTLEMENTS[path] not in body:
        return "the body is not an answer of %r" % path
    for name in ECHOED:
        said, want = body.get(name), asked.get(name)
        if name == "source_class" and want is None:
            want = "sec"
        if name == "form" and want is not None:
            want = " ".join(want.upper().split()).removeprefix("FORM ")
        if said != want:
            return "the body answers %s %r, not %r" % (name, said, want)
    return None


# ---- reading answers ----------------------------------------------------------------------------------------------


def target_of(url):
    """Path and parameters of an address."""
    parts = urllib.parse.urlsplit(url)
    return parts.path, dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))


def json_of(answer):
    try:
        return verify_record.parse(answer.data)
    except verify_record.Refused:
        return None


def parsed(answer):
    try:
        return verify_record.parse(answer.data)
    except verify_record.Refused as error:
        raise ClientError("Cannot read an answer: %s" % error, "failed", status=answer.status) from error


def accepts_of(answer):
    """The entries of a challenge; each must have a price in digits."""
    body = parsed(answer)
    accepts = body.get("accepts") if isinstance(body, dict) else None
    entries = accepts if isinstance(accepts, list) else []
    if not entries or not all(isinstance(one, dict) and is_amount(one.get("maxAmountRequired")) for one in entries):
        raise ClientError("Cannot read a challenge: no price in it", "failed", status=402, answer=body)
    return entries


def refusal(answer, payment=None):
    body = json_of(answer)
    said = body.get("error") if isinstance(body, dict) else None
    if answer.status == 200:
        said = "Cannot buy what is free: it was answered, and nothing was signed. Use get()"
    code = "refused" if answer.status == 402 else "failed" if answer.status >= 500 else "not_charged"
    text = said if isinstance(said, str) else "status %d" % answer.status
    return ClientError(text, code, status=answer.status, answer=body, payment=payment)


def receipt_of(headers):
    """None as well when it cannot be read: what was bought is there all the same."""
    value = headers.get("x-payment-response") or headers.get("payment-response")
    try:
        return None if value is None else json.loads(base64.b64decode(value))
    except ValueError:
        return None


def seconds(text):
    return min(int(text), WAIT_S_MAX) if text is not None and text.isascii() and text.isdigit() else 0


def is_amount(text):
    return isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 30


def is_address(text):
    digits = text[2:] if isinstance(text, str) and text.startswith("0x") else ""
    return len(digits) == 40 and all(char in "0123456789abcdefABCDEF" for char in digits)


def atomic(price):
    """Millionths of a dollar of a decimal price, exactly."""
    amount = decimal.Decimal(price) * 1000000 if isinstance(price, str) else decimal.Decimal("NaN")
    if not amount.is_finite() or amount < 0 or amount != int(amount):
        raise ValueError("Cannot use %r as a price: pass decimal USD as text, such as \"0.10\"" % (price,))
    return int(amount)


def usd(amount):
    text = "%d.%06d" % divmod(amount, 1000000)
    whole, _, fraction = text.rstrip("0").partition(".")
    return "%s.%s" % (whole, fraction.ljust(2, "0"))
