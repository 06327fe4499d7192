"""What a reader demands of a true body: that it answers a request, and that what it says is young enough."""

import re
import urllib.parse

from verify_json import Refused, is_same, milliseconds
from verify_log import base_of
from verify_request_time import CLOCK_SKEW_MS
from verify_settlement import is_settlement

SERIES = "/gauge/history-series"
SERIES_DAYS_DEFAULT = 400
SETTLEMENTS = {"/resolve": "candidate_sources", "/resolve/proposer": "evidence"}
ECHOED = ("entity", "form", "cutoff", "event_class", "source_class", "market_or_event")
# Parameters that stand in no signed address, and the values that may be left out of a comparison with it: the proof is
# outside of the body, the rest shows in a series itself.
BESIDE = {"proof": r"[01]", "format": r"json"}
BESIDE_SERIES = dict(BESIDE, format=r"json|csv-signed", days=r"\d{1,9}", verifiable=r"1")
REQUEST = re.compile(r"(?:GET +)?(\S+)")
ADDRESS = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
TARGET = re.compile(r"(/[!-~]*?)(?:\?([!-~]*))?")
TARGET_CHARS_MAX = 8192
UNITS_MS = {"s": 1000, "m": 60000, "h": 3600000, "d": 86400000}


def read_request(words):
    """The target of a request as somebody types it, with or without GET and the address of the service."""
    found = REQUEST.fullmatch(words.strip())
    if found is None:
        raise Refused("%r is not a request such as \"GET /gauge?signal_id=...&entity=...\"" % words[:80])
    target_of(found.group(1))
    return ADDRESS.sub(lambda address: address.group(0).lower(), found.group(1), 1)


def read_age(words):
    """Milliseconds of a length such as 90s, 30m, 2h or 7d."""
    found = re.fullmatch(r"(\d{1,9})([smhd])", words, re.ASCII)
    if found is None:
        raise Refused("%r is not a length such as 30m, 2h or 7d" % words[:80])
    return int(found.group(1)) * UNITS_MS[found.group(2)]


def target_of(request):
    """Path and parameters of a request, as the service reads them; an empty value is none."""
    found = TARGET.fullmatch(ADDRESS.sub("", request, 1)) if len(request) <= TARGET_CHARS_MAX else None
    if found is None or "#" in request or "\\" in request:
        raise Refused("%r is no request" % request[:80])
    values = {}
    for pair in filter(None, (found.group(2) or "").split("&")):
        name, _, value = (decoded(part) for part in pair.partition("="))
        if name in values:
            raise Refused("%r stands twice in a request" % name[:80])
        values[name] = value
    return found.group(1), {name: value for name, value in values.items() if value != ""}


def decoded(part):
    """Form decoding of a name or a value, strictly."""
    if re.search("%(?![0-9a-fA-F]{2})", part):
        raise Refused("%r is not percent-encoded" % part[:80])
    try:
        return urllib.parse.unquote(part.replace("+", " "), errors="strict")
    except UnicodeDecodeError as error:
        raise Refused("%r is not percent-encoded UTF-8" % part[:80]) from error


# ---- whether a body answers a request -----------------------------------------------------------------------------


def answer_fault(path, asked, body):
    """Why a body does not answer a request, or None.

    The signed address names operation and parameters; what is computed at the request repeats them in the body.
    Parameters are compared as the service spells them, and defaults are left out.
    """
    if path in SETTLEMENTS:
        return settlement_fault(path, asked, body)
    beside = BESIDE_SERIES if path == SERIES else BESIDE
    signed = {name: value for name, value in asked.items() if not re.fullmatch(beside.get(name, r"\b\B"), value, re.ASCII)}
    citation = body.get("_citation")
    if not isinstance(citation, dict):
        return "the body does not say what it answers"
    cited = target_of(str(citation["source"]["url"])[len(base_of(citation)):])
    if cited != (path, signed):
        return "the body answers %r, not %r" % (cited, (path, signed))
    return series_fault(asked, body) if path == SERIES else None


