"""What a service answers: challenges, refusals, deliveries, and whether a purchase can be relied on."""

import base64
import email.utils
import hashlib
import json
import re
import urllib.parse
from typing import NamedTuple, Optional

from signalpress_verify import (MALFORMED, SERIES, SKEW_MS, Refused, Undecided, Verdict, answered_at, body_of,
                                canonical, canonical_bytes, instant, is_whole, iso, judge, milliseconds, opened_extra, parse,
                                parse_entry, record_in, target_of)

# The longest wait before a payment is sent again.
WAIT_S_MAX = 10
# How far the clock of a service may be from that of the buyer before anything is signed.
DATE_SKEW_S = 240
SUBSCRIBE = "/gauge/subscribe"
REQUESTS_MAX = 30
USD = re.compile(r"(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?", re.ASCII)
WHOLE = "signed, free with the same payment: leave out format=fact"
TOKEN_MEMBERS = {"token", "plan", "expires_at", "days"}


class PendingPayment(NamedTuple):
    """A signed payment and what it was signed for: sent again it delivers the same bytes and costs nothing more.

    Of a basket also what is posted, and what each of its requests was to cost. Keep it as a whole, and to yourself: the
    identifier names the purchase, and shows for 30 days and from anywhere who bought it. What it delivers, on whatever day,
    was answered no earlier than signed_at, in seconds since 1970; what does not say its time is of no older release than the
    402 named.
    """
    url: str
    header: str
    value: str
    body: Optional[str] = None
    quoted: Optional[list] = None
    identifier: Optional[str] = None
    signed_at: Optional[int] = None
    release: Optional[dict] = None


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


def judged_body(target, data, payment, reader):
    """The body that was delivered, its verdict, and why it cannot be relied on, or None."""
    path, asked = target_of(target)
    is_token = path == SUBSCRIBE
    expect = None if is_token else target
    report = judge(data, reader._replace(expect=expect, needs_proof=asked.get("proof") != "0"))
    try:
        is_table = path == SERIES and asked.get("format") == "csv-signed"
        if is_table != data.startswith(b"# "):
            return None, report, "not in the format that was asked for"
        body = body_of(data)
        if is_token:
            is_whole_token = report.verdict == "unsigned" and set(body) == TOKEN_MEMBERS
            return body, report, None if is_whole_token else "not a token"
        if report.verdict != "verified":
            return body, report, report.detail
        return body, report, time_fault(record_in(body), payment)
    except (Refused, Undecided) + MALFORMED as error:
        return None, report, "not readable: %s" % error


def time_fault(body, payment):
    """Why a body is not an answer to a payment, by the instant or the release that it names, or None."""
    at, asked_at = answered_at(body), None if payment.signed_at is None else payment.signed_at * 1000
    if at is not None and asked_at is not None and at < asked_at - SKEW_MS:
        return "it was answered at %s, before it was paid for" % iso(at)
    if "_proof" not in body:
        return None
    entry, offered = proven_entry(body), payment.release
    limit = milliseconds(entry["valid_until"])
    said_at = at if at is not None else asked_at
    if limit is not None and said_at is not None and said_at > limit:
        return "it is of a release that was valid until %s: a newer one is withheld" % iso(limit)
    if at is None and offered is not None and (entry["sequence"] < offered["sequence"]
                                               or milliseconds(entry["as_of"]) < milliseconds(offered["as_of"])):
        return "it is of release %d, and release %d was offered: old words, sold again" % (
            entry["sequence"], offered["sequence"])
    return None


def proven_entry(body):
    """The entry in the proof of a body that was judged."""
    extra = body["_proof"].split("\n")[1][len("extra "):]
    return parse_entry(opened_extra(base64.b64decode(extra))[0])


def judged_basket(data, payment, reader):
    """A basket that was delivered, its verdict, and why it cannot be relied on, or None: each part as if it came alone."""
    report = Verdict("unsigned", "nobody signs a basket as a whole")
    try:
        body = body_of(data)
        requests = parse(payment.body.encode("utf-8"))["requests"]
        parts, quoted = body.get("parts", ()), payment.quoted or []
        if set(body) != {"endpoint", "total_usd", "parts"} or not len(parts) == len(requests) == len(quoted):
            return body, report, "not the basket that was asked for, or it was not quoted"
        for at, (part, request, offer) in enumerate(zip(parts, requests, quoted), 1):
            if (part["request"], part.get("price_usd")) != (offer["request"], offer.get("price_usd")):
                return body, report, "part %d is not what was quoted for request %d" % (at, at)
            if "answer" in part:
                answer = canonical_bytes(part["answer"])
                _, report, fault = judged_body(request, answer, payment, reader)
                if fault is not None:
                    return body, report, "part %d: %s" % (at, fault)
        total = sum(atomic(part["price_usd"]) for part in parts if "answer" in part)
        if atomic(body["total_usd"]) != total or paid_by(payment) > total:
            return body, report, "the parts cost %s USD, not what was paid or is stated" % usd(total)
        sold = sum("answer" in part for part in parts)
        return body, Verdict("verified", "%d of %d requests were sold, and each answer holds" % (sold, len(parts))), None
    except (Refused, Undecided) + MALFORMED as error:
        return None, report, "not readable: %s" % error


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


