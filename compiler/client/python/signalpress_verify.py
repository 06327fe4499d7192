#!/usr/bin/env python3
"""Judges what a service of Signalpress sold, with Python's standard library alone.

A second implementation of compiler/format/FORMAT.md, written from that text: strict JSON, canonical bytes, citation,
content hash, record hashes, words of time, the chain of a series, the proof of the log, and keys. No server is asked.

Exit codes: 0 verified, or its citation only; 1 failed; 2 cannot be judged: of an unknown issuer, not signed, not readable,
not proven, or of a key of the past. Keys under a root, blocks of time stamps and the log itself: signalpress verify.
"""

import argparse
import base64
import csv
import datetime
import decimal
import hashlib
import io
import json
import re
import sys
import time
import urllib.parse
from typing import NamedTuple, Optional

BODY_BYTES_MAX = 67108864
SKEW_MS = 300000
# What reading a member that is missing, or of another kind or size than it should be, ends in.
MALFORMED = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError, csv.Error)
csv.field_size_limit(BODY_BYTES_MAX)

class Refused(Exception):
    """A check that fails, in words."""

class Undecided(Exception):
    """What cannot be judged, in words."""

def refuse_if(is_wrong, why):
    if is_wrong:
        raise Refused(why)

def sha256(data):
    return hashlib.sha256(data).digest()


# ---- strict JSON, canonical text, hashes, times: FORMAT.md, section 1 ---------------------------------------------

DEPTH_MAX = 64
WHOLE_MAX = 2 ** 53 - 1
HASH = re.compile(r"sha256:[0-9a-f]{64}")
RESERVED_KEYS = ("__proto__", "constructor", "prototype")
UTC_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?Z", re.ASCII)
EPOCH = datetime.datetime(1970, 1, 1)
HOUR_MS = 3600000
DAY_MS = 24 * HOUR_MS

def parse(data):
    """Strict JSON: no key twice, no number that changes, no lone surrogate, no U+0000."""
    def members(pairs):
        keys = [key for key, _ in pairs]
        refuse_if(len(set(keys)) != len(keys), "a key appears twice in one object")
        refuse_if(any(key in RESERVED_KEYS for key in keys), "a key is reserved")
        return dict(pairs)

    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=members, parse_constant=exact, parse_float=exact)
        canonical(value).encode("utf-8")
        return value
    except MALFORMED + (RecursionError,) as error:
        raise Refused("not strict JSON: %s" % error) from error

def exact(text):
    """The double that a number spells, which must keep it digit for digit; a whole one, as it is used, as an int."""
    value = float(text)
    if value in (float("inf"), float("-inf")) or decimal.Decimal(text) != decimal.Decimal(repr(value)):
        raise Refused("%s is a number that a double cannot keep" % text[:80])
    return int(value) if value.is_integer() else value

def canonical(value, depth=0):
    refuse_if(isinstance(value, (list, dict)) and depth >= DEPTH_MAX, "more than %d open containers" % DEPTH_MAX)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        refuse_if("\0" in value, "U+0000 in a string")
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[%s]" % ",".join(canonical(item, depth + 1) for item in value)
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{%s}" % ",".join("%s:%s" % (canonical(key), canonical(value[key], depth + 1)) for key in keys)

def number(value):
    """Shortest digits that give the same double, laid out as ECMAScript does."""
    if isinstance(value, float) and not value.is_integer():
        is_plain = abs(value) >= 1e-6
        return format(decimal.Decimal(repr(value)), "f") if is_plain else repr(value).replace("e-0", "e-")
    refuse_if(abs(value) > WHOLE_MAX, "an integer beyond 2^53-1")
    return str(int(value))

def canonical_bytes(value):
    return canonical(value).encode("utf-8")

def hash_of(value):
    return "sha256:" + sha256(canonical_bytes(value)).hex()

def is_same(a, b):
    """The same JSON: true is not 1, and 1.0 is."""
    return canonical(a) == canonical(b)