def series_fault(asked, body):
    days = int(asked.get("days", SERIES_DAYS_DEFAULT))
    if not is_same(body.get("days"), days):
        return "the body answers days %r, not %d" % (body.get("days"), days)
    if any(("_hash_core" in row) != ("verifiable" in asked) for row in body["rows"]):
        return "the body answers verifiable otherwise: its rows have no _hash_core, or one that nobody asked for"
    return None


def settlement_fault(path, asked, body):
    if not is_settlement(body) or SETTLEMENTS[path] not in body:
        return "the body is not an answer of %r" % path
    unknown = [name for name in asked if name not in ECHOED + ("proof",)]
    if unknown:
        return "%r is no parameter of %r" % (unknown[0], path)
    for name in ECHOED:
        said, want = body.get(name), asked.get(name)
        if name == "source_class" and want is None:
            want = "sec"
        if name == "form" and want is not None:
            want = " ".join(want.upper().split()).removeprefix("FORM ")
        if said != want:
            return "the body answers %s %r, not %r" % (name, said, want)
    return None


# ---- demands ------------------------------------------------------------------------------------------------------


def check_demands(body, judged, reader):
    """Refuses a true body that is not what was demanded; says what was met. Of no other body a demand is judged."""
    if reader.expect is None and reader.max_age_ms is None:
        return ""
    if judged.verdict == "unsigned":
        return "; what is demanded of it was not judged"
    if judged.verdict == "partly_verified":
        raise Refused("not the whole body is covered by one signed statement, so it meets no demand")
    met = "" if reader.expect is None else expected(body, reader.expect)
    return met + ("" if reader.max_age_ms is None else young_enough(body, reader))


def expected(body, target):
    citation = body.get("_citation")
    if ADDRESS.match(target):
        base = base_of(citation) if isinstance(citation, dict) else None
        if base is None or not target.startswith(base + "/"):
            raise Refused("the body is of the service at %r, which is not the one expected" % base)
        target = target[len(base):]
    fault = answer_fault(*target_of(target), body)
    if fault is not None:
        raise Refused(fault)
    return "; it answers the request that was expected"


def young_enough(body, reader):
    observed = observed_at(body)
    at = milliseconds(observed)
    if at is None:
        raise Refused("the body states no time of observation")
    if at - reader.now > CLOCK_SKEW_MS:
        raise Refused("observed at %s, which is still to come" % observed)
    if reader.now - at > reader.max_age_ms:
        raise Refused("observed at %s, which is %d s ago and above the demanded age" % (observed, (reader.now - at) // 1000))
    return "; observed at %s, as young as demanded" % observed


def observed_at(body):
    """The time of the reading, of the oldest or newest of several as the citation says, or of the last look at filings."""
    if is_settlement(body):
        return body["coverage"]["observed_at"]
    citation = citation_of(body)
    return citation["source"]["published_at"] if isinstance(citation, dict) else None


def citation_of(body):
    """The citation of a body, or of the record in a sample."""
    holder = body["sample"] if "_citation" not in body and isinstance(body.get("sample"), dict) else body
    return holder.get("_citation")


def about_of(body):
    """What a body that holds is about, in the words that its issuer signed; None for one without a citation of its own."""
    citation = citation_of(body)
    if not isinstance(citation, dict):
        return None
    about = {"subject": citation.get("claim"), "fact": citation["fact"], "observed_at": observed_at(body),
             "retrieved_at": citation["retrieved_at"]}
    if not is_settlement(body):
        return about
    # It repeats the citation of one of its parts; what it states follows from all of them.
    item = "" if body["event_class"] is None else ", item %s" % body["event_class"]
    named = (body["form"], item, body["entity_name"], body["cik"], body["cutoff"])
    return dict(about, subject="%s%s of %s (CIK %s), cutoff %s" % named, fact=body["note"],
                retrieved_at=body["coverage"]["_citation"]["retrieved_at"])
