"""Signed receipts of a service (RECEIPTS.md): what was paid for, by whom, and which bytes were delivered."""

import base64
import hashlib
import re

from verify_input import Unusable
from verify_json import MALFORMED, Refused, canonical_bytes, is_number, iso_of, milliseconds, parse
from verify_key_list import DID
from verify_keys import believed, standing_of
from verify_shapes import fits, matching, one_of
from verify_signature import from_base64url, is_signature, usable_key

TEXT_CHARS_MAX, JWS_CHARS_MAX = 65536, 16384
COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
JWS = re.compile(r"(([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+))\.([A-Za-z0-9_-]{86})")
HEADER = {"alg": one_of("EdDSA"), "kid": DID}
PAYLOAD = {"version": one_of(1), "network": matching(r"eip155:[1-9][0-9]{0,17}"),
           "resourceUrl": matching(r"(?=.{1,9000}\Z)https?://[^/?#\s]+/[^#\s]*"), "payer": matching(r"0x[0-9a-f]{40}"),
           "issuedAt": lambda value: is_number(value) and value == int(value) and 1 <= value <= 9999999999,
           "transaction": matching(r"(?s).{1,200}"), "bodyHash": matching(r"sha256:[0-9a-f]{64}")}
REQUEST = re.compile(r"(https?://[^/?#]+)?(/[^?#\s]*)(?:\?([^#\s]*))?", re.IGNORECASE)
PAYER = re.compile(r"0x[0-9a-fA-F]{40}")


# ---- where a receipt stands ---------------------------------------------------------------------------------------


def receipt_in(data):
    """The receipt that saved bytes hold: alone, as {format, signature}, or in the value of PAYMENT-RESPONSE; None for none."""
    try:
        text = data[:TEXT_CHARS_MAX * 4].decode("utf-8").strip()
        if len(text) > TEXT_CHARS_MAX:
            return None
        if COMPACT.fullmatch(text):
            return text
        return signature_in(parse(base64.b64decode(text) if BASE64.fullmatch(text) else text.encode("utf-8")))
    except (Refused,) + MALFORMED:
        return None


def signature_in(value):
    if not isinstance(value, dict):
        return None
    if value.get("format") == "jws" and isinstance(value.get("signature"), str):
        return value["signature"]
    if value.get("success") is not True:
        return None
    for name in ("extensions", "offer-receipt", "info", "receipt"):
        value = value.get(name) if isinstance(value, dict) else None
    return signature_in(value)


# ---- the verdict --------------------------------------------------------------------------------------------------


def judge_receipt(jws, reader):
    """The verdict on a receipt, in words; unlisted is one for which nobody passed the list that names its key."""
    if reader.max_age_ms is not None:
        raise Unusable("--max-age is about a body; leave it out for a receipt")
    signed, did, payload, signature = parts_of(jws)
    if not is_signature(usable_key(did), signed.encode("ascii"), from_base64url(signature)):
        raise Refused("the signature of the receipt is not that of %s" % did)
    if reader.keys is not None:
        check_key(did, payload, reader)
    check_sale(payload, reader)
    words = "receipt of %s for %s, issued at %s, transaction %s on %s; that money moved is for the chain to show" % (
        payload["payer"], payload["resourceUrl"], issued_at(payload), payload["transaction"], payload["network"])
    if reader.keys is None:
        return "unlisted", words + "; no list of keys was passed, and anybody can make a key"
    return "verified", words


def parts_of(jws):
    """What is signed, by which key, what it says, and the signature."""
    found = JWS.fullmatch(jws) if len(jws) <= JWS_CHARS_MAX else None
    if found is None:
        raise Refused("not a compact JWS with an Ed25519 signature")
    header, payload = (parse(from_base64url(part)) for part in found.group(2, 3))
    shape = dict(PAYLOAD, simulated=one_of(True)) if isinstance(payload, dict) and "simulated" in payload else PAYLOAD
    if not fits(header, HEADER) or not fits(payload, shape):
        raise Refused("the receipt has not exactly the members of one, each of its kind")
    if ".".join(to_base64url(canonical_bytes(part)) for part in (header, payload)) != found.group(1):
        raise Refused("the receipt is not written as canonical JSON")
    return found.group(1), header["kid"], payload, found.group(4)


def to_base64url(data):
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def issued_at(payload):
    return iso_of(int(payload["issuedAt"]) * 1000)


def check_key(did, payload, reader):
    """The issuer that the reader trusts lists the key for the time of the receipt."""
    first = reader.keys["keys"][0]["did"]
    trusted = believed(reader, first)
    if not any(key["did"] in trusted for key in reader.keys["keys"]):
        raise Refused("the list of keys is not that of the trusted issuer")
    windows, at = windows_of(did, trusted, reader.keys), int(payload["issuedAt"]) * 1000
    if not windows:
        raise Refused("%s is not a receipt key of the trusted issuer" % did)
    if any(at < milliseconds(one["since"]) for one in windows):
        raise Refused("the issuer lists the key from a later time than %s on" % issued_at(payload))
    if any(one["until"] is not None and at > milliseconds(one["until"]) for one in windows):
        raise Refused("the key of the receipt had ended by %s" % issued_at(payload))


def windows_of(did, trusted, keys):
    """When a receipt key counts: by the newest version of a root, else by all statements of issuer keys that count."""
    if "roots" in keys:
        return [key for key in keys["roots"][-1]["receipt_keys"] if key["did"] == did]
    return [one for one in keys.get("receipt_keys", []) if one["did"] == did and one["signed_by"] in trusted
            and standing_of(keys, one["signed_by"], one["stated_at"])[0] == "valid"]


def check_sale(payload, reader):
    """The bytes, the request and the account are those that the reader knows of."""
    if reader.body is not None and "sha256:" + hashlib.sha256(reader.body).hexdigest() != payload["bodyHash"]:
        raise Refused("the body has another hash than %s, which was delivered" % payload["bodyHash"])
    if reader.expect is not None:
        wanted, paid = request_of(reader.expect), request_of(payload["resourceUrl"])
        if wanted[1] != paid[1] or wanted[0] not in (None, paid[0]):
            raise Refused("paid for %r" % payload["resourceUrl"])
    if reader.payer is not None and reader.payer.lower() != payload["payer"]:
        raise Refused("paid by %s" % payload["payer"])


def request_of(text):
    """The address of the service, where one is named, and path and parameters in order."""
    found = REQUEST.fullmatch(text)
    if found is None:
        raise Refused("%r is no request" % text[:80])
    origin, path, query = found.groups()
    return None if origin is None else origin.lower(), [path] + sorted((query or "").split("&"))
