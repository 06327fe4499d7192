"""Baskets: up to 30 answers that were sold as one. Nobody signs the basket itself, each answer brings its own citation."""

import re

from verify_demands import answer_fault, target_of
from verify_json import Refused
from verify_log import without_proof
from verify_shapes import between, either, fits, matching, one_of, text

REQUESTS_MAX = 30
USD = r"(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?"
PRICE = matching(USD)
UNSOLD = {"request": text, "not_sold": text}
SOLD = {"request": text, "price_usd": PRICE, "answer": lambda value: isinstance(value, dict)}
PARTS = {"total_usd": PRICE, "parts": between(1, either(SOLD, UNSOLD), REQUESTS_MAX)}
BASKET = dict(PARTS, endpoint=one_of("gauge/basket"))
QUOTE = dict(PARTS, parts=between(1, either({"request": text, "price_usd": PRICE}, UNSOLD), REQUESTS_MAX))


def atomic(price):
    """Millionths of a dollar of a decimal price, exactly."""
    if not isinstance(price, str) or not re.fullmatch(USD, price, re.ASCII):
        raise ValueError("Cannot use %r as a price: pass decimal USD as text, such as \"0.10\"" % (price,))
    whole, _, fraction = price.partition(".")
    return int(whole + fraction.ljust(6, "0"))


def usd(amount):
    whole, fraction = divmod(amount, 1000000)
    digits = ("%06d" % fraction).rstrip("0").ljust(2, "0")
    return "%d.%s" % (whole, digits)


def is_basket(body):
    """A delivered basket; another body that only calls itself one is none."""
    return fits(body, BASKET)


def is_sold(part):
    return "answer" in part


def check_basket(basket, judge):
    """Refuses a basket with a false answer, or one to another request; answers what the parts were judged to be.

    judge answers the verdict on one body, as if it had come alone.
    """
    judged = []
    for at, part in enumerate(basket["parts"]):
        if is_sold(part):
            try:
                judged.append(judged_part(part, judge))
            except Refused as error:
                raise Refused("parts.%d: %s" % (at, error)) from error
    if basket["total_usd"] != usd(sum(atomic(part["price_usd"]) for part in basket["parts"] if is_sold(part))):
        raise Refused("total_usd: not the sum of the prices")
    if len({one.signer for one in judged if one.signer is not None}) > 1:
        raise Refused("parts: not signed by one issuer")
    return judged


def judged_part(part, judge):
    """The verdict on an answer; one to a request that is none cannot be compared with it."""
    judged = judge(part["answer"])
    try:
        request = target_of(part["request"])
    except Refused:
        return judged._replace(verdict="unsigned")
    fault = answer_fault(*request, without_proof(part["answer"])[0])
    if fault is not None:
        raise Refused("request: %s" % fault)
    return judged


def basket_fault(basket, requests, quoted, paid):
    """Why a basket is not the one that was paid for, or None: each request in its place, at its price, and no more paid."""
    parts = basket["parts"]
    if len(parts) != len(requests) or len(quoted or []) != len(requests):
        return "the body has %d parts for %d requests, or they were not quoted" % (len(parts), len(requests))
    for at, (part, asked, offer) in enumerate(zip(parts, requests, quoted), 1):
        same = target_of(part["request"]) == target_of(asked) if is_sold(part) else part["request"] == asked
        if not same:
            return "part %d is not what request %d asked for" % (at, at)
        if (part["request"], part.get("price_usd")) != (offer["request"], offer.get("price_usd")):
            return "part %d is not what was quoted for request %d" % (at, at)
    if paid > atomic(basket["total_usd"]):
        return "%s USD were paid for answers of %s USD" % (usd(paid), basket["total_usd"])
    return None
