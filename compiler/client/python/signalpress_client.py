"""Searches, quotes, buys, redelivers, verifies and watches: the calls of `signalpress/client`, in Python.

It needs the standard library alone, the files beside it, and to buy a wallet: an account of eth_account, or
`key_wallet.KeyWallet`. It signs nothing above the cap, for another token than USDC or on a network that it was not given.
What it returns was judged offline for the issuer that you trust, and answers what was asked for.

A payment that may have moved money is sent again as it is, never signed anew.
"""

import base64
import http.client
import json
import re
import secrets
import threading
import time
import urllib.parse
from typing import NamedTuple, Optional

from signalpress_answers import (WAIT_S_MAX, ClientError, PendingPayment, accepts_of, atomic, basket_body, best_of,
                                 buyer_question, check_offer, digest_of, fact_of, is_address, is_for, json_of, judged_basket,
                                 judged_body, paid_usd, parsed, parts_of, receipt_of, refusal, seconds, signed_by, url_of, usd)
from signalpress_http import http_get
from signalpress_verify import (CORE_COLUMNS, SERIES, SERIES_COLUMNS, Reader, Refused, Verdict, judge, read_keys,
                                read_trust, target_of, usable_key)

MAX_USD = "0.10"
ANSWER_TIMEOUT_S = 90
# How often the same payment is sent again, and the first wait in between.
RETRIES = 5
WAIT_S = 0.5
WATCH_S = 60
WATCH_S_MIN = 1
FAILURES_MAX = 5
# A clock that is behind by this much still signs what is valid now.
CLOCK_ALLOWANCE_S = 600
# A message is taken for 300 s from the time in it, so a clock that is off by half of that still makes a good one.
ISSUED_BEFORE_S = 145
RANDOM_BYTES = 16
WINDOW_S_MAX = 3600
BASKET = "/gauge/basket"

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


class SignableMessage(NamedTuple):
    """A text as a wallet takes it, in its parts of EIP-191; an account of eth_account asks for these three members."""
    version: bytes
    header: bytes
    body: bytes


class Quote(NamedTuple):
    """A price question that was answered: the lowest price in decimal USD, and all ways to pay of x402 version 1.

    Of a basket also its requests, each with its price or with the reason why it is not sold.
    """
    url: str
    price_usd: str
    accepts: list
    parts: Optional[list] = None


class Purchase(NamedTuple):
    """What was paid for; `body` and `report` are None for a bare table, which nobody signs. `found` is what `ask` took."""
    body: Optional[dict]
    text: str
    report: Optional[Verdict]
    receipt: Optional[dict]
    payment: PendingPayment
    paid_usd: Optional[str]
    found: Optional[dict] = None


def as_bytes(text):
    return text.encode("utf-8") if isinstance(text, str) else text

