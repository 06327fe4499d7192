"""What a service answers: challenges, refusals, deliveries, and whether a purchase can be relied on."""

import base64
import hashlib
import json
import urllib.parse
from typing import NamedTuple, Optional

from verify_basket import QUOTE, REQUESTS_MAX, basket_fault, is_basket, is_sold
from verify_body import body_of
from verify_demands import SERIES, answer_fault, target_of
from verify_json import MALFORMED, Refused, canonical_bytes, parse
from verify_log import without_proof
from verify_shapes import fits

# The longest wait before a payment is sent again.
WAIT_S_MAX = 10
SUBSCRIBE = "/gauge/subscribe"
TOKEN_MEMBERS = {"token", "plan", "expires_at", "days"}


class PendingPayment(NamedTuple):
    """A signed payment and what it was signed for: sent again it delivers the same bytes and costs nothing more.

    Of a basket also what is posted, and what each of its requests was to cost. Keep it as a whole, and to yourself: the
    identifier names the purchase, and shows for 30 days and from anywhere who bought it.
    """
    url: str
    header: str
    value: str
    body: Optional[str] = None
    quoted: Optional[list] = None
    identifier: Optional[str] = None


class Verification(NamedTuple):
    """`verified`, `partly_verified` (nothing signs the content), `failed`, `unsigned`, `issuer_unknown`, `unproven` or
    `undecided` (not readable), why, and what a body that holds is about.
    """
    verdict: str
    detail: str
    about: Optional[dict]


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


# ---- whether a purchase can be relied on --------------------------------------------------------------------------


def judged_body(path, asked, data, report):
    """The body that was delivered, and why it cannot be relied on, or None."""
    try:
        is_table = path == SERIES and asked.get("format") == "csv-signed"
        if is_table != data.startswith(b"# "):
            return None, "not in the format that was asked for"
        body = body_of(data)
        if not isinstance(body, dict):
            return None, "not a JSON object"
        bare, _ = without_proof(body)
        fault = report_fault(path, bare, report)
        return body, answer_fault(path, asked, bare) if fault is None and path != SUBSCRIBE else fault
    except (Refused,) + MALFORMED as error:
        return None, "not readable: %s" % error


def judged_basket(payment, data, report):
    """A basket that was delivered, and why it cannot be relied on, or None."""
    try:
        body = body_of(data)
        if not is_basket(body):
            return None, "the body is not that of a basket"
        if report.verdict != "verified":
            return body, report.detail
        requests = parse(payment.body.encode("utf-8"))["requests"]
        return body, basket_fault(body, requests, payment.quoted, paid_by(payment))
    except (Refused,) + MALFORMED as error:
        return None, "not readable: %s" % error


def paid_by(payment):
    """Millionths of a dollar that a payment moves."""
    return int(json.loads(base64.b64decode(payment.value))["payload"]["authorization"]["value"])


def signed_by(payment):
    """The account that signed a payment, in lower case, and the network; None twice where it does not say."""
    try:
        body = json.loads(base64.b64decode(payment.value))
        network = body["network"] if "network" in body else body["accepted"]["network"]
        return str(body["payload"]["authorization"]["from"]).lower(), network
    except (ValueError, TypeError, KeyError):
        return None, None


def lacks_proof(path, asked, body):
    return "_proof" not in body and asked.get("proof") != "0" and path != SUBSCRIBE


def basket_lacks_proof(basket):
    return any(lacks_proof(*target_of(part["request"]), part["answer"]) for part in basket["parts"] if is_sold(part))


def report_fault(path, body, report):
    """A token is made at the request, by a service that holds no signing key; all else is signed as a whole."""
    if path == SUBSCRIBE:
        return None if report.verdict == "unsigned" and set(body) == TOKEN_MEMBERS else "not a token"
    return None if report.verdict == "verified" else report.detail


# ---- reading answers ----------------------------------------------------------------------------------------------


def basket_body(requests):
    """What is posted for a basket."""
    if not 1 <= len(requests) <= REQUESTS_MAX or not all(isinstance(one, str) for one in requests):
        raise ValueError("Cannot ask for this basket: pass 1 to %d requests, each a path?query" % REQUESTS_MAX)
    return json.dumps({"requests": list(requests)})


def digest_of(body):
    """What stands for the body of a basket in its request."""
    return hashlib.sha256(canonical_bytes(parse(body.encode("utf-8")))).hexdigest()


def parts_of(asked):
    """What each request of a basket costs, by its 402."""
    body = parsed(asked)
    quote = body.get("basket")
    if not fits(quote, QUOTE):
        raise ClientError("Cannot buy a basket: its 402 does not say what each request costs; nothing was signed",
                          "refused", answer=body)
    return quote["parts"]


def is_for(entry, path, params):
    """Whether an entry of a challenge asks for this very request."""
    try:
        shown = target_of(str(entry.get("resource")))
    except Refused:
        return False
    return shown[0].endswith(path) and shown[1] == params


def url_of(root, target, body):
    """The URL of a request as the service spells it: its parameters sorted, and the digest of what is posted."""
    path, params = target_of(target)
    if body is not None:
        params = dict(params, digest=digest_of(body))
    pairs = ["%s=%s" % (name, urllib.parse.quote(value, safe="!*'()")) for name, value in sorted(params.items())]
    return root + path + ("?" + "&".join(pairs) if pairs else "")


def json_of(answer):
    try:
        return parse(answer.data)
    except Refused:
        return None


def parsed(answer):
    try:
        return parse(answer.data)
    except Refused as error:
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


def buyer_question(answer):
    """The words of a service that knows the payment and wants to see who paid; None for every other answer."""
    body = json_of(answer) if answer.status == 402 else None
    is_asked = isinstance(body, dict) and body.get("code") == "sign_in_to_redeliver"
    return str(body.get("error")) if is_asked else None


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