def fact_of(body, price_usd):
    """The fact of a record that was judged, as the service makes it for format=fact; its words stand in the citation."""
    text = body["_citation"]["fact"]
    text = text[len("%s of %s read " % (body["signal_id"], body["entity"])):-len(" at " + body["observed_at"])]
    spelled = {one if isinstance(one, str) else canonical(one): one for one in (body["current"] or {}).values()}
    named = max((one for one in spelled if text == one or text.startswith(one + " ")), key=len, default=None)
    ruler, current, provenance = body["standard_ruler"], body["current"] or {}, body["provenance"]
    band = current.get("band") if ruler is None else ruler["band"]
    return {"subject": body["_citation"]["claim"], "value": spelled.get(named),
            "unit": named is not None and text[len(named) + 1:] or None, "class": band if isinstance(band, str) else None,
            "observed_at": body["observed_at"], "age_hours": provenance["age_hours_now"],
            "freshness": provenance["freshness"], "source": provenance["data_lineage"][0]["traceable_to"],
            "record_hash": body["record_hash"], "price_usd": price_usd, "whole": WHOLE}


# ---- prices ---------------------------------------------------------------------------------------------------------


def atomic(price):
    """Millionths of a dollar of a decimal price, exactly."""
    if not isinstance(price, str) or not USD.fullmatch(price):
        raise ValueError("Cannot use %r as a price: pass decimal USD as text, such as \"0.10\"" % (price,))
    whole, _, fraction = price.partition(".")
    return int(whole + fraction.ljust(6, "0"))


def usd(amount):
    whole, fraction = divmod(amount, 1000000)
    return "%d.%s" % (whole, ("%06d" % fraction).rstrip("0").ljust(2, "0"))


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
    """What each request of a basket costs, by its 402: its price, or why it is not sold."""
    body = parsed(asked)
    try:
        parts = body["basket"]["parts"]
        prices = [atomic(part["price_usd"]) for part in parts if "not_sold" not in part]
        if 1 <= len(parts) <= REQUESTS_MAX and atomic(body["basket"]["total_usd"]) == sum(prices):
            return parts
    except MALFORMED:
        pass
    raise ClientError("Cannot buy a basket: its 402 does not say what each request costs; nothing was signed",
                      "refused", answer=body)


def check_offer(asked, now):
    """The release that a challenge names. Refuses one that is over or still to come, or by another clock, before anything
    is signed.
    """
    date, fault = email.utils.parsedate_tz(asked.headers.get("date", "")), None
    try:
        release = json_of(asked)["release"]
        if date is None or abs(email.utils.mktime_tz(date) - now) > DATE_SKEW_S:
            fault = "its clock says %s" % asked.headers.get("date")
        elif not is_whole(release["sequence"], 1) or instant(release["as_of"], "as_of") > now * 1000 + SKEW_MS:
            fault = "its release is still to come"
        elif release["valid_until"] is not None and instant(release["valid_until"], "valid_until") < now * 1000:
            fault = "its release was valid until %s" % release["valid_until"]
    except (Refused,) + MALFORMED:
        fault = "it does not say of which release its answer is"
    if fault is not None:
        raise ClientError("Cannot buy from this service: %s; nothing was signed" % fault, "refused", status=asked.status,
                          answer=json_of(asked))
    return release


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


def best_of(words, answer):
    """The best result, where it answers all that was asked; else says what is open, so that nobody pays for another subject."""
    results, why = answer["results"], answer.get("note")
    if why is None and results and not results[0].get("open"):
        return results[0]
    if why is None:
        why = ("it leaves %s open" % ", ".join(map(repr, results[0]["open"])) if results
               else answer.get("hint", "nothing was found"))
    listed = "; ".join("%s: %s" % (one.get("title"), one["request"]) for one in results)
    choice = ". Buy one of these results if it is what you want: %s" % listed if listed else ""
    raise ClientError("Cannot buy an answer to %r: %s; nothing was signed%s" % (words, why, choice), "not_charged",
                      answer=answer)


def paid_usd(payment):
    """What a payment moves, in decimal USD; None where it does not say."""
    try:
        return usd(int(json.loads(base64.b64decode(payment.value))["payload"]["authorization"]["value"]))
    except (ValueError,) + MALFORMED:
        return None


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