class SignalpressClient:
    """Calls of one service; a misused call raises ValueError, one without a result a ClientError.

    base_url   public address of the service
    issuer     did:key whose signatures are trusted; learn it from a source of your own
    keys       text of the issuer's keys.json: which keys follow that one, when each stopped, and which were revoked
    trust      in place of both: text of a signalpress.trust
    wallet     needed to buy: `address` and `sign_typed_data`, as of eth_account; with `sign_message` it also signs in where
               a service wants to see who paid
    max_usd    cap of a call in decimal USD
    max_total_usd  what this client may sign in its life; a payment that is unsettled or refused counts
    networks   names in NETWORKS on which money may move
    on_signed  told of a payment before it is sent, so that a program that dies can redeliver it
    get        (url, headers, timeout in seconds) -> Answer, in place of http_get; of a basket also the bytes to post
    clock      seconds since 1970
    """

    def __init__(self, base_url, issuer=None, wallet=None, max_usd=MAX_USD, networks=tuple(NETWORKS),
                 on_signed=lambda payment: None, get=http_get, wait=time.sleep, clock=time.time,
                 timeout_s=ANSWER_TIMEOUT_S, keys=None, trust=None, max_total_usd=None):
        try:
            listed = None if keys is None else read_keys(as_bytes(keys))
            if trust is not None and (issuer, keys) != (None, None):
                raise Refused("the trust file names both")
            trusted = {"issuers": [issuer], "keys": listed} if trust is None else read_trust(as_bytes(trust))
            for did in trusted["issuers"]:
                usable_key(did)
            self._trusting = Reader(now=0, **trusted)
        except Refused as error:
            raise ValueError("Cannot make a client: issuer, keys or trust: %s" % error) from error
        unknown = [name for name in networks if name not in NETWORKS]
        if unknown:
            raise ValueError("Cannot pay on %r: known networks are %s" % (unknown[0], ", ".join(NETWORKS)))
        self._root, self._wallet = base_url.rstrip("/"), wallet
        self._max, self._networks, self._on_signed = atomic(max_usd), tuple(networks), on_signed
        self._http, self._wait, self._clock, self._timeout = get, wait, clock, timeout_s
        self._left = None if max_total_usd is None else atomic(max_total_usd)
        self._spending = threading.Lock()

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
        return self._found(words, limit)["results"]

    def _found(self, words, limit=None):
        answer = self.get("/gauge/search", {"q": words, "limit": limit})
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or not all(
                isinstance(one, dict) and isinstance(one.get("request"), str) for one in results):
            raise ClientError("Cannot search: the answer has no results", "failed", answer=answer)
        return answer

    def quote(self, offer, params=None):
        """What a purchase would cost, of whatever `buy` takes; nothing is signed. Raises where nothing is for sale."""
        return self._quoted(self._url(offer, params))

    def quote_basket(self, requests):
        """What a basket of up to 30 requests, each a path?query, would cost; names those that are not sold."""
        return self._quoted(self._root + BASKET, basket_body(requests))

    def _quoted(self, url, body=None):
        asked = self._asked_price(url, body)
        accepts = accepts_of(asked)
        lowest = usd(min(int(entry["maxAmountRequired"]) for entry in accepts))
        return Quote(url, lowest, accepts, None if body is None else parts_of(asked))

    def _asked_price(self, url, body, timeout_s=None):
        answer = self._ask(url, {}, body, timeout_s)
        if answer.status != 402:
            raise refusal(answer)
        return answer

    def verify(self, saved):
        """Judges what was saved, text or bytes, offline and for the issuer; without its proof it is `undecided`."""
        data = saved.encode("utf-8", "surrogatepass") if isinstance(saved, str) else saved
        return judge(data, self._reader())

    def _reader(self):
        return self._trusting._replace(now=int(self._clock() * 1000))

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

    def buy(self, offer, params=None, max_usd=None, timeout_s=None, retries=RETRIES):
        """Buys, verifies offline and returns; one charge, however often the answer is lost on its way.

        Takes a path with its parameters, a path?query, or what a search found.
        """
        return self._bought(self._url(offer, params), None, max_usd, timeout_s, retries)

    def fact(self, params, max_usd=None):
        """Buys the signed record, verifies it, and returns its fact, made here, what was paid in USD, and the purchase."""
        bought = self.buy("/gauge", params, max_usd)
        return fact_of(bought.body, bought.paid_usd), bought.paid_usd, bought

    def ask(self, words, max_usd=None, timeout_s=None, retries=RETRIES):
        """Searches, and buys the best result where it leaves none of the words open; `found` says what was bought.

        Else it raises `not_charged`, with the results in `answer`.
        """
        found = best_of(words, self._found(words))
        return self.buy(found, None, max_usd, timeout_s, retries)._replace(found=found)

    def buy_basket(self, requests, max_usd=None, timeout_s=None, retries=RETRIES):
        """Buys up to 30 requests, each a path?query, with one payment; what cannot be sold is named and not charged."""
        return self._bought(self._root + BASKET, basket_body(requests), max_usd, timeout_s, retries)

    def _bought(self, url, body, max_usd, timeout_s, retries):
        if self._wallet is None:
            raise ValueError("Cannot buy: the client has no wallet")
        cap = self._max if max_usd is None else atomic(max_usd)
        asked = self._asked_price(url, body, timeout_s)
        release = check_offer(asked, self._clock())
        quoted = None if body is None else parts_of(asked)
        entry = self._chosen(url, body, asked, cap)
        self._spend(int(entry["maxAmountRequired"]), asked)
        payment = self._signed(url, entry)._replace(
            body=body, quoted=quoted, identifier=secrets.token_hex(RANDOM_BYTES), release=release)
        self._on_signed(payment)
        return self.redeliver(payment, timeout_s, retries)

    def _spend(self, amount, asked):
        """Takes a price from the budget before it is signed. It stays spent: a service that says "refused" can settle it."""
        with self._spending:
            if self._left is not None and amount > self._left:
                raise ClientError("Cannot buy for %s USD: of max_total_usd %s are left; nothing was signed"
                                  % (usd(amount), usd(self._left)), "too_expensive", answer=json_of(asked))
            self._left = None if self._left is None else self._left - amount

    def redeliver(self, payment, timeout_s=None, retries=RETRIES):
        """Sends a payment again that was signed before, by this program or by one that has died."""
        payment = PendingPayment(*payment)
        if not payment.url.startswith(self._root + "/"):
            raise ValueError("Cannot redeliver %r: not a URL under %s" % (payment.url, self._root))
        answer = self._delivered(payment, timeout_s, retries)
        if answer.status != 200:
            raise refusal(answer, payment)
        return self._judged(answer, payment)

    def _chosen(self, url, body, asked, cap):
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
        digest = {} if body is None else {"digest": digest_of(body)}
        if not is_for(entry, path, dict(params, **digest)):
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
        return PendingPayment(url, "x-payment", value, signed_at=now)

    def _delivered(self, payment, timeout_s, retries):
        """Sends one payment until it is answered; a lost answer, 429 or 5xx is asked for again with the same header.

        Where the service wants to see who paid, the wallet that did signs a message with each further try. A 429 may stand
        in place of that question: others have guessed too often.
        """
        chain, signs = self._own_chain(payment), False
        for again in range(retries + 1):
            state, asked_s, question = "no answer arrived", 0, None
            answer = self._tried(payment, chain if signs else None, timeout_s)
            if answer is not None:
                question = buyer_question(answer)
                if answer.status < 500 and answer.status != 429 and question is None:
                    return answer
                state, asked_s = "the service answered %d" % answer.status, seconds(answer.headers.get("retry-after"))
            if question is not None:
                state = "the service wants to see who paid: %s" % question
                if signs or chain is None:
                    break
            signs = signs or chain is not None and answer is not None and answer.status in (402, 429)
            if again < retries:
                self._wait(min(WAIT_S_MAX, max(asked_s, WAIT_S * 2 ** again)))
        raise ClientError("Cannot tell whether %r was paid: %s; redeliver this error's payment; do not sign a new one"
                          % (payment.url, state), "unsettled", payment=payment)

    def _tried(self, payment, chain, timeout_s):
        """The answer to one try, None where none came; with a chain the account that paid shows itself."""
        headers = {payment.header: payment.value, "accept": "*/*"}
        if payment.identifier is not None:
            headers["payment-identifier"] = payment.identifier
        if chain is not None:
            headers["sign-in-with-x"] = self._sign_in(payment, chain)
        try:
            return self._sent(payment.url, headers, payment.body, timeout_s)
        except (OSError, http.client.HTTPException):
            return None

    def _own_chain(self, payment):
        """The chain on which this wallet made a payment; None where it did not, or cannot sign a text."""
        payer, network = signed_by(payment)
        if not hasattr(self._wallet, "sign_message") or payer != self._wallet.address.lower():
            return None
        return next((row[0] for name, row in NETWORKS.items() if network in (name, "eip155:%d" % row[0])), None)

    def _sign_in(self, payment, chain):
        """A text of ERC-4361, signed, for exactly the URL of a payment: nothing in it is the word of the service."""
        host, address = urllib.parse.urlsplit(self._root).netloc, self._wallet.address
        uri = url_of(self._root, payment.url[len(self._root):], payment.body)
        nonce = secrets.token_hex(RANDOM_BYTES)
        issued = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock() - ISSUED_BEFORE_S))
        lines = ["%s wants you to sign in with your Ethereum account:" % host, address, "", "", "URI: %s" % uri,
                 "Version: 1", "Chain ID: %d" % chain, "Nonce: %s" % nonce, "Issued At: %s" % issued]
        text = "\n".join(lines).encode("utf-8")
        signed = self._wallet.sign_message(SignableMessage(b"E", b"thereum Signed Message:\n%d" % len(text), text))
        message = {"domain": host, "address": address, "uri": uri, "version": "1", "chainId": "eip155:%d" % chain,
                   "type": "eip191", "nonce": nonce, "issuedAt": issued, "signature": "0x" + bytes(signed.signature).hex()}
        return base64.b64encode(json.dumps(message).encode("ascii")).decode("ascii")

    def _sent(self, url, headers, body, timeout_s):
        posted = () if body is None else (body.encode("utf-8"),)
        return self._http(url, headers, self._timeout if timeout_s is None else timeout_s, *posted)

    def _judged(self, answer, payment):
        path, asked = target_of(payment.url[len(self._root):])
        try:
            text = answer.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ClientError("Cannot read what %r sold: not UTF-8" % payment.url, "unverified",
                              payment=payment) from error
        if path == SERIES and asked.get("format") == "csv":
            columns = CORE_COLUMNS if asked.get("verifiable") is not None else SERIES_COLUMNS
            is_table = text.startswith(",".join(columns) + "\r\n")
            body, report, fault = None, None, None if is_table else "the table does not have the columns of a series"
        else:
            # What was paid for is taken whatever its age.
            target, reader = payment.url[len(self._root):], self._reader()._replace(max_age_ms=None)
            found = (judged_body(target, answer.data, payment, reader) if payment.body is None
                     else judged_basket(answer.data, payment, reader))
            body, report, fault = found
        purchase = Purchase(body, text, report, receipt_of(answer.headers), payment, paid_usd(payment))
        if fault is None:
            return purchase
        raise ClientError("Cannot rely on %r: %s; keep this error's purchase as evidence" % (payment.url, fault),
                          "unverified", payment=payment, purchase=purchase)

    def _url(self, offer, params):
        path = offer if isinstance(offer, str) else re.sub("^GET ", "", offer["request"])
        if not path.startswith("/"):
            raise ValueError("Cannot ask for %r: not a path of the service" % path)
        if "?" in path:
            if params:
                raise ValueError("Cannot ask for %r: it has its parameters already" % path)
            return self._root + path
        given = sorted((name, str(value)) for name, value in (params or {}).items() if value is not None)
        for name, value in given:
            if "/:%s" % name in path:
                path = path.replace(":%s" % name, urllib.parse.quote(value, safe=":"))
                given = [pair for pair in given if pair[0] != name]
        return self._root + path + ("?" + urllib.parse.urlencode(given) if given else "")

    def _ask(self, url, headers, body=None, timeout_s=None):
        try:
            return self._sent(url, dict(headers, accept="application/json"), body, timeout_s)
        except (OSError, http.client.HTTPException) as error:
            raise ClientError("Cannot reach %r: %s; nothing was signed" % (url, error), "failed") from error