def is_whole(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= WHOLE_MAX

def is_hash(value):
    return isinstance(value, str) and HASH.fullmatch(value) is not None

def milliseconds(text):
    """A time as milliseconds since 1970, or None for any other value."""
    found = UTC_TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        whole = datetime.datetime(*(int(part) for part in found.groups()[:6]))
    except ValueError:
        return None
    return (whole - EPOCH) // datetime.timedelta(milliseconds=1) + int(((found.group(7) or ".") + "000")[1:4])

def instant(text, name):
    """The same of a member that has to be a time."""
    at = milliseconds(text)
    refuse_if(at is None, "%s: not a time" % name)
    return at

def iso(at):
    time_at = EPOCH + datetime.timedelta(milliseconds=at)
    return time_at.isoformat(timespec="milliseconds" if at % 1000 else "seconds") + "Z"


# Members that hold facts or a signed statement under names of their own: no record stands inside.
CLOSED = ("_citation", "_hash_core", "current", "previous", "context")

def objects(value, closed=(), path=()):
    """Every object in a value with its path, outside first; none inside of closed members."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key not in closed and isinstance(item, (dict, list)):
            yield from objects(item, closed, path + (key,))

def named(path, *names):
    """The text of a member inside of a path, like legs.aqi.freshness."""
    return ".".join(map(str, path + names))


# ---- keys as did:key, and Ed25519 signatures (RFC 8032): section 2 ------------------------------------------------

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
DID_CHARS_MAX = 100
P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)

def public_key(did):
    if not isinstance(did, str) or not did.startswith("did:key:z") or len(did) > DID_CHARS_MAX:
        raise Refused("%r is not a did:key" % (did,))
    digits, value = did[len("did:key:z"):], 0
    for char in digits:
        refuse_if(char not in BASE58, "%s is not base58" % did)
        value = value * 58 + BASE58.index(char)
    zeros = len(digits) - len(digits.lstrip("1"))
    data = b"\0" * zeros + value.to_bytes((value.bit_length() + 7) // 8, "big")
    refuse_if(len(data) != 34 or data[:2] != b"\xed\x01", "%s is not an Ed25519 key" % did)
    return data[2:]

def usable_key(did):
    """The key of a DID that somebody may trust: a canonical point, not of small order."""
    data = public_key(did)
    refuse_if(not is_usable(data), "%s is not a usable key" % did)
    return data

def is_usable(data):
    point = decompress(data)
    return point is not None and not is_equal(multiply(8, point), NEUTRAL)

def from_base64url(text):
    refuse_if(not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text), "not base64url")
    return from_base64(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), 0, len(text))

def from_base64(text, least, most):
    """The bytes of base64 in its one spelling, so many of them."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError as error:
        raise Refused("not base64") from error
    if not least <= len(data) <= most or base64.b64encode(data).decode("ascii") != text:
        raise Refused("base64 of another length or spelling")
    return data

def add(a, b):
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    t = 2 * a[3] * b[3] * D % P
    z = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(scalar, point):
    result = NEUTRAL
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result

def is_equal(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0

def decompress(data):
    """The point of 32 bytes, or None for bytes that are no point or not its one spelling."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2 ** 255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P

BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))

def is_signature(key, message, signature):
    if len(signature) != 64:
        return False
    point, commitment = decompress(key), decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or commitment is None or scalar >= ORDER or is_equal(multiply(8, point), NEUTRAL):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return is_equal(multiply(scalar, BASE), add(commitment, multiply(challenge, point)))


# ---- citation and content: sections 2 and 3 -----------------------------------------------------------------------

SEAL = ("record_hash", "signature", "key_id", "issuer_DID", "verify_url")
STATEMENT = ("schema_version", "statement_type", "not_advice", "claim", "fact", "source", "retrieved_at", "status",
             "translated")
CITED_SOURCE = ("issuer", "type", "url", "content_hash", "published_at")
# Members that nobody signs, by the signed member beside them that they follow from.
REQUEST_TIME = {"freshness_basis": ("age_hours_now", "freshness", "freshness_leg", "dead_source"),
                "last_looked_at": ("update_status",), "at_request": ("answered_at",)}
SETTLEMENT_ECHOES = ("cutoff_time", "market_or_event")
SERIES_CUT = ("days", "count", "before", "rows")

def is_series(body):
    return body.get("tier") == "history-series"

def is_settlement(body):
    return all(name in body for name in ("basis", "valid_from", "valid_until", "valid_days"))

def echoes_of(body):
    """The members that only repeat the request: nobody signs them."""
    names = SETTLEMENT_ECHOES if is_settlement(body) else ("days",) if is_series(body) else ()
    return {name: body[name] for name in names if name in body}

def key_id_of(did):
    return "%s#%s" % (did, did.split(":")[-1])

def base_of(citation):
    """The address of the service that signed."""
    return citation["verify_url"][:-len("/v/" + citation["record_hash"])]

def cited_target(citation):
    """Path and query of the request that the body answers."""
    return citation["source"]["url"][len(base_of(citation)):]

def check_citation(body, citation):
    """Members, hash, content hash, addresses and signature of the citation of a body."""
    check_members(citation)
    statement = canonical_bytes({name: value for name, value in citation.items() if name not in SEAL})
    if "sha256:" + sha256(statement).hex() != citation["record_hash"]:
        raise Refused("_citation.record_hash: the statement gives another hash")
    did, url = citation["issuer_DID"], citation["source"]["url"]
    if not citation["verify_url"].endswith("/v/" + citation["record_hash"]):
        raise Refused("_citation.verify_url: not of this record hash")
    if url is not None and not url.startswith(base_of(citation) + "/"):
        raise Refused("_citation.verify_url: not at the address of source.url")
    # Another issuer may name its key as it likes, unless that is a DID URL.
    is_of_issuer = citation["key_id"].startswith(did + "#") or not citation["key_id"].startswith("did:")
    if citation["key_id"] != key_id_of(did) if "claim" in citation else not is_of_issuer:
        raise Refused("_citation.key_id: not a key of the issuer")
    if "claim" in citation and hash_of(content_of(body)) != citation["source"]["content_hash"]:
        raise Refused("_citation.source.content_hash: the body gives another hash")
    if not is_signature(usable_key(did), statement, from_base64url(citation["signature"])):
        raise Refused("_citation.signature: not a signature over the statement")

def check_members(citation):
    """Exactly the members of a citation, each of its kind; only another issuer's form lacks a claim."""
    if not isinstance(citation, dict) or set(citation) | {"claim"} != set(STATEMENT + SEAL):
        raise Refused("_citation: not exactly the members of a citation")
    source = citation["source"]
    if not isinstance(source, dict) or set(source) != set(CITED_SOURCE):
        raise Refused("_citation.source: not exactly the members of a source")
    nullable = ("published_at",) if "claim" in citation else ("published_at", "url")
    texts = [value for name, value in citation.items() if name not in ("source", "not_advice", "translated")]
    texts += [value for name, value in source.items() if not (name in nullable and value is None)]
    refuse_if(not all(isinstance(text, str) and text != "" for text in texts), "_citation: a member is no text")
    fixed = [citation["schema_version"], citation["statement_type"], citation["not_advice"]]
    if not is_same(fixed, ["1.0", "description", True]) or not isinstance(citation["translated"], bool):
        raise Refused("_citation: not a description of version 1.0 that is no advice")
    refuse_if(not is_hash(citation["record_hash"]) or not is_hash(source["content_hash"]), "_citation: not a hash")

def content_of(body):
    """What the content hash covers."""
    left_out = ("_citation", "_proof") + tuple(echoes_of(body)) + (SERIES_CUT if is_series(body) else ())
    return without_words({name: value for name, value in body.items() if name not in left_out})

def without_words(value):
    if isinstance(value, list):
        return [without_words(item) for item in value]
    if not isinstance(value, dict):
        return value
    hidden = [name for basis, names in REQUEST_TIME.items() if basis in value for name in names]
    return {name: without_words(item) for name, item in value.items() if name not in hidden}


# ---- record hashes: section 3 -------------------------------------------------------------------------------------

CORE = ("signal_id", "entity", "snapshot_date", "observed_at", "current", "source_ref", "source_tier", "sources",
        "lifecycle")
SOURCE_CORE = ("name", "weight", "independent", "relay_of")
SOURCED = ("source_ref", "source_tier")
CAPTURED = ("capture_date", "observed_at")
DEMAND = ("calls_30d", "unique_payers_30d", "demand_class", "demand_depth", "endpoints", "endpoints_by_class",
          "last_called_at")
CORES = {
    "stablecoin.death": ("confirmed_dead_at", "symbol", "death_type", "pre_death_observed_at", "first_distress_at",
                         "lifespan_days", "pre_death_payload", "death_context") + SOURCED,
    "trust.service": ("service_id",) + CAPTURED + ("model", "domain", "first_endpoint", "score_total", "liveness_state",
                                                   "liveness_streak", "baseline_delta") + SOURCED,
    "mcp.server": ("server_id",) + CAPTURED + ("status",) + SOURCED,
    "stable.coin": ("coin_id",) + CAPTURED + ("symbol", "current") + SOURCED,
    "filing": ("row", "entity", "accession", "form", "items", "event_time", "filing_date", "disclosure_time",
               "acceptance_basis", "observed_at", "snapshot_date", "source") + SOURCED,
    "document": ("operation", "params", "title", "text", "rows", "observed_at") + SOURCED,
}

def core_of(item):
    """The hash core of an object, or None where the object does not carry one."""
    if "_hash_core" in item:
        return given_core(item, item["_hash_core"])
    for kind, names in CORES.items():
        names += DEMAND if kind == "trust.service" and item.get("model") == "demand-v1" else ()
        if all(name in item for name in names):
            return dict({name: item[name] for name in names}, hash_core_version=3)
    if not all(name in item for name in CORE):
        return None
    refuse_if(not is_same(item.get("hash_core_version", 3), 3), "hash_core_version: not 3")
    sources = item["sources"]
    if sources is not None:
        if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
            raise Refused("sources: not a list of objects")
        sources = [{name: source[name] for name in SOURCE_CORE if name in source} for source in sources]
    return dict({name: item[name] for name in CORE}, sources=sources, hash_core_version=3)

def given_core(item, core):
    refuse_if(not isinstance(core, dict) or core.get("hash_core_version") != 3, "_hash_core: not an object of version 3")
    for subject in [core[name] for name in ("service_id", "server_id", "coin_id") if name in core][:1]:
        refuse_if(not is_same(item.get("entity", item.get("service", subject)), subject), "_hash_core: of another row")
    for name in set(core) & set(item) - {"hash_core_version"}:
        is_nested = isinstance(core[name], (dict, list)) and isinstance(item[name], (dict, list))
        refuse_if(not is_nested and not is_same(core[name], item[name]), "_hash_core.%s: differs from the row" % name)
    return core

def check_record_hashes(body):
    count = 0
    for path, item in objects(body, CLOSED):
        if item.get("record_hash") is None:
            continue
        core = core_of(item)
        if not is_hash(item["record_hash"]) or (core is not None and hash_of(core) != item["record_hash"]):
            raise Refused("%s: the hash core gives another hash" % named(path, "record_hash"))
        count += core is not None
    return count


# ---- words of time: section 4 -------------------------------------------------------------------------------------

BOUNDS = {"hourly": (3, 24, 168), "daily": (24, 192, 1440), "weekly": (192, 744, 4380), "monthly": (1080, 2160, 8760),
          "quarterly": (3000, 6600, 17520), "yearly": (9000, 18000, 43800), "as-events": (744, 8760, 17520)}
DUE_HOURS = {"hourly": 3, "daily": 48, "weekly": 216, "monthly": 1440, "quarterly": 3600, "yearly": 10000}
LOOK_HOURS = dict(DUE_HOURS, **{"as-events": 744})
RANKS = ("fresh", "recent", "stale", "stale")
BASES = {"cadence=%s; fresh<=%dh; recent<=%dh; dead_source>%dh; age_basis=request-time(now minus observed_at)"
         % ((cadence,) + bounds): cadence for cadence, bounds in BOUNDS.items()}
RULE = re.compile(r"the worst of ([1-9]\d{0,3}) (legs|readings), each by its own freshness_basis", re.ASCII)
AT_REQUEST = ("age_hours_now", "answered_at", "dead_source", "freshness", "freshness_leg", "legs[].freshness",
              "update_status")

class Part(NamedTuple):
    """What is judged by a basis of its own."""
    name: str
    cadence: str
    at: int
    text: str

    def rank(self, now):
        """0 fresh, 1 recent, 2 stale, 3 of a dead source."""
        return sum(max(0, now - self.at) > hours * HOUR_MS for hours in BOUNDS[self.cadence])

def part_of(name, holder, text):
    basis, at = holder.get("freshness_basis"), milliseconds(text)
    cadence = BASES.get(basis) if isinstance(basis, str) else None
    return None if cadence is None or at is None else Part(name, cadence, at, text)

def parts_in(node, kind):
    if kind == "legs":
        return [part_of(name, leg, leg.get("observed_at")) for name, leg in node["legs"].items()]
    return [part_of(reading["signal_id"], reading["provenance"], reading["provenance"].get("oldest_leg_as_of"))
            for reading in node["readings"]]

def provenance_words(node, provenance, now):
    """Age, freshness and their like at an instant; none where nothing signed gives them."""
    own, rule = part_of("", provenance, provenance.get("oldest_leg_as_of")), provenance.get("freshness_rule")
    if own is None:
        return {}
    parts = [own]
    if rule is not None:
        found = RULE.fullmatch(rule)
        parts = [] if found is None else parts_in(node, found.group(2))
        if found is None or None in parts or len(parts) != int(found.group(1)):
            raise Refused("freshness_rule: not about the parts of the body")
    worst = min(parts, key=lambda part: (-part.rank(now), part.at, part.name))
    tenth = HOUR_MS // 10
    tenths = (2 * max(0, now - own.at) + tenth) // (2 * tenth)
    words = {"age_hours_now": tenths / 10, "freshness": RANKS[worst.rank(now)]}
    if rule is not None:
        words["freshness_leg"] = worst.name
    if worst.rank(now) == 3:
        words["dead_source"] = "no official reading since " + worst.text
    return words

def status_words(record, now):
    """The update_status of a record at an instant; none where nothing signed gives it."""
    cadence, observed, looked = (record.get(name) for name in ("official_cadence", "observed_at", "last_looked_at"))
    observed_ms, looked_ms = milliseconds(observed), milliseconds(looked)
    if not isinstance(cadence, str) or cadence not in BOUNDS or observed_ms is None or looked_ms is None:
        return {}
    due = observed_ms + DUE_HOURS[cadence] * HOUR_MS if cadence in DUE_HOURS else None
    counts = looked_ms + LOOK_HOURS[cadence] * HOUR_MS
    is_late = due is not None and looked_ms > due
    state, days = "unknown", None
    if is_late and now <= counts:
        state, days = "overdue", max(0, (now - due) // DAY_MS)
        text = "overdue for a source that publishes %s" % cadence
    elif not is_late and now <= (counts if due is None else due):
        state, text = "on_schedule", "published as events occur" if due is None else "on schedule (%s)" % cadence
    elif is_late or due is None:
        text = "unknown: nobody has looked for more than %d hours (%s)" % (LOOK_HOURS[cadence], cadence)
    else:
        text = "unknown: nobody has looked since the next %s reading was due" % cadence
    text += "; last official reading %s, last looked at %s" % (observed, looked)
    return {"update_status": {"state": state, "official_cadence": cadence, "overdue_days": days, "text": text}}

def answered_at(body):
    """When a body says that it was answered, in milliseconds; None where it says nothing."""
    provenance = body.get("provenance")
    text = provenance.get("answered_at") if isinstance(provenance, dict) else None
    at = milliseconds(text)
    if text is not None and (at is None or iso(at) != text or at % 1000):
        raise Refused("provenance.answered_at: not a time in whole seconds")
    return at

def check_words(body):
    """Makes every word of time again from signed members and the instant of the answer that it stands in; returns those
    instants. An answer is the body, or a row of a watchlist: what is inside of one has its instant.
    """
    instants, owed, start = [], {}, None
    for path, node in objects(body, CLOSED):
        provenance = node.get("provenance")
        if not isinstance(provenance, dict) or not ("freshness_basis" in provenance or "at_request" in provenance):
            continue
        is_inside = start is not None and path[:len(start)] == start
        if not is_inside:
            start = path
            instants.append(answered_at(node))
        listed = provenance.get("at_request")
        if not isinstance(listed, list) or listed != [name for name in AT_REQUEST if name in listed]:
            raise Refused("%s: missing, or not a sorted list of known words" % named(path, "provenance.at_request"))
        if instants[-1] is None or ("answered_at" in listed) == is_inside:
            raise Refused("%s: missing, or not listed in at_request" % named(path, "provenance.answered_at"))
        owe(owed, path, node, listed, instants[-1])
    refuse_if(not instants and answered_at(body) is not None, "provenance.answered_at: there, and no list names it")
    for path, holder in objects(body):
        said = {name: holder[name] for basis, names in REQUEST_TIME.items() if basis in holder
                for name in names if name in holder}
        right = owed.get(id(holder), {})
        for name in sorted(set(said) | set(right)):
            fault = ("missing" if name not in said else "not owed" if name not in right
                     else None if is_same(said[name], right[name]) else "does not follow from answered_at")
            refuse_if(fault is not None, "%s: %s" % (named(path, name), fault))
    return instants

def is_listed(body):
    """Whether some provenance says which words of time it owes."""
    return any("at_request" in node["provenance"] for _, node in objects(body, CLOSED)
               if isinstance(node.get("provenance"), dict))

def is_format_2(body):
    """Whether a body is of the format before: nobody can take the signed list of its words out of a newer one."""
    provenance, proof = body.get("provenance"), body.get("_proof")
    if isinstance(provenance, dict):
        return "at_request" not in provenance
    return isinstance(proof, str) and not re.match(r"[^\n]*\nextra ", proof)

def owe(owed, path, node, listed, at):
    provenance, legs = node["provenance"], node.get("legs")
    words = dict(provenance_words(node, provenance, at), answered_at=iso(at), **status_words(node, at))
    made = {name: words[name] for name in listed if name in words}
    lacking = set(listed) - set(words) - {"dead_source", "legs[].freshness"}
    status = {name: made.pop(name) for name in ("update_status",) if name in made}
    owed[id(node)], owed[id(provenance)] = status, made
    if "legs[].freshness" in listed:
        parts = parts_in(node, "legs") if isinstance(legs, dict) else [None]
        lacking |= {"legs[].freshness"} if None in parts else set()
        for part in filter(None, parts):
            owed[id(legs[part.name])] = {"freshness": RANKS[part.rank(at)]}
    if lacking:
        raise Refused("%s: %s follows from nothing that is signed" % (
            named(path, "provenance", "at_request"), ", ".join(sorted(lacking))))

def check_order(body, collected, entry, at, now):
    """Collected and looked at, then released, then answered, then read, each with some grace for clocks."""
    looks = [(named(path, "last_looked_at"), node["last_looked_at"]) for path, node in objects(body, CLOSED)
             if "last_looked_at" in node]
    early = [(name, instant(text, name)) for name, text in looks + collected]
    steps = [("as_of of the proof", entry and milliseconds(entry["as_of"])), ("answered_at", at), ("your clock", now)]
    later = [step for step in steps if step[1] is not None]
    for (name, before), (after, limit) in [(one, later[0]) for one in early] + list(zip(later, later[1:])):
        refuse_if(before > limit + SKEW_MS, "%s: after %s" % (name, after))


# ---- signed notes and the proof of the log (RFC 6962, C2SP): section 5 --------------------------------------------

NOTE_CHARS_MAX = 131072
EXTRA_BYTES_MAX = 4096
PROOF_LINE = "c2sp.org/tlog-proof@v1"
POSITION = re.compile(r"0|[1-9][0-9]{0,15}")
LOG_KEY, WITNESS_KEY = 1, 4
SECONDS_MAX = 253402300799
ENTRY = {"all", "as_of", "head", "new", "sequence", "valid_until"}
# A name holds no space of Unicode, no control character and no plus; what \s means differs between languages.
SPACES = "\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
SIGNATURE = re.compile("\u2014 ([^%s+]+) ([A-Za-z0-9+/]+={0,2})" % SPACES)

class Note(NamedTuple):
    """The text of a C2SP signed note, and of each signature line the name and the bytes, whoever signed."""
    text: str
    lines: list

    def under(self, name, kind, key):
        """The signatures that stand under a key and its name."""
        digest = key_hash(name, kind, key)
        return [data[4:] for signer, data in self.lines if signer == name and data[:4] == digest]

def key_hash(name, kind, key):
    return sha256(name.encode("utf-8") + b"\n" + bytes([kind]) + key)[:4]

def read_note(note):
    head, cut, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not cut or len(note.encode("utf-16-le")) > 2 * NOTE_CHARS_MAX or lines.pop() != "" or not 1 <= len(lines) <= 100:
        raise Refused("checkpoint: not a signed note")
    found = [SIGNATURE.fullmatch(line) for line in lines]
    refuse_if(None in found, "checkpoint: a line that is no signature")
    return Note(head + "\n", [(one.group(1), from_base64(one.group(2), 5, NOTE_CHARS_MAX)) for one in found])

def stated_tree(text):
    """Origin, size and root of the tree that the text of a checkpoint states; it has no extension lines."""
    origin, size, root, *more = text.split("\n")
    refuse_if(more != [""], "checkpoint: not of three lines")
    return origin, position(size), from_base64(root, 32, 32)

def position(digits):
    refuse_if(not POSITION.fullmatch(digits) or int(digits) > WHOLE_MAX, "%r is not a position" % digits[:80])
    return int(digits)

def leads_to(root, leaf, index, size, hashes):
    """Whether a path, the sibling of the leaf first, leads from a leaf hash to the root of a tree of so many leaves."""
    start, end, sides = 0, size, []
    while end - start > 1:
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        sides.append(index < middle)
        start, end = (start, middle) if index < middle else (middle, end)
    if not 0 <= index < size or len(sides) != len(hashes):
        return False
    node = leaf
    for is_left, sibling in zip(reversed(sides), hashes):
        node = sha256(b"\x01" + (node + sibling if is_left else sibling + node))
    return node == root

class Proof(NamedTuple):
    """What a proof shows: the entry, the keys that signed its checkpoint, when witnesses cosigned it, and what to tell."""
    entry: dict
    signers: list
    cosigned: dict
    notes: list

def check_proof(body, proof, reader):
    """That a body was the current answer to its request, by a log of the service that its citation names."""
    head, cut, note_text = proof.partition("\n\n") if isinstance(proof, str) else ("", "", "")
    first, *rest = head.split("\n")
    if not cut or first != PROOF_LINE or [line[:6] for line in rest[:2]] != ["extra ", "index "]:
        raise Refused("_proof: not a %s text with extra and index" % PROOF_LINE)
    extra = from_base64(rest[0][6:], 1, EXTRA_BYTES_MAX)
    index, hashes = position(rest[1][6:]), [from_base64(line, 32, 32) for line in rest[2:]]
    note, citation = read_note(note_text), body["_citation"]
    origin, size, root = stated_tree(note.text)
    if origin != re.sub(r"^[a-z]+://", "", base_of(citation)).rstrip("/") + "/log":
        raise Refused("_proof: of the log %r, which is not that of the body" % origin)
    refuse_if(reader.log not in (None, origin), "_proof: of the log %r, and you named %r" % (origin, reader.log))
    entry_bytes, place, path = opened_extra(extra)
    if not leads_to(root, sha256(b"\x00" + entry_bytes), index, size, hashes):
        raise Refused("_proof: the entry is not in the log")
    entry = parse_entry(entry_bytes)
    leaf = sha256(b"\x00" + canonical_bytes([cited_target(citation), citation["record_hash"]]))
    whole = entry["all"]
    if not leads_to(bytes.fromhex(whole["root"][len("sha256:"):]), leaf, place, whole["count"], path):
        raise Refused("_proof: the body is not the answer to its request in that release")
    signers = checkpoint_signers(note, origin, citation["issuer_DID"], reader)
    return Proof(entry, signers, *cosignatures(note, milliseconds(entry["as_of"]), citation["issuer_DID"], reader))

def opened_extra(extra):
    entry_bytes, _, rest = extra.partition(b"\n")
    digits, cut, path = rest.partition(b"\n")
    refuse_if(not cut or len(path) % 32, "_proof: its extra is not an entry, a position and a path")
    return entry_bytes, position(digits.decode("latin-1")), [path[at:at + 32] for at in range(0, len(path), 32)]

def parse_entry(data):
    entry = parse(data)
    if not isinstance(entry, dict) or set(entry) != ENTRY or canonical_bytes(entry) != data:
        raise Refused("_proof: no entry of a release")
    for tree in (entry["all"], entry["new"]):
        if set(tree) != {"count", "root"} or not is_whole(tree["count"]) or not is_hash(tree["root"]):
            raise Refused("_proof: the entry has no root over its statements")
    refuse_if(not is_hash(entry["head"]) or not is_whole(entry["sequence"], 1), "_proof: the entry names no release")
    instant(entry["as_of"], "as_of of the entry")
    if entry["valid_until"] is not None:
        instant(entry["valid_until"], "valid_until of the entry")
    return entry

def checkpoint_signers(note, origin, did, reader):
    """The trusted keys that signed; each known key that stands under it has to hold."""
    signers = []
    for known in reader.known(did):
        key = public_key(known)
        lines = note.under(origin, LOG_KEY, key)
        # A key has one line: of several none counts, as none of another length does.
        if len(lines) != 1 or len(lines[0]) != 64:
            continue
        if not is_signature(key, note.text.encode("utf-8"), lines[0]):
            raise Refused("checkpoint: the signature of %s does not hold" % known)
        signers.append(known)
    refuse_if(not any(known in reader.trusted(did) for known in signers), "checkpoint: not signed by a key you trust")
    return [known for known in signers if known in reader.trusted(did)]

def cosignatures(note, as_of, did, reader):
    """When each witness of the reader cosigned, as far as that counts, and what is told of the others."""
    cosigned, notes, logs = {}, [], [public_key(each) for each in reader.known(did)]
    for name, key in reader.witnesses:
        for data in note.under(name, WITNESS_KEY, key):
            seconds = int.from_bytes(data[:8], "big")
            signed = ("cosignature/v1\ntime %d\n" % seconds + note.text).encode("utf-8")
            if len(data) != 72 or not 1 <= seconds <= SECONDS_MAX or not is_signature(key, signed, data[8:]):
                raise Refused("checkpoint: the cosignature of %s does not hold" % name)
            if key in logs or note.under(note.text.split("\n")[0], LOG_KEY, key):
                notes.append("the witness %s is the log itself, and does not count" % name)
            elif as_of - SKEW_MS <= seconds * 1000 <= reader.now + SKEW_MS:
                cosigned[name, key] = min(seconds * 1000, cosigned.get((name, key), seconds * 1000))
            else:
                notes.append("the cosignature of %s at %s is of before the release or still to come, and does not count"
                             % (name, iso(seconds * 1000)))
    return cosigned, notes

def read_witness(text):
    """Name and public key of a witness, from its verifier key (C2SP signed-note, tlog-cosignature)."""
    found = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+(.+)", text)
    refuse_if(found is None, "not <name>+<8 hex digits>+<base64>")
    name, data = found.group(1), from_base64(found.group(3), 33, 33)
    if data[0] != WITNESS_KEY or key_hash(name, WITNESS_KEY, data[1:]).hex() != found.group(2) or not is_usable(data[1:]):
        raise Refused("no usable key of a witness, or its hash is not that of its name and key")
    return name, data[1:]

TRUST = {"format", "url", "issuers", "roots", "log", "witnesses", "max_age_hours", "keys", "seen"}

def read_trust(data):
    """What a reader has to be given of a file that `signalpress trust init` wrote, by name."""
    refuse_if(len(data) > 4 * LIST_BYTES_MAX, "the trust file is too long")
    try:
        given = parse(data)
        if set(given) != TRUST or given["format"] != "signalpress-trust/1":
            raise Refused("the trust file has not exactly the members of one")
        refuse_if(given["roots"] or not given["issuers"], "the trust file names no issuer; judge with signalpress verify")
        hours, keys = given["max_age_hours"], given["keys"]
        return {"issuers": [usable_key(did) and did for did in given["issuers"]], "log": given["log"].split("+")[0],
                "keys": None if keys is None else read_keys(canonical_bytes(keys)),
                "witnesses": demanded_witnesses(given["witnesses"]),
                "max_age_ms": None if hours is None else float(hours) * HOUR_MS}
    except MALFORMED as error:
        raise Refused("the trust file is malformed: %r" % error) from error

def demanded_witnesses(lines):
    """The witnesses of a tlog-policy that demands all of them, or nobody."""
    named, groups, quorum = {}, {}, "none"
    for word, *rest in filter(None, (line.split() for line in lines)):
        if word == "witness":
            named[rest[0]] = read_witness(rest[1])
        elif word == "group":
            groups[rest[0]] = rest[2:] if rest[1] in ("all", str(len(rest[2:]))) else []
        elif word == "quorum":
            quorum = rest[0]
    names = [] if quorum == "none" else groups.get(quorum, [quorum])
    if any(name not in named for name in names) or (quorum != "none" and not names):
        raise Refused("its quorum is not a group of all of some witnesses; judge it with signalpress verify")
    return tuple(named[name] for name in names)


# ---- series, also as signed CSV: section 6 ------------------------------------------------------------------------

SERIES_COLUMNS = ("snapshot_date", "observed_at", "data_age_hours", "current", "band", "record_hash")
CORE_COLUMNS = SERIES_COLUMNS + ("_hash_core",)
CHAIN_ORIGIN = {"rows": 0, "snapshot_date": None, "chain": "sha256:" + "0" * 64}
# What a spreadsheet would run as a formula has one apostrophe more in front.
FORMULA = re.compile(r"'*[=+\-@\t\r]")

def check_series(body):
    """The rows lead from the state before them to the signed end of the chain, and reach back far enough."""
    rows, before, retained = body["rows"], body["before"], body["retained"]
    if not isinstance(before, dict) or set(before) != set(CHAIN_ORIGIN) or not is_whole(before["rows"]):
        raise Refused("before: no state of a chain")
    refuse_if(before["rows"] == 0 and not is_same(before, CHAIN_ORIGIN), "before: not the first state of a chain")
    end = before
    for row in rows:
        bare = {name: row[name] for name in row if name != "_hash_core"}
        if set(bare) != set(SERIES_COLUMNS) or ("_hash_core" in row) != ("_hash_core" in rows[0]):
            raise Refused("rows: not rows of exactly the columns of a series, all with their cores or none")
        if "_hash_core" in row:
            check_row_core(body, row)
        end = {"rows": end["rows"] + 1, "snapshot_date": row["snapshot_date"], "chain": hash_of([end, bare])}
    if not rows or not is_same([end["rows"], end["chain"]], [retained["rows"], retained["chain"]]):
        raise Refused("rows: do not lead to the signed end of the chain")
    if not is_same(body["count"], len(rows)) or not is_whole(body["days"], 1):
        raise Refused("count, days: not that of the rows, or no number of days")
    start = instant(end["snapshot_date"], "snapshot_date") - (body["days"] - 1) * DAY_MS
    if any(instant(row["snapshot_date"], "snapshot_date") < start for row in rows):
        raise Refused("rows: one is older than %d days" % body["days"])
    is_whole_chain = before["rows"] == 0 or before["chain"] == retained.get("older_chain")
    if not is_whole_chain and instant(before["snapshot_date"], "before.snapshot_date") >= start:
        raise Refused("rows: some of the last %d days are missing" % body["days"])

def check_row_core(body, row):
    """The core of a row, which the chain does not hash, is that of this very reading."""
    core = row["_hash_core"]
    reading = dict({name: row[name] for name in ("snapshot_date", "observed_at", "current")},
                   signal_id=body["signal_id"], entity=body["entity"], hash_core_version=3)
    if set(core) != set(CORE) | {"hash_core_version"} or not is_same({name: core[name] for name in reading}, reading):
        raise Refused("_hash_core: not that of its row")

def series_of_csv(data):
    """The JSON answer in the first line, with the rows of the table after it."""
    head, end, table = data.partition(b"\r\n")
    # JSON may hold a bare CR or LF between its words, where other readers of CSV would end the line.
    refuse_if(b"\r" in head or b"\n" in head, "the first line has a line end inside")
    body = parse(head[2:])
    if not end or not isinstance(body, dict) or body.get("rows") != []:
        raise Refused("the first line is not the answer of a series without its rows")
    columns, *lines = csv_lines(table.decode("utf-8"))
    refuse_if(columns not in (list(SERIES_COLUMNS), list(CORE_COLUMNS)), "the second line is not its columns")
    return dict(body, rows=[row_of(columns, cells) for cells in lines])

def csv_lines(text):
    """The cells of each line, which have one spelling, so that no other reader finds other cells in it."""
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if "".join(",".join(map(cell_text, map(plain_text, cells))) + "\r\n" for cells in lines) != text:
        raise Refused("cells in another spelling, or a last line without an end")
    return [list(map(plain_text, cells)) for cells in lines]

def plain_text(text):
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text

def cell_text(text):
    shown = "'" + text if FORMULA.match(text) else text
    return '"%s"' % shown.replace('"', '""') if re.search(r'[",\r\n]', shown) else shown

def row_of(columns, cells):
    refuse_if(len(cells) != len(columns), "a line has not the columns of a series")
    row = dict(zip(columns, cells))
    for name in ("data_age_hours", "current", "_hash_core"):
        if name in row:
            row[name] = parse(row[name].encode("utf-8"))
    if canonical(row["data_age_hours"]) != cells[columns.index("data_age_hours")]:
        raise Refused("data_age_hours: not a number in its one spelling")
    return dict(row, band=row["band"] or None)


# ---- keys: section 7 ----------------------------------------------------------------------------------------------

LIST_BYTES_MAX = 1048576
KEYS_MAX = 256
ROTATION = {"type", "old_did", "new_did", "stated_at", "valid_from", "overlap_until", "signature"}
REVOCATION = {"type", "did", "revoked_from", "stated_at", "signed_by", "signature"}
RECEIPT_KEY = {"type", "did", "since", "until", "stated_at", "signed_by", "signature"}
KEY = {"did", "key_id", "valid_from", "valid_until", "revoked_from", "statement"}
TIMES = ("stated_at", "valid_from", "overlap_until", "revoked_from", "since", "until")

def read_keys(data):
    """Reads a list of keys and derives it again; refuses one that does not follow from its statements."""
    refuse_if(len(data) > LIST_BYTES_MAX, "the list of keys is longer than %d bytes" % LIST_BYTES_MAX)
    given = parse(data)
    if isinstance(given, dict) and ("roots" in given or given.get("format") == "signalpress-keys/2"):
        raise Refused("root keys stand above this list; judge it with signalpress verify")
    try:
        return checked_keys(given)
    except MALFORMED as error:
        raise Refused("the list of keys is malformed: %r" % error) from error

def checked_keys(given):
    keys, revocations, receipts = given["keys"], given["revocations"], given.get("receipt_keys", [])
    if set(given) - {"receipt_keys"} != {"format", "keys", "revocations"} or given["format"] != "signalpress-keys/1":
        raise Refused("the list of keys has not exactly the members of one")
    if any(set(key) != KEY for key in keys) or not 1 <= len(keys) <= KEYS_MAX or len(revocations + receipts) > KEYS_MAX:
        raise Refused("the list of keys has no key, too many, or one with other members")
    rotations = [key["statement"] for key in keys[1:]]
    for statements, kind, names in ((rotations, "rotation", ROTATION), (revocations, "revocation", REVOCATION),
                                    (receipts, "receipt_key", RECEIPT_KEY)):
        for statement in statements:
            check_statement(statement, kind, names)
    dids = [key["did"] for key in keys]
    refuse_if(len(set(dids)) != len(dids) or set(dids) & {one["did"] for one in receipts}, "the list names a key twice")
    for did in dids + [one["did"] for one in receipts]:
        usable_key(did)
    if not is_same(keys, derived_keys(dids[0], rotations, revocations)):
        raise Refused("the keys of the list do not follow from its statements")
    for old, rotation in zip(keys, rotations):
        check_rotation(rotation, old)
    return given

def check_statement(statement, kind, names):
    """A statement has its members, times that are times, and the signature of its key over all others."""
    refuse_if(set(statement) != names or statement["type"] != kind, "a %s has not exactly its members" % kind)
    for name in set(TIMES) & names:
        if not (name == "until" and statement[name] is None):
            instant(statement[name], name)
    did = statement["old_did"] if kind == "rotation" else statement["signed_by"]
    signed = canonical_bytes({name: value for name, value in statement.items() if name != "signature"})
    if not is_signature(usable_key(did), signed, from_base64url(statement["signature"])):
        raise Refused("the signature of a %s is not that of %s" % (kind, did))

def derived_keys(first, rotations, revocations):
    """The keys that the statements make, the oldest first."""
    dids = [first] + [rotation["new_did"] for rotation in rotations]
    revoked = revoked_from(dids, revocations)
    starts = [None] + [rotation["valid_from"] for rotation in rotations]
    ends = [rotation["overlap_until"] for rotation in rotations] + [None]
    return [{"did": did, "key_id": key_id_of(did), "valid_from": starts[at], "valid_until": ends[at],
             "revoked_from": revoked[at], "statement": ([None] + rotations)[at]} for at, did in enumerate(dids)]

def revoked_from(dids, revocations):
    """A key revokes itself, and a later key an earlier one, unless it was revoked itself by then; the earliest counts."""
    revoked = [None] * len(dids)
    for at in reversed(range(len(dids))):
        signed = [(one, dids.index(one["signed_by"])) for one in revocations
                  if one["did"] == dids[at] and one["signed_by"] in dids[at:]]
        counted = [one["revoked_from"] for one, signer in signed
                   if signer == at or not is_over(one["stated_at"], revoked[signer])]
        revoked[at] = min(counted, key=milliseconds, default=None)
    return revoked

def is_over(text, limit):
    return limit is not None and milliseconds(text) >= milliseconds(limit)

def check_rotation(rotation, old):
    """The key before announces the next one, unless it is revoked by then, and no time is left without a key."""
    if rotation["old_did"] != old["did"] or is_over(rotation["stated_at"], old["revoked_from"]):
        raise Refused("%s was not announced by the key before it, or by a revoked one" % rotation["new_did"])
    start = milliseconds(rotation["valid_from"])
    if old["valid_from"] is not None and start < milliseconds(old["valid_from"]):
        raise Refused("%s is valid before the key that announced it" % rotation["new_did"])
    if milliseconds(rotation["overlap_until"]) < start:
        raise Refused("there is a time without a valid key before %s" % rotation["new_did"])

class Reader(NamedTuple):
    """What a body is judged by: trusted DIDs, the clock in milliseconds since 1970, and what read_keys, read_witness and
    read_request answer. Without an issuer nothing is verified; without needs_proof a body is taken without its proof.
    log is the origin of the log that a proof has to be of, max_age_ms the longest age of an observation.
    """
    issuers: list
    now: int
    keys: Optional[dict] = None
    witnesses: tuple = ()
    expect: Optional[str] = None
    needs_proof: bool = True
    log: Optional[str] = None
    max_age_ms: Optional[float] = None

    def listed(self):
        return [] if self.keys is None else self.keys["keys"]

    def trusted(self, named_did):
        """A trusted key and all after it in the list; whoever trusts nobody asks for the key that a body names."""
        chosen = self.issuers or [named_did]
        dids = [key["did"] for key in self.listed()]
        first = next((at for at, did in enumerate(dids) if did in chosen), len(dids))
        return list(chosen) + dids[first:]

    def known(self, named_did):
        """The trusted keys, and all others of the list."""
        return dict.fromkeys(self.trusted(named_did) + [key["did"] for key in self.listed()])

    def window(self, did):
        """From when until when a key is valid, and its revocation; None for no limit. A key of no list is valid always."""
        at = next((at for at, key in enumerate(self.listed()) if key["did"] == did), None)
        if at is None:
            return None, None, None
        key, before = self.listed()[at], self.listed()[at - 1] if at > 0 else {}
        start, until, revoked = (milliseconds(key[name]) for name in ("valid_from", "valid_until", "revoked_from"))
        if start is not None and before.get("revoked_from") is not None:
            start = min(start, milliseconds(before["revoked_from"]))
        return start, until, revoked

    def fault_at(self, did, at):
        """Why a key was not valid at a time; None where it was, or where no list names it."""
        start, until, revoked = self.window(did)
        if revoked is not None and at >= revoked:
            return "revoked from %s on" % iso(revoked)
        if until is not None and at > until:
            return "in use until %s only" % iso(until)
        return None if start is None or at >= start else "in use from %s on only" % iso(start)

    def end_of(self, did):
        """When a key ended or was revoked; None while it is in use. A list may have been stated later than the clock says:
        what it ends by then has ended. A key that is revoked from a time to come is in no use now.
        """
        _, until, revoked = self.window(did)
        if revoked is not None or until is None:
            return revoked
        keys, others = self.keys["keys"], self.keys["revocations"] + self.keys.get("receipt_keys", [])
        stated = [one["stated_at"] for one in [key["statement"] for key in keys[1:]] + others]
        return until if until < max([self.now] + [milliseconds(text) for text in stated]) else None

    def is_in_use(self, did):
        start = self.window(did)[0]
        return self.end_of(did) is None and (start is None or start <= self.now)


# ---- the request: section 8 ---------------------------------------------------------------------------------------

SERIES = "/gauge/history-series"
SERIES_DAYS_DEFAULT = 400
SETTLEMENTS = ("/resolve", "/resolve/proposer")
PRODUCTS = ("ruler", "calibrated", "strata", "history")
# Other names and default values of parameters.
ALIASES = {"issuer": "entity", "as_of": "cutoff"}
DEFAULTS = {"source_class": "sec", "format": "json"}
ADDRESS = re.compile(r"https?://[^/?#]*", re.IGNORECASE)

def read_request(words):
    """The target of a request as somebody types it, with or without GET and the address of the service."""
    found = re.fullmatch(r"(?:GET +)?(\S+)", words.strip())
    refuse_if(found is None, "%r is not a request such as \"GET /gauge?signal_id=...&entity=...\"" % words[:80])
    target_of(found.group(1))
    return ADDRESS.sub(lambda address: address.group(0).lower(), found.group(1), 1)

def target_of(request):
    """Path and parameters of a request, as the service reads them; an empty value is none."""
    found = re.fullmatch(r"(/[!-~]*?)(?:\?([!-~]*))?", ADDRESS.sub("", request, 1)) if len(request) <= 8192 else None
    refuse_if(found is None or re.search(r"[#\\]|%(?![0-9a-fA-F]{2})", request), "%r is no request" % request[:80])
    pairs = urllib.parse.parse_qsl(found.group(2) or "", keep_blank_values=True, errors="strict")
    refuse_if(len(dict(pairs)) != len(pairs), "a parameter stands twice in %r" % request[:80])
    return found.group(1), {name: value for name, value in pairs if value != ""}

def signed_question(path, values):
    """The operation that answers, and the parameters that its target names, defaults and other names resolved."""
    asked = {ALIASES.get(name, name): value for name, value in values.items()
             if name != "proof" and not (name == "as_of" and path not in SETTLEMENTS)}
    if path == "/gauge" and asked.pop("dim", None) in PRODUCTS:
        path += "/" + values["dim"]
    elif path == "/gauge" and asked.get("format") == "fact":
        del asked["format"]
    beside = ("days", "format", "verifiable") if path == SERIES else ()
    if path in SETTLEMENTS:
        beside = ("market_or_event", "cutoff")
        asked.update({name: re.sub("^FORM ", "", asked[name].upper()) for name in ("entity", "form") if name in asked})
    return path, {name: value for name, value in asked.items() if name not in beside and DEFAULTS.get(name) != value}

def check_answers(body, path, values):
    """That a body answers a request. What nobody signs of it has to be that of the request, too."""
    refuse_if("claim" not in body.get("_citation", ()), "nobody signed what the body answers")
    cited_path, cited = target_of(cited_target(body["_citation"]))
    if path in SETTLEMENTS:
        name = next((one for one in ("entity", "issuer") if one in values), "entity")
        spelled = values.get(name, "").upper()
        if spelled in body["tickers"] or spelled.zfill(10) == body["entity"]:
            values = {**values, name: body["entity"]}
        if body["basis"] is None:
            values = asked_of_nothing(values, body)
    if signed_question(cited_path, cited) != signed_question(path, values):
        raise Refused("the body answers %r, not %r" % (cited_target(body["_citation"]), (path, values)))
    if path == SERIES:
        days, is_verifiable = int(values.get("days", SERIES_DAYS_DEFAULT)), "_hash_core" in body["rows"][0]
        refuse_if(not is_same(body["days"], days), "the body answers days %r" % body["days"])
        refuse_if(is_verifiable != ("verifiable" in values), "the body answers verifiable otherwise")
    if path in SETTLEMENTS:
        echo, cutoff = body["market_or_event"], values.get("cutoff", values.get("as_of", ""))
        refuse_if(echo != values.get("market_or_event"), "the body answers market_or_event %r" % (echo,))
        # A day is told as its last second in New York, in summer or in winter.
        ends = [cutoff] if len(cutoff) > 10 else [iso(instant(cutoff + end, "cutoff") + DAY_MS)
                                                  for end in ("T03:59:59Z", "T04:59:59Z")]
        if not is_in_interval(cutoff, body) or milliseconds(body.get("cutoff_time")) not in map(milliseconds, ends):
            raise Refused("the body is not the answer at that cutoff")

def asked_of_nothing(values, body):
    """A request as the answer to it is signed where nothing is stored: of every form, of a form, or of its other items."""
    item, named = values.get("event_class"), body["other_than"]
    left_out = ("form", "event_class") if body["form"] is None else ("event_class",) if named is None else ()
    other = {"event_class": "other"} if named is not None and item is not None and item not in named else {}
    return {**{name: value for name, value in values.items() if name not in left_out}, **other}

def is_in_interval(cutoff, body):
    start, end = body["valid_from"], body["valid_until"]
    if len(cutoff) == 10:
        start, end = (text if text is None or len(text) == 10 else "" for text in (start, end))
        days = body.get("valid_days")
        start, end = (start, end) if days is None else (days["from"], days["until"])
        times = [milliseconds(text + "T00:00:00Z") for text in (cutoff, start, end) if text is not None]
    else:
        times = [milliseconds(text) for text in (cutoff, start, end) if text is not None]
    return None not in times and times[1] <= times[0] and (len(times) == 2 or times[0] < times[2])


# ---- verdict: section 9 -------------------------------------------------------------------------------------------

# What holds for an issuer that somebody named, all of it, or the citation alone.
SOUND = ("verified", "partly_verified")
# Three words for a person, as signalpress verify has them.
WORDS = {"verified": "verified", "partly_verified": "verified: its citation only", "failed": "failed"}
OPEN, NAME_ISSUER = "cannot be judged", ": name the issuer that you trust, with --issuer or --trust"

class Verdict(NamedTuple):
    """verified, partly_verified, issuer_unknown, undecided, unsigned or failed; why, and what a body that holds is about."""
    verdict: str
    detail: str
    about: Optional[dict] = None

def body_of(data):
    """The body that saved bytes stand for: strict JSON, or a signed series as CSV."""
    if len(data) > BODY_BYTES_MAX:
        raise Undecided("longer than %d bytes" % BODY_BYTES_MAX)
    try:
        # A program that prints what it bought ends it with a line feed of its own.
        return series_of_csv(data[:-1] if data.endswith(b"\r\n\n") else data) if data.startswith(b"# ") else parse(data)
    except (Refused,) + MALFORMED as error:
        raise Undecided("not readable: %s" % error) from error

def record_in(body):
    """A body, or the record in a free sample, which is judged in its place."""
    return body["sample"] if set(body) == {"sample"} and isinstance(body["sample"], dict) else body

def judge(data, reader):
    try:
        if isinstance(data, OSError):
            raise Undecided(str(data))
        if data.startswith(",".join(SERIES_COLUMNS).encode("ascii")):
            return Verdict("unsigned", "a bare table is not signed; ask for it with format=csv-signed or format=json")
        return judge_body(body_of(data), reader)
    except Undecided as error:
        return Verdict("undecided", str(error))
    except Refused as error:
        return Verdict("failed", str(error))
    except MALFORMED as error:
        return Verdict("failed", "a member is missing or of another kind: %r" % error)

def judge_body(value, reader):
    body = record_in(value) if isinstance(value, dict) else {}
    said = ["%d record hashes" % check_record_hashes(body)]
    if is_series(body) and ("retained" in body or "_citation" in body):
        check_series(body)
    if "_citation" not in body:
        refuse_if("_proof" in body, "_proof: no citation says of which log it has to be")
        for at in check_words(body) if is_listed(body) else ():
            check_order(body, [], None, at, reader.now)
        return Verdict("unsigned", said[0] + " recomputed; nobody signed all of it")
    citation = body["_citation"]
    check_citation(body, citation)
    check_issuer(citation, reader)
    is_own, proof = "claim" in citation, None
    if is_own and is_format_2(body):
        raise Undecided("of format 2, whose words of time nobody signed; signalpress verify judges the rest of it")
    at = next(iter(check_words(body)), None) if is_own else None
    if "_proof" in body:
        refuse_if(not is_own, "_proof: of a citation of another form")
        proof = check_proof(body, body["_proof"], reader)
    if is_own:
        check_order(body, [("retrieved_at", citation["retrieved_at"])], proof and proof.entry, at, reader.now)
        said.append("content hash")
    else:
        said.append("the content is not recomputable: nobody signed it")
    said += ["citation hash and signature"] + told_words(body, proof, at, reader)
    if reader.expect is not None:
        check_expected(value, reader.expect)
        said.append("it answers the request that was expected")
    if reader.max_age_ms is not None:
        check_age(citation, reader)
    doubt = key_doubt(citation, proof, reader)
    refuse_if(proof is None and reader.witnesses, "_proof: missing, so that no witness of yours saw it")
    if is_own and proof is None and reader.needs_proof:
        doubt = "no proof shows that it was the current answer; buy it without proof=0, or take it with --no-proof"
    if doubt is not None:
        raise Undecided(doubt)
    verdict = "issuer_unknown" if not reader.issuers else "verified" if is_own else "partly_verified"
    about = {"subject": citation.get("claim"), "fact": citation["fact"], "observed_at": citation["source"]["published_at"],
             "retrieved_at": citation["retrieved_at"], "answered_at": None if at is None else iso(at)}
    return Verdict(verdict, "; ".join(said), about)

def check_age(citation, reader):
    """What was observed is as young as the reader demands; only a citation of this format signs when that was."""
    at = milliseconds(citation["source"]["published_at"]) if "claim" in citation else None
    if at is None or not -SKEW_MS <= reader.now - at <= reader.max_age_ms:
        raise Refused("observed at %s, which is older than you allow, or still to come" % citation["source"]["published_at"])

def check_issuer(citation, reader):
    """The key is one that the reader trusts, and nothing was collected after it ended or was revoked."""
    did = citation["issuer_DID"]
    refuse_if(did not in reader.trusted(did), "_citation.issuer_DID: %s is not trusted" % did)
    at = milliseconds(citation["retrieved_at"])
    _, until, revoked = reader.window(did)
    if at is None or any(limit is not None and at > limit for limit in (until, revoked)) or at == revoked:
        raise Refused("_citation.issuer_DID: %s was no longer in use at %s" % (did, citation["retrieved_at"]))

def told_words(body, proof, at, reader):
    """What a body that holds says of its time, and what of it nobody signed."""
    said = []
    if proof is not None:
        said.append("the current answer at %s, by release %d in the log" % (proof.entry["as_of"], proof.entry["sequence"]))
        said += ["witnessed by %s at %s" % (name, iso(seen)) for (name, _), seen in proof.cosigned.items()] + proof.notes
    if at is not None:
        age = "" if reader.now - at <= SKEW_MS else ", %.1f hours ago by your clock" % ((reader.now - at) / HOUR_MS)
        said.append("said %s at %s%s" % (body["provenance"].get("freshness", "so"), iso(at), age))
    echoes = echoes_of(body)
    return said + ([] if not echoes else ["nobody signed what repeats the request: " + ", ".join(echoes)])

def key_doubt(citation, proof, reader):
    """The one rule of keys: why what a key signed cannot be judged, or None; refuses what it may not have signed."""
    did = citation["issuer_DID"]
    if proof is None:
        return None if reader.end_of(did) is None else "%s is a key of the past, and no proof came with it" % did
    fault = reader.fault_at(did, milliseconds(proof.entry["as_of"]))
    if fault is not None:
        raise Refused("_citation.issuer_DID: %s was %s, and its release is of %s" % (did, fault, proof.entry["as_of"]))
    lacking = [name for name, key in reader.witnesses if (name, key) not in proof.cosigned]
    refuse_if(lacking, "_proof: not witnessed by %s" % ", ".join(lacking))
    if any(reader.is_in_use(signer) for signer in proof.signers):
        return None
    # It is shown to be older than the end of a key that signed it where every witness saw it before.
    ends = [end for end in map(reader.end_of, proof.signers) if end is not None]
    if proof.cosigned and any(max(proof.cosigned.values()) < end for end in ends):
        return None
    return ("its proof bears keys of the past alone, and no witness of yours shows that it is older; "
            "signalpress verify with the log of the issuer can lead it to a newer checkpoint")

def check_expected(body, target):
    if ADDRESS.match(target):
        base = base_of(body["_citation"])
        refuse_if(not target.startswith(base + "/"), "the body is of the service at %r, not the one expected" % base)
        target = target[len(base):]
    check_answers(body, *target_of(target))


# ---- the command --------------------------------------------------------------------------------------------------

def read(path):
    with open(sys.stdin.fileno() if path == "-" else path, "rb", closefd=path != "-") as file:
        return file.read()

def usable(read_value):
    def value(text):
        try:
            return read_value(text)
        except (OSError, Refused) + MALFORMED as error:
            raise argparse.ArgumentTypeError(error) from error
    return value

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("body", nargs="*", help="as saved, also a series of format=csv-signed; - for standard input")
    option("--lines", action="append", default=[], help="a file with one body a line; - for standard input")
    option("--issuer", action="append", default=[], type=usable(lambda did: usable_key(did) and did),
           help="a did:key that you trust, may be repeated; without it nothing is verified")
    option("--trust", type=usable(lambda path: read_trust(read(path))),
           help="a file of `signalpress trust init`, in place of --issuer: issuer, keys, log, witnesses, longest age")
    option("--no-proof", action="store_true", help="take a body without its proof, which was asked for with proof=0")
    option("--expect", type=usable(read_request), help="the request that it has to answer, such as 'GET /gauge?signal_id=...'")
    option("--now", default=int(time.time() * 1000), type=usable(lambda text: instant(text, "--now")),
           help="your clock, such as 2026-11-20T12:00:00Z")
    option("--json", action="store_true", help="one JSON object a line: file, verdict, detail, about")
    given = parser.parse_args()
    if not given.body and not given.lines:
        parser.error("name the body to be judged")
    if given.trust and given.issuer:
        parser.error("leave --issuer out: the trust file names it")
    trusted = given.trust or {"issuers": given.issuer}
    reader = Reader(now=given.now, expect=given.expect, needs_proof=not given.no_proof, **trusted)
    verdicts = {tell(name, judge(data, reader), given.json) for name, data in bodies_of(given)}
    sys.exit(1 if "failed" in verdicts else 0 if verdicts <= set(SOUND) else 2)

def bodies_of(given):
    """What is to be judged: a name, and its bytes or why they are not there."""
    for path in given.body + given.lines:
        try:
            data = read(path)
        except OSError as error:
            data = error
        if path in given.body or isinstance(data, OSError):
            yield path, data
        else:
            yield from (("%s:%d" % (path, at), line.rstrip(b"\n")) for at, line in enumerate(io.BytesIO(data), 1))

def tell(name, found, is_json):
    if is_json:
        print(json.dumps(dict(found._asdict(), file=name)))
        return found.verdict
    about = [] if found.about is None else ["%-12s %s" % pair for pair in found.about.items() if pair[1] is not None]
    todo = NAME_ISSUER if found.verdict == "issuer_unknown" else ""
    lines = ["%s  %s%s" % (WORDS.get(found.verdict, OPEN), name, todo)] + ["  " + line for line in about + [found.detail]]
    # Bodies choose their own words: nothing of them may steer a terminal or pretend to be a line.
    print("\n".join("".join(char if char.isprintable() else "\\u{%x}" % ord(char) for char in line) for line in lines))
    return found.verdict


if __name__ == "__main__":
    main()
