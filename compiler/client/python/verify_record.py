#!/usr/bin/env python3
"""Checks delivered bodies with Python's standard library alone.

A second implementation of compiler/contract/FORMAT.md, written from that text: canonical JSON, record hashes, content
hash, citation hash, Ed25519 signature, what a body says twice, and the inclusion of a hash in the transparency log.

  verify_record.py BODY.json...                    bodies as saved, and answers of /proof/<hash> or /gauge/anchor?hash=
  verify_record.py SERIES.csv                      a series as CSV that was asked for with format=csv-signed
  verify_record.py --lines BODIES.ndjson           one body a line, - for standard input
  verify_record.py --proof PROOF.json              a proof of the log, and nothing else
  --issuer did:key:z6Mk...                         whom you trust, may be repeated; without it nothing is verified
  --now 2026-11-20T12:00:00Z                       your clock, where it is not that of this machine
  --vectors FOLDER                                 compare this program with the vector files of the project
  --json                                           one JSON object a line

Exit codes: 0 verified, 1 failed, 2 cannot be judged: consistent but of an unknown issuer, nothing signed, not readable.
"""

import argparse
import base64
import datetime
import decimal
import hashlib
import json
import re
import sys
import time

DEPTH_MAX = 64
# Longest body that is read, like that of the command of the project.
INPUT_BYTES_MAX = 67108864
HASH = re.compile(r"sha256:[0-9a-f]{64}")
CORE = ("hash_core_version", "signal_id", "entity", "snapshot_date", "observed_at", "current", "source_ref",
        "source_tier", "sources", "lifecycle")
SOURCE_CORE = ("name", "weight", "independent", "relay_of")
SEAL = ("record_hash", "signature", "key_id", "issuer_DID", "verify_url")
# Members that depend on the moment of the request, by the signed member beside them that they follow from.
REQUEST_TIME = {"freshness_basis": ("age_hours_now", "freshness", "freshness_leg", "dead_source"),
                "last_looked_at": ("update_status",)}
CAPTURED = ("capture_date", "observed_at")
SOURCED = ("source_ref", "source_tier")
DEMAND = ("calls_30d", "unique_payers_30d", "demand_class", "demand_depth", "endpoints", "endpoints_by_class",
          "last_called_at")
ROSTER_CORES = {
    "trust.service": ("service_id",) + CAPTURED + ("model", "domain", "first_endpoint", "score_total", "liveness_state",
                                                   "liveness_streak", "baseline_delta") + SOURCED,
    "mcp.server": ("server_id",) + CAPTURED + ("status",) + SOURCED,
    "stable.coin": ("coin_id",) + CAPTURED + ("symbol", "current") + SOURCED,
    "stablecoin.death": ("confirmed_dead_at", "symbol", "death_type", "pre_death_observed_at", "first_distress_at",
                         "lifespan_days", "pre_death_payload", "death_context") + SOURCED,
    "document": ("operation", "params", "title", "text", "rows", "observed_at") + SOURCED,
}
SERIES_CUT = ("days", "count", "before", "rows", "cuts", "origins", "segments")
SERIES_COLUMNS = ("snapshot_date", "observed_at", "data_age_hours", "current", "band", "record_hash")
CORE_COLUMNS = SERIES_COLUMNS + ("_hash_core",)
CORE_ORIGIN = ("source_ref", "source_tier", "sources", "lifecycle")
SERIES_DAYS_MAX = 1000
CHAIN_ORIGIN = {"rows": 0, "snapshot_date": None, "chain": "sha256:" + "0" * 64}
STATEMENT = ("schema_version", "statement_type", "not_advice", "claim", "fact", "source", "retrieved_at", "status",
             "translated")
CITED_SOURCE = ("issuer", "type", "url", "content_hash", "published_at")
# Members that hold facts or a signed statement under names of their own: no record stands inside.
CLOSED = ("_citation", "_hash_core", "current", "previous", "context")
RESERVED_KEYS = ("__proto__", "constructor", "prototype")
UTC_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?Z", re.ASCII)


# What reading a member that is missing, or of another kind or size than it should be, ends in.
MALFORMED = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class Refused(Exception):
    """Something that does not hold, in words."""


class TooLong(Exception):
    """Input that is not read to its end."""


# ---- canonical JSON, RFC 8785 -------------------------------------------------------------------------------------


def parse(data):
    """Strict JSON: no key twice, no number that changes, no lone surrogate, no U+0000."""
    def members(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise Refused("a key appears twice in one object")
        if any(key in RESERVED_KEYS for key in keys):
            raise Refused("a key is reserved")
        return dict(pairs)

    def refuse(text):
        raise Refused("%s is not JSON" % text)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse, parse_float=exact)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Refused("not JSON: %s" % error) from error


def exact(text):
    """The double that a number spells, which must keep it digit for digit; a whole one, as it is used, as an int."""
    value = float(text)
    if value in (float("inf"), float("-inf")) or decimal.Decimal(text) != decimal.Decimal(repr(value)):
        raise Refused("%s is a number that a double cannot keep" % text)
    return int(value) if value.is_integer() and abs(value) < 2 ** 53 else value


def canonical(value, depth=0):
    """The RFC 8785 text of a value."""
    if depth > DEPTH_MAX:
        raise Refused("more than %d open containers" % DEPTH_MAX)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[%s]" % ",".join(canonical(item, depth + 1) for item in value)
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{%s}" % ",".join("%s:%s" % (string(key), canonical(value[key], depth + 1)) for key in keys)


def string(text):
    if "\0" in text:
        raise Refused("U+0000 in a string")
    return json.dumps(text, ensure_ascii=False)


def number(value):
    """Shortest digits that give the same double, laid out as ECMAScript does."""
    if isinstance(value, int):
        if abs(value) > 2 ** 53 - 1:
            raise Refused("an integer beyond 2^53-1")
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise Refused("a number beyond the range of a double")
    if value == 0:
        return "0"
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if len(text) <= point <= 21:
        body = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        body = text[:point] + "." + text[point:]
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        fraction = "." + text[1:] if len(text) > 1 else ""
        body = "%s%se%+d" % (text[0], fraction, point - 1)
    return "-" + body if sign else body


def canonical_bytes(value):
    try:
        return canonical(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("half of a surrogate pair in a string") from error


def hash_of(value):
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def is_same(a, b):
    """The same JSON: true is not 1, and 1.0 is."""
    return canonical(a) == canonical(b)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- records, contents, citations ---------------------------------------------------------------------------------


def core_of(record):
    """The hash core of an object, or None where the object does not carry one."""
    if "_hash_core" in record:
        return given_core(record, record["_hash_core"])
    roster = roster_core(record)
    if roster is not None:
        return roster
    version = record.get("hash_core_version")
    if version is None and not all(name in record for name in CORE[1:]):
        return None
    if "hash_core_version" in record and not is_version(version):
        raise Refused("hash core version %r is unknown" % version)
    missing = [name for name in CORE[1:] if name not in record]
    if missing:
        raise Refused("%s is missing" % missing[0])
    core = {name: record[name] for name in CORE[1:]}
    core["hash_core_version"] = 3
    if core["sources"] is not None:
        core["sources"] = [{name: source[name] for name in SOURCE_CORE if name in source} for source in core["sources"]]
    return core


def is_version(version):
    return is_number(version) and version == 3


def given_core(row, core):
    """A core that is delivered beside its row: about that row, and of a known version."""
    if not isinstance(core, dict) or not is_version(core.get("hash_core_version")):
        raise Refused("_hash_core: not an object of version 3")
    for name in core:
        if name in row and name != "hash_core_version" and differs(row[name], core[name]):
            raise Refused("_hash_core.%s: differs from the row" % name)
    subjects = [core[name] for name in ("service_id", "server_id", "coin_id") if core.get(name) is not None]
    name = "service" if row.get("entity") is None else "entity"
    if subjects and name in row and not is_same(subjects[0], row[name]):
        raise Refused("_hash_core: about another subject than the row")
    return core


def differs(shown, hashed):
    """Plain values are the same; of two that are not plain, or of one, only being null is compared."""
    plain = not any(one is None or isinstance(one, (dict, list)) for one in (shown, hashed))
    return not is_same(shown, hashed) if plain else (shown is None) != (hashed is None)


def roster_core(row):
    """The core of a roster row that carries all members of one, or None."""
    for fields in ROSTER_CORES.values():
        if fields[0] == "service_id" and row.get("model") == "demand-v1":
            fields += DEMAND
        if all(name in row for name in fields):
            return dict([("hash_core_version", 3)] + [(name, row[name]) for name in fields])
    return None


def chain_states(before, rows):
    """The states behind each row of a series."""
    states = []
    for row in rows:
        chain = hash_of([before, bare_row(row)])
        before = {"rows": before["rows"] + 1, "snapshot_date": row["snapshot_date"], "chain": chain}
        states.append(before)
    return states


def is_series(body):
    return body.get("tier") == "history-series"


def check_series(body):
    """The rows lead from the state before them to the signed end of the chain, and reach back far enough."""
    if not is_series(body) or "retained" not in body:
        return
    if body.get("segments", []) != []:
        raise Refused("rows: more of them stand in segments")
    rows, before, retained = body.get("rows"), body.get("before"), body["retained"]
    if not isinstance(rows, list) or not rows or any(not is_row(row) for row in rows):
        raise Refused("rows: not rows of exactly the columns of a series")
    check_state(before)
    states = chain_states(before, rows)
    end = states[-1]
    if not isinstance(retained, dict) or (end["rows"], end["chain"]) != (retained.get("rows"), retained.get("chain")):
        raise Refused("rows: do not lead to the signed end of the chain")
    if not is_same(body.get("count"), len(rows)):
        raise Refused("count: not that of the rows")
    check_reach(body, before, rows)
    if "cuts" in body and not is_same(body["cuts"], cuts_of(before, rows, states)):
        raise Refused("cuts: do not fit the rows")
    check_cores(body, rows)
    if "origins" in body:
        check_origins(body, rows)


def is_row(row):
    return isinstance(row, dict) and set(bare_row(row)) == set(SERIES_COLUMNS)


def bare_row(row):
    """A row as the chain hashes it."""
    return {name: row[name] for name in row if name != "_hash_core"}


def check_cores(body, rows):
    """With verifiable=1 each row has its whole hash core; its hash is compared where that of every core is."""
    given = [row for row in rows if "_hash_core" in row]
    if given and len(given) < len(rows):
        raise Refused("rows: some lack their _hash_core")
    for row in given:
        core = row["_hash_core"]
        if not isinstance(core, dict) or not is_same(core, row_core(body, row, core)):
            raise Refused("_hash_core: not that of its row")


def check_origins(body, rows):
    """The stored form has what rows lack of their cores once for all rows in sequence that share it."""
    at = 0
    for run in body["origins"] if isinstance(body["origins"], list) else [None]:
        is_run = isinstance(run, list) and len(run) == 2 and is_number(run[0]) and isinstance(run[1], dict)
        if not is_run or run[0] != int(run[0]) or not 0 < run[0] <= len(rows) - at:
            raise Refused("origins: not runs of the rows")
        for row in rows[at:at + int(run[0])]:
            if hash_of(row_core(body, row, run[1])) != row["record_hash"]:
                raise Refused("origins: do not give the record hash of a row")
        at += int(run[0])
    if at != len(rows):
        raise Refused("origins: not those of all rows")


def row_core(body, row, origin):
    """The hash core of a row: its subject, what it says, and what it lacks."""
    fact = {"signal_id": body.get("signal_id"), "entity": body.get("entity")}
    fact.update({name: row[name] for name in ("snapshot_date", "observed_at", "current")})
    fact.update({name: origin[name] for name in CORE_ORIGIN if name in origin})
    missing = [name for name in CORE[1:] if name not in fact]
    if missing:
        raise Refused("%s is missing" % missing[0])
    return core_of(dict(fact, hash_core_version=3))


def check_state(before):
    if not isinstance(before, dict) or set(before) != set(CHAIN_ORIGIN) or not is_number(before["rows"]):
        raise Refused("before: no state of a chain")
    inside = before["rows"] > 0 and isinstance(before["snapshot_date"], str)
    if before != CHAIN_ORIGIN and not inside:
        raise Refused("before: no state of a chain")


def check_reach(body, before, rows):
    """A first row that is not there would have stood inside of days: the state before tells its date.

    Where older rows of that date are not delivered at all, the signature says so.
    """
    days, newest = body.get("days"), time_of(body["retained"].get("to"))
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= SERIES_DAYS_MAX or newest is None:
        raise Refused("days: not 1 to %d" % SERIES_DAYS_MAX)
    start = iso(newest - datetime.timedelta(days=days - 1))
    if str(rows[0]["snapshot_date"]) < start:
        raise Refused("rows: one is older than %d days" % days)
    is_signed = body["retained"].get("older_chain") == before["chain"]
    if before["snapshot_date"] is not None and before["snapshot_date"] >= start and not is_signed:
        raise Refused("rows: some of the last %d days are missing" % days)


def cuts_of(before, rows, states):
    """Where a stored series can be cut: its first row and each date that begins, with the state before it."""
    cuts = []
    for state, row in zip([before] + states, rows):
        if not cuts or row["snapshot_date"] != state["snapshot_date"]:
            cuts.append([row["snapshot_date"], state["rows"], state["chain"]])
    return cuts


def time_of(text):
    """The instant of an ISO 8601 text in UTC, or None for anything else."""
    found = UTC_TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        whole = datetime.datetime(*(int(part) for part in found.groups()[:6]))
    except ValueError:
        return None
    return whole + datetime.timedelta(milliseconds=int(((found.group(7) or ".") + "000")[1:4]))


def iso(time):
    return time.isoformat(timespec="milliseconds" if time.microsecond else "seconds") + "Z"


def content_of(body):
    """What the content hash covers: no citation, and nothing that depends on the moment of the request."""
    left_out = ("_citation",) + (SERIES_CUT if is_series(body) else ())
    return without_request_time({key: value for key, value in body.items() if key not in left_out})


def without_request_time(value):
    if isinstance(value, list):
        return [without_request_time(item) for item in value]
    if not isinstance(value, dict):
        return value
    hidden = [name for basis, names in REQUEST_TIME.items() if basis in value for name in names]
    return {name: without_request_time(item) for name, item in value.items() if name not in hidden}


# A path is a pair of the path around it and a name, None for the body itself: its text can be as long as the body, so
# it is made only where it is told.


def objects(value, path=None):
    """Every object of a body that can be a record, a row, a leg or a link of lineage, with its path, outside first."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key not in CLOSED:
            yield from objects(item, (path, key))


def names_of(path):
    """The names of a path, innermost first."""
    while path is not None:
        path, name = path
        yield str(name)


def told(path, *names):
    """The text of members inside of a path, like legs.aqi.lit."""
    return ".".join(list(names_of(path))[::-1] + list(names))


def check_record_hashes(body):
    """Recomputes what can be recomputed; answers how many."""
    return sum(check_record_hash(path, item) for path, item in objects(body))


def check_record_hash(path, item):
    """Whether the record hash of one object could be recomputed, which it then is."""
    claimed = item.get("record_hash")
    if claimed is None:
        if is_number(item.get("hash_core_version")):
            raise Refused("%s: missing beside its core version" % told(path, "record_hash"))
        return False
    if not isinstance(claimed, str) or not HASH.fullmatch(claimed):
        raise Refused("%s: not a record hash" % told(path, "record_hash"))
    core = core_of(item)
    if core is not None and hash_of(core) != claimed:
        raise Refused("%s: the hash core gives another hash" % told(path, "record_hash"))
    return core is not None


def check_shape(citation):
    """All members of a citation and no other, each of its kind."""
    members = set(citation) if isinstance(citation, dict) else set()
    if members | {"claim"} != set(STATEMENT + SEAL) or not isinstance(citation["source"], dict):
        raise Refused("_citation: not exactly the members of a citation")
    source = citation["source"]
    if set(source) != set(CITED_SOURCE):
        raise Refused("_citation.source: not exactly the members of a source")
    texts = [citation[name] for name in ("fact", "retrieved_at", "status") + SEAL]
    texts += [source["issuer"], source["type"], citation.get("claim", "none")]
    texts += [source[name] for name in ("url", "published_at") if source[name] is not None]
    if not all(isinstance(text, str) and text != "" for text in texts):
        raise Refused("_citation: a member is no text")
    fixed = [citation["schema_version"], citation["statement_type"], citation["not_advice"]]
    if not is_same(fixed, ["1.0", "description", True]) or not isinstance(citation["translated"], bool):
        raise Refused("_citation: not a description of version 1.0 that is no advice")
    hashes = (citation["record_hash"], source["content_hash"])
    if not all(isinstance(text, str) and HASH.fullmatch(text) for text in hashes):
        raise Refused("_citation: a hash is no hash")


def check_address(citation):
    """Where the statement can be looked up is not signed itself, but lies where the signed source does."""
    end, url = "/v/" + citation["record_hash"], citation["source"]["url"]
    if not citation["verify_url"].endswith(end):
        raise Refused("_citation.verify_url: not of this record hash")
    if url is not None and not url.startswith(citation["verify_url"][:-len(end)] + "/"):
        raise Refused("_citation.verify_url: not at the address of source.url")
    did = citation["issuer_DID"]
    if citation["key_id"].startswith("did:") and not citation["key_id"].startswith(did + "#"):
        raise Refused("_citation.key_id: not a key of the issuer")


def check_cited(body, citation):
    """Times of the citation, and those of a body about one reading, which follow from them."""
    provenance = body["provenance"] if isinstance(body.get("provenance"), dict) else {}
    observed = body.get("observed_at")
    if observed is None:
        observed = provenance.get("oldest_leg_as_of", False)
    if not is_same(citation["source"]["published_at"], observed):
        raise Refused("_citation.source.published_at: not the observation time of the body")
    if not isinstance(body.get("observed_at"), str) or not isinstance(body.get("record_hash"), str):
        return
    collected, read = time_of(citation["retrieved_at"]), time_of(body["observed_at"])
    if collected is None or read is None:
        return
    derived = ((body.get("data_age_hours"), "data_age_hours", age_hours(read, collected)),
               (provenance.get("data_age_hours"), "provenance.data_age_hours", age_hours(read, collected)),
               (body.get("snapshot_date"), "snapshot_date", citation["retrieved_at"][:10] + "T00:00:00Z"))
    for found, name, want in derived:
        if found is not None and not is_same(found, want):
            raise Refused("%s: not %s, from the time of collection" % (name, want))


def age_hours(read, collected):
    """Hours between two times, one decimal, halves up, never below 0."""
    hours = max(0, (collected - read) // datetime.timedelta(milliseconds=1)) / 3600000
    return float(decimal.Decimal(repr(hours)).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP))


def check_lineage(value):
    """The lineage of a body names the readings that the body holds, and no other."""
    provenance = value.get("provenance")
    if not isinstance(provenance, dict) or not isinstance(provenance.get("data_lineage"), list):
        return
    links = [link for link in provenance["data_lineage"] if isinstance(link, dict)]
    held = held_readings(value)
    if not held:
        return
    for link in links:
        check_link(link, held)
    legs = list(value["legs"].values()) if isinstance(value.get("legs"), dict) else []
    named = [link.get("record_hash") for link in links]
    for item in [value] + [leg for leg in legs if isinstance(leg, dict)]:
        if isinstance(item.get("record_hash"), str) and item["record_hash"] not in named:
            raise Refused("provenance.data_lineage: does not name %s" % item["record_hash"])
    times = [time_of(link.get("observed_at")) for link in links]
    if times and None not in times and time_of(provenance.get("oldest_leg_as_of")) != min(times):
        raise Refused("provenance.oldest_leg_as_of: not the oldest time of the lineage")


def held_readings(value):
    """What a body holds by record hash, its own provenance left aside."""
    held = {}
    for path, item in objects(value):
        claimed = item.get("record_hash")
        if isinstance(claimed, str) and "provenance" not in told(path).split(".")[:-1]:
            held.setdefault(claimed, item)
    return held


def check_look(path, record):
    """The cadence of a record is said twice, and it was looked at no earlier than observed or collected."""
    provenance, citation = record.get("provenance"), record.get("_citation")
    if "last_looked_at" not in record or not isinstance(provenance, dict):
        return
    named = re.match(r"cadence=([a-z-]+);", str(provenance.get("freshness_basis")))
    if named is None or named.group(1) not in BOUNDS or record.get("official_cadence") != named.group(1):
        raise Refused("%s: not the cadence of the freshness_basis" % told(path, "official_cadence"))
    observed, looked = record.get("observed_at"), milliseconds(record["last_looked_at"])
    collected = citation.get("retrieved_at") if isinstance(citation, dict) else observed
    times = [time for time in (milliseconds(observed), milliseconds(collected)) if time is not None]
    if looked is not None and any(looked < time for time in times):
        raise Refused("%s: before the collection" % told(path, "last_looked_at"))


def check_link(link, held):
    claimed = link.get("record_hash")
    if not isinstance(claimed, str):
        return
    if claimed not in held:
        raise Refused("provenance.data_lineage: names a reading that the body does not hold")
    pairs = (("observed_at", "observed_at"), ("signal", "signal_id"), ("source_ref", "source_ref"))
    for name, own in pairs:
        if own in held[claimed] and not (name in link and is_same(link[name], held[claimed][own])):
            raise Refused("provenance.data_lineage: %s differs from that of its reading" % name)


def check_citation(body, issuers):
    """Hash, content hash, key and signature of the citation of a body, and what it repeats of the body."""
    citation = body["_citation"]
    check_shape(citation)
    statement = {key: value for key, value in citation.items() if key not in SEAL}
    text = canonical_bytes(statement)
    if "sha256:" + hashlib.sha256(text).hexdigest() != citation["record_hash"]:
        raise Refused("_citation.record_hash: the statement gives another hash")
    did, source = citation["issuer_DID"], citation["source"]
    if issuers and did not in issuers:
        raise Refused("_citation.issuer_DID: %s is not trusted" % did)
    check_address(citation)
    # A statement of another issuer's form has no claim, and hashes something that the body does not show.
    if "claim" in citation:
        if hash_of(content_of(body)) != source["content_hash"]:
            raise Refused("_citation.source.content_hash: the body gives another hash")
        if citation["key_id"] != "%s#%s" % (did, did.split(":")[-1]):
            raise Refused("_citation.key_id: not the key of the issuer")
        check_cited(body, citation)
    if not is_signature(public_key(did), text, from_base64url(citation["signature"])):
        raise Refused("_citation.signature: not a signature over the statement")


# ---- members of request time, and legs that are lit ---------------------------------------------------------------

# More parts than any body of the service joins; what follows from them is computed anew for each of their turns.
PARTS_MAX = 16
EPOCH = datetime.datetime(1970, 1, 1)
HOUR_MS = 3600000
DAY_MS = 24 * HOUR_MS
TENTH_MS = HOUR_MS // 10
CLOCK_SKEW_MS = 300000
ENDLESS = 10 ** 18
BOUNDS = {"hourly": (3, 24, 168), "daily": (24, 192, 1440), "weekly": (192, 744, 4380), "monthly": (1080, 2160, 8760),
          "quarterly": (3000, 6600, 17520), "yearly": (9000, 18000, 43800), "as-events": (744, 8760, 17520)}
DUE_HOURS = {"hourly": 3, "daily": 48, "weekly": 216, "monthly": 1440, "quarterly": 3600, "yearly": 10000}
LOOK_HOURS = dict(DUE_HOURS, **{"as-events": 744})
WORDS = ("fresh", "recent", "stale", "stale")
BASIS = "cadence=%s; fresh<=%dh; recent<=%dh; dead_source>%dh; age_basis=request-time(now minus observed_at)"
BASES = {BASIS % ((cadence,) + bounds): cadence for cadence, bounds in BOUNDS.items()}
RULE = re.compile(r"the worst of ([1-9]\d{0,3}) (?:legs|readings), each by its own freshness_basis")


def milliseconds(text):
    """An ISO time in UTC as milliseconds since 1970, or None."""
    time = time_of(text)
    return None if time is None else (time - EPOCH) // datetime.timedelta(milliseconds=1)


def tenths(age_ms):
    return (2 * max(0, age_ms) + TENTH_MS) // (2 * TENTH_MS)


def rank_of(cadence, at, now):
    """0 fresh, 1 recent, 2 stale, 3 of a dead source."""
    return sum(max(0, now - at) > hours * HOUR_MS for hours in BOUNDS[cadence])


def aged(name, holder, text):
    """Name, cadence, instant and its text of what is judged by its own basis; None for a basis of another service."""
    cadence, at = BASES.get(word(holder, "freshness_basis")), milliseconds(text)
    return None if cadence is None or at is None else (name, cadence, at, text)


def word(holder, name):
    """A member that is absent or a text."""
    if name in holder and not isinstance(holder[name], str):
        raise Refused("%s: not a text" % name)
    return holder.get(name)


def parts_of(node, rule):
    """The legs or readings that a joined body is as fresh as; none for a body that is judged by itself."""
    if rule is None:
        return []
    found = RULE.fullmatch(rule)
    if found is None:
        return None
    if int(found.group(1)) > PARTS_MAX:
        raise Refused("freshness_rule: about more than %d parts" % PARTS_MAX)
    if isinstance(node.get("legs"), dict):
        parts = [aged(name, leg, leg.get("observed_at")) for name, leg in node["legs"].items()]
    else:
        parts = [aged(reading["signal_id"], reading["provenance"], reading["provenance"].get("oldest_leg_as_of"))
                 for reading in node.get("readings", [])]
    if None in parts or len(parts) != int(found.group(1)):
        raise Refused("freshness_rule: not about the parts of the body")
    return parts


def provenance_at(own, parts, now):
    """What a provenance says at an instant."""
    worst = min(parts or [own], key=lambda part: (-rank_of(part[1], part[2], now), part[2], part[0]))
    rank = rank_of(worst[1], worst[2], now)
    said = {"age_hours_now": tenths(now - own[2]) / 10, "freshness": WORDS[rank]}
    if parts:
        said["freshness_leg"] = worst[0]
    if rank == 3:
        said["dead_source"] = "no official reading since " + worst[3]
    return said


def status_at(record, now):
    """The update_status of a record at an instant."""
    cadence, observed, looked = record["official_cadence"], record["observed_at"], record["last_looked_at"]
    due, counts = due_of(record), milliseconds(looked) + LOOK_HOURS[cadence] * HOUR_MS
    late = due is not None and milliseconds(looked) > due
    state, days = "unknown", None
    if late and now <= counts:
        state, days = "overdue", max(0, (now - due) // DAY_MS)
        text = "overdue for a source that publishes %s" % cadence
    elif not late and now <= (counts if due is None else due):
        state, text = "on_schedule", "published as events occur" if due is None else "on schedule (%s)" % cadence
    elif late or due is None:
        text = "unknown: nobody has looked for more than %d hours (%s)" % (LOOK_HOURS[cadence], cadence)
    else:
        text = "unknown: nobody has looked since the next %s reading was due" % cadence
    text += "; last official reading %s, last looked at %s" % (observed, looked)
    return {"update_status": {"state": state, "official_cadence": cadence, "overdue_days": days, "text": text}}


def due_of(record):
    hours = DUE_HOURS.get(record["official_cadence"])
    return None if hours is None else milliseconds(record["observed_at"]) + hours * HOUR_MS


def claims_of(path, node):
    """Place, shown members, what follows at an instant, and the last instants before that changes."""
    provenance, legs = node.get("provenance"), node.get("legs")
    if not isinstance(provenance, dict):
        return
    own = aged("", provenance, provenance.get("oldest_leg_as_of"))
    parts = None if own is None else parts_of(node, word(provenance, "freshness_rule"))
    if parts is not None:
        turns = [turn for part in parts or [own] for turn in turns_of(part)]
        yield (path, "provenance"), shown(provenance), lambda now: provenance_at(own, parts, now), turns, own
    for name, leg in legs.items() if isinstance(legs, dict) else ():
        part = aged(name, leg, leg.get("observed_at"))
        if part is not None:
            yield ((path, "legs"), name), shown(leg), leg_at(part), turns_of(part), None
    if "last_looked_at" in node:
        if node.get("official_cadence") not in BOUNDS or milliseconds(node["last_looked_at"]) is None:
            raise Refused("last_looked_at: not a time beside a cadence")
        yield path, shown(node), lambda now: status_at(node, now), status_turns(node), None


def leg_at(part):
    return lambda now: {"freshness": WORDS[rank_of(part[1], part[2], now)]}


def turns_of(part):
    return [part[2] + hours * HOUR_MS for hours in BOUNDS[part[1]]]


def status_turns(record):
    due = due_of(record)
    turns = [milliseconds(record["last_looked_at"]) + LOOK_HOURS[record["official_cadence"]] * HOUR_MS]
    days = (record.get("update_status") or {}).get("overdue_days")
    if due is not None:
        turns += [due] + [due + (days + more) * DAY_MS - 1 for more in (0, 1) if isinstance(days, int)]
    return turns


def shown(holder):
    names = [name for basis, names in REQUEST_TIME.items() if basis in holder for name in names]
    return {name: holder[name] for name in names if name in holder}


def check_request_time(body, now):
    """All that a body says of the moment of the request is true of one instant, which is not to come."""
    claims = [claim for path, node in objects(body) for claim in claims_of(path, node)]
    if not any(said for _, said, _, _, _ in claims):
        return
    windows = [(earliest(body) - CLOCK_SKEW_MS, now + CLOCK_SKEW_MS)]
    for where, said, _, _, own in claims:
        if own is not None:
            low, high = age_window(where, said.get("age_hours_now"), own[2])
            windows = [(max(low, start), min(high, end)) for start, end in windows]
    foreign = "_citation" in body and "claim" not in body["_citation"]
    for where, said, follows, turns, _ in claims:
        cut = [span for window in windows for span in spans(window, turns)]
        windows = joined(span for span in cut if agrees(said, follows(span[0]), foreign))
        if not windows:
            raise Refused("%s: does not follow from the signed members and the ages" % told(where))
    for path, node in objects(body):
        check_age(path, node.get("provenance"))


def earliest(body):
    """Nothing is served before it was collected and looked at."""
    times = [node.get("last_looked_at") for _, node in objects(body)]
    cited = [node["_citation"] for _, node in objects(body) if isinstance(node.get("_citation"), dict)]
    times += [citation.get("retrieved_at") for citation in cited if "claim" in citation]
    return max([milliseconds(text) or -ENDLESS for text in times], default=-ENDLESS)


def age_window(where, age, at):
    """The instants that an age leaves."""
    if age is None:
        return -ENDLESS, ENDLESS
    if isinstance(age, bool) or not isinstance(age, (int, float)) or not 0 <= age < 1e9 or round(age * 10) / 10 != age:
        raise Refused("%s: not an age in hours with one decimal" % told(where, "age_hours_now"))
    middle = at + round(age * 10) * TENTH_MS
    return middle - TENTH_MS // 2 if age > 0 else -ENDLESS, middle + TENTH_MS // 2 - 1


def check_age(path, provenance):
    """Nothing gets younger than it was when it was collected."""
    if isinstance(provenance, dict) and "age_hours_now" in provenance:
        if provenance["age_hours_now"] < provenance.get("data_age_hours", 0):
            raise Refused("%s: less than when it was collected" % told(path, "provenance", "age_hours_now"))


def spans(window, turns):
    """A window cut behind each turn."""
    low, high = window
    starts = [low] + sorted({turn + 1 for turn in turns if low <= turn < high})
    return [(start, end) for start, end in zip(starts, [start - 1 for start in starts[1:]] + [high]) if start <= end]


def joined(windows):
    """The same instants in as few windows as hold them; each window begins behind the one before it."""
    made = []
    for low, high in windows:
        if made and made[-1][1] + 1 == low:
            made[-1] = (made[-1][0], high)
        else:
            made.append((low, high))
    return made


def agrees(said, right, foreign):
    """Sentences of another issuer, whose citations have no claim, need only be where ours would be."""
    if foreign and isinstance(said.get("dead_source"), str) and "dead_source" in right:
        said = dict(said, dead_source=right["dead_source"])
    return canonical(said) == canonical(right)


def check_lit(body):
    """legs_lit counts the legs that are lit; their classes are signed, the lists of classes are in no body."""
    for path, node in objects(body):
        legs, lit = node.get("legs"), node.get("legs_lit")
        if not isinstance(legs, dict) or not isinstance(lit, dict):
            continue
        if not isinstance(lit.get("names"), list):
            raise Refused("%s: no list" % told(path, "legs_lit", "names"))
        names = [name for name, leg in legs.items() if leg.get("lit") is True]
        of = node.get("leg_availability", {}).get("expected", len(legs))
        places = [legs[name]["position"] for name in lit["names"] if name in legs]
        right = {"count": len(names), "of": of, "names": lit["names"]}
        if lit != right or sorted(lit["names"]) != sorted(names) or places != sorted(places):
            raise Refused("%s: not the count of the legs that are lit" % told(path, "legs_lit"))
        for name, leg in legs.items():
            known = leg["lit"] is None or (isinstance(leg["lit"], bool) and leg.get("band") is not None)
            if not known:
                raise Refused("%s: not of a class" % told(path, "legs", name, "lit"))


# ---- settlement answers: compiler/contract/SETTLEMENTS.md --------------------------------------------------------

CANDIDATES_MAX = 10
LIST_MAX = 1000
LEAD_DAYS = 7
NATURE = "The filing record at a cutoff; describes filings, never adjudicates the event; no forecast, no advice"
RENAMED = {"SCHEDULE 13D": "SC 13D", "SCHEDULE 13G": "SC 13G"}
WELL_KNOWN = ("10-K", "10-Q", "8-K", "NT 10-K", "NT 10-Q", "20-F", "40-F", "6-K", "SC 13D", "SC 13G", "3", "4", "5",
              "144", "13F-HR", "DEF 14A", "S-1", "S-3", "S-4", "S-8", "424B4", "11-K", "25", "15-12G") + tuple(RENAMED)
ITEM_FORMS = ("8-K", "8-K12B", "8-K12G3", "8-K15D5")
INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+ -]\d{2}:\d{2})", re.ASCII)

# Shapes: what a member may be. An object has exactly the members of its shape, a list any number of one shape.


def fits(value, shape):
    if isinstance(shape, dict):
        is_named = isinstance(value, dict) and set(value) == set(shape)
        return is_named and all(fits(value[name], shape[name]) for name in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    return shape(value)


def text(value):
    return isinstance(value, str)


def matching(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def null_or(shape):
    return lambda value: value is None or fits(value, shape)


def one_of(*values):
    return lambda value: any(is_same(value, one) for one in values)


def between(least, shape, most):
    """A list of so many items."""
    return lambda value: fits(value, [shape]) and least <= len(value) <= most


def whole(least):
    return lambda value: is_number(value) and value == int(value) and least <= value <= 2 ** 53 - 1


def day(value):
    try:
        return matching(r"\d{4}-\d{2}-\d{2}")(value) and datetime.date.fromisoformat(value) is not None
    except ValueError:
        return False


def utc_time(value):
    return matching(r".{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z")(value) and day(value[:10])


def cited(value):
    """The citation of a part, whose members are looked at where it is checked."""
    return isinstance(value, dict)


CIK, HEX = matching(r"\d{10}"), matching(r"[0-9a-f]{64}")
FACTS = {"hash_core_version": one_of(3), "entity": CIK, "accession": text, "form": text, "items": [text],
         "event_time": null_or(day), "filing_date": day, "disclosure_time": null_or(utc_time),
         "acceptance_basis": one_of("utc", "new-york", "undetermined"), "observed_at": utc_time,
         "snapshot_date": utc_time, "source": text, "source_ref": null_or(text), "source_tier": null_or(text)}
HASHED = {"record_hash": matching(HASH.pattern), "_hash_core": dict(FACTS, row=one_of("filing.submission"))}
ROW = dict(FACTS, nature=text, entity_name=text, is_amendment=one_of(True, False), evidence_url=null_or(text),
           grade=null_or(text), _citation=cited, **HASHED)
HEAD = {"form": text, "event_class": null_or(text), "count": whole(1), "amendments": whole(0), "lead_days": whole(0),
        "root": HEX}
COVERAGE = {"nature": text, "entity": CIK, "entity_name": text, "tickers": [text], "observed_at": utc_time,
            "covered_from": null_or(day), "gaps": [{"from": day, "to": day}], "covers": text,
            "filings_count": whole(1 - 2 ** 53), "lists": [HEAD], "source": text, "source_ref": null_or(text),
            "source_tier": null_or(text), "grade": null_or(text), "_citation": cited}
LIST = {"index": whole(0), "filings": between(1, between(1, HASHED, ENDLESS), LIST_MAX), "beside": [HEX]}
SETTLEMENT = {"nature": one_of(NATURE), "entity": text, "cik": CIK, "entity_name": text, "form": text,
              "event_class": null_or(text), "source_class": one_of("sec"), "market_or_event": null_or(text),
              "cutoff": text, "cutoff_time": utc_time, "cutoff_basis": one_of("filing_date", "acceptance_time"),
              "note": text, "list": null_or(LIST), "coverage": COVERAGE, "_citation": cited}
RESOLVE = dict(SETTLEMENT, filed_by_cutoff=null_or(one_of(True, False)), event_time=null_or(day),
               disclosure_time=null_or(utc_time), disclosure_date=null_or(day), candidate_count=whole(1 - 2 ** 53),
               candidate_sources=between(0, ROW, CANDIDATES_MAX),
               resolution_status=one_of("resolved", "no_authoritative_source", "ambiguous", "conflicting"))
PROPOSER = dict(SETTLEMENT, answer=null_or(one_of(True, False)), confidence=one_of(0, 1), timestamp=null_or(utc_time),
                evidence_url=null_or(text), source_tier=null_or(text), evidence=null_or(ROW))



def is_settlement(body):
    """Told by its shape, and one of an older form, without a list, by the part whose citation it repeats."""
    return fits(body, PROPOSER if "evidence" in body else RESOLVE) or is_older_answer(body)


def is_older_answer(body):
    if "list" in body or not (body.get("resolution_status") is not None or "confidence" in body):
        return False
    rows = body.get("candidate_sources")
    parts = (rows[:1] if isinstance(rows, list) else []) + [body.get("coverage"), body.get("evidence")]
    cited = [part["_citation"] for part in parts if isinstance(part, dict) and "_citation" in part]
    return "_citation" in body and any(is_same(citation, body["_citation"]) for citation in cited)


def check_settlement(body, issuers):
    """Derives the answer again from the signed filings and lists that it carries; answers what that proves."""
    for path, part in objects(body):
        if path is not None and "_citation" in part:
            check_citation(part, issuers)
    if "list" not in body:
        return "unsigned", "an answer of an older form: its parts are signed, what it answers does not follow from them"
    proposes = "evidence" in body
    rows = [row for row in [body["evidence"]] if row is not None] if proposes else body["candidate_sources"]
    parts = rows + [body["coverage"]]
    if not is_same(body["_citation"], parts[0]["_citation"]):
        raise Refused("_citation: not that of the part that the answer quotes")
    settled = settle(body)
    check_echo(body, parts)
    for name, want in (proposer_members if proposes else resolve_members)(settled).items():
        if not is_same(body[name], want):
            raise Refused("%s: the filings show %s" % (name, canonical(want)))
    given = settled["candidates"][:1 if proposes else CANDIDATES_MAX]
    if [row["record_hash"] for row in rows] != [filing["record_hash"] for filing in given]:
        raise Refused("%s: not the filings that count" % ("evidence" if proposes else "candidate_sources"))
    return "verified", "the answer follows from signed filings and lists; market_or_event repeats the request"


def check_echo(body, parts):
    """The question is a legal one, about the filer of every part, and its cutoff is read as it says."""
    coverage, parsed = body["coverage"], parse_cutoff(body["cutoff"])
    if any((part["entity"], part["entity_name"]) != (body["cik"], body["entity_name"]) for part in parts):
        raise Refused("cik, entity_name: not the filer of every part")
    if body["entity"] not in coverage["tickers"] and cik_of(body["entity"]) != body["cik"]:
        raise Refused("entity: no name of the filer")
    if (body["cutoff_time"], body["cutoff_basis"]) != (parsed["at"], parsed["basis"]):
        raise Refused("cutoff_time, cutoff_basis: not those of the cutoff")
    if any("claim" not in part["_citation"] for part in parts):
        raise Refused("_citation.claim: a part is cited by a statement that does not cover it")
    if len(set(part["_citation"]["issuer_DID"] for part in parts)) != 1:
        raise Refused("_citation.issuer_DID: the parts have several signers")


def cik_of(text):
    digits = re.fullmatch(r"(?:CIK)?(\d{1,10})", text, re.ASCII)
    return digits.group(1).rjust(10, "0") if digits else None


# A question is about the form as it is spelled: an amendment answers only a question about amendments.


def is_amendment(form):
    return form.endswith("/A")


def family(form):
    base = form[:-2] if is_amendment(form) else form
    return RENAMED.get(base, base)


def list_name(form, item):
    return family(form) + ("/A" if is_amendment(form) else ""), item


def question_of(body):
    form, item = body["form"], body["event_class"]
    is_form = re.fullmatch(r"[A-Z0-9][A-Z0-9 /.-]{0,39}", form) and not form.startswith("FORM ")
    if not is_form or form != " ".join(form.split()):
        raise Refused("form: not spelled as in questions")
    if item is not None and not (family(form) in ITEM_FORMS and re.fullmatch(r"\d{1,2}(\.\d{2})?", item, re.ASCII)):
        raise Refused("event_class: no item of this form")
    return {"form": form, "item": item, "cutoff": parse_cutoff(body["cutoff"])}


# Times are milliseconds since 1970, days are text.


def day_milliseconds(day, hour=0, minute=0, second=0, fraction=0):
    try:
        count = datetime.date.fromisoformat(day).toordinal() - datetime.date(1970, 1, 1).toordinal()
    except ValueError as error:
        raise Refused("%s is no day" % day) from error
    return count * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + fraction


def instant(text):
    """An ISO 8601 date-time with a zone; digits beyond milliseconds do not count."""
    found = INSTANT.fullmatch(text)
    if found is None:
        raise Refused("%r is no instant" % text)
    day, hour, minute, second, fraction, zone = found.groups()
    hour, minute, second = int(hour), int(minute), int(second or 0)
    is_past_end = hour == 24 and (minute or second or (fraction or "").strip(".0"))
    if minute > 59 or second > 59 or hour > 24 or is_past_end:
        raise Refused("%r is no instant" % text)
    at = day_milliseconds(day, hour, minute, second, int(((fraction or ".") + "000")[1:4]))
    if zone == "Z":
        return at
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 23 or minutes > 59:
        raise Refused("%r is no instant" % text)
    offset = (hours * 60 + minutes) * 60000
    return at + offset if zone[0] == "-" else at - offset


def iso_time(at):
    """UTC text, with milliseconds only where there are any."""
    try:
        moment = EPOCH + datetime.timedelta(milliseconds=at)
    except OverflowError as error:
        raise Refused("a time outside of the years 1 to 9999") from error
    return moment.isoformat(timespec="milliseconds" if at % 1000 else "seconds") + "Z"


def new_york_day_end(day):
    """The last second of a day in New York: the rules of 2007, and those of 1987 for all years before."""
    year, wall = int(day[:4]), day_milliseconds(day, 23, 59, 59)
    begin, end = ((3, 8), (11, 1)) if year >= 2007 else ((4, 1), (10, 25))
    summer = sunday(year, *begin) <= wall < sunday(year, *end)
    return wall + (4 if summer else 5) * 3600000


def sunday(year, month, day):
    """02:00 of the first Sunday on or after a day."""
    first = datetime.date(year, month, day)
    return day_milliseconds((first + datetime.timedelta(days=(6 - first.weekday()) % 7)).isoformat(), 2)


def parse_cutoff(text):
    """A bare date is that whole filing day, an instant is compared with the acceptance."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
        return {"basis": "filing_date", "date": text, "at": iso_time(new_york_day_end(text))}
    return {"basis": "acceptance_time", "at": iso_time(instant(text))}


# The list: neighbouring filings, newest first, that lead to the root which the filer's statement names.


def settle(body):
    """The answer to the question of a body, from the filings of its list; each filing is a list of its listings."""
    question, coverage = question_of(body), body["coverage"]
    name = list_name(question["form"], question["item"])
    heads = [head for head in coverage["lists"] if (head["form"], head["event_class"]) == name]
    if (body["list"] is None) != (not heads):
        raise Refused("list: given where the filer has none of this form and item, or absent where it has one")
    if not heads and is_lookalike(question, coverage["lists"]):
        raise Refused("list: absent, but the question reads like one about another form or item")
    filings = [] if body["list"] is None else listed_filings(body["list"], heads[0], body["cik"])
    if filings:
        check_neighbours(body["list"]["index"], filings, heads[0], question)
    return dict(verdict(filings, coverage, question), question=question, coverage=coverage)


def is_lookalike(question, heads):
    """Whether a question about what is not stored reads like one about something else, as 10K does."""
    stored = [head["form"] for head in heads if head["event_class"] is None
              and (is_amendment(head["form"]) or head["count"] > head["amendments"])]
    known = [form + end for form in WELL_KNOWN for end in ("", "/A")] + stored
    form, item = question["form"], question["item"] or "1"
    is_like = form not in known and read_form(form) in [read_form(one) for one in known]
    return is_like or item.startswith("0")


def read_form(form):
    """What of a form type is read: letters and digits, where O is 0, I is 1, and zeros in front of a number are nothing."""
    digits = short_numbers(form.replace("O", "0").replace("I", "1"))
    return re.sub(r"^F0RM", "", short_numbers(re.sub(r"[ /.-]", "", digits)))


def short_numbers(text):
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def listed_filings(given, head, cik):
    """The filings of a list, which lead to its root; the hash of each listing is recomputed from its core."""
    filings, leaves = [], []
    for listings in given["filings"]:
        cores = [dict(listing["_hash_core"], record_hash=listing["record_hash"]) for listing in listings]
        if any(hash_of(listing["_hash_core"]) != listing["record_hash"] for listing in listings):
            raise Refused("list.filings: a hash core gives another hash")
        if any(core["entity"] != cik for core in cores):
            raise Refused("list.filings: of another filer")
        filings.append(cores)
        leaves.append(hashlib.sha256(b"\x00" + " ".join(core["record_hash"] for core in cores).encode()).digest())
    beside = [bytes.fromhex(digest) for digest in given["beside"]]
    if stretch_root(given["index"], head["count"], leaves, beside).hex() != head["root"]:
        raise Refused("list: leads to another root")
    return filings


def stretch_root(start, size, leaves, beside):
    """The RFC 6962 root of a tree, from some neighbouring leaves and a hash for each range beside them."""
    stop, rest = start + len(leaves), list(beside)
    if not 0 <= start < stop <= size:
        raise Refused("list: has no place in its tree")

    def fold(begin, end):
        if end <= start or begin >= stop:
            if not rest:
                raise Refused("list.beside: too few hashes")
            return rest.pop(0)
        if end - begin == 1:
            return leaves[begin - start]
        middle = begin + (1 << (end - begin - 1).bit_length() - 1)
        left, right = fold(begin, middle), fold(middle, end)
        return hashlib.sha256(b"\x01" + left + right).digest()

    root = fold(0, size)
    if rest:
        raise Refused("list.beside: too many hashes")
    return root


def check_neighbours(index, filings, head, question):
    """No filing beside those of the list can count."""
    firsts, cutoff = [listings[0] for listings in filings], question["cutoff"]
    originals = [filing for filing in firsts if is_original(filing, question)]
    before = [filing for filing in originals if side(filing, cutoff) == "before"]
    if index > 0 and not is_behind(firsts[0], head["lead_days"], cutoff):
        raise Refused("list: newer filings may count")
    is_end = index + len(filings) == head["count"]
    if not is_end and not (before and firsts[-1]["filing_date"] < before[0]["filing_date"]):
        raise Refused("list: older filings may count")
    if index > 0 and not originals:
        raise Refused("list: the first filing behind the cutoff may be another one")


def is_original(filing, question):
    return is_amendment(filing["form"]) == is_amendment(question["form"])


def is_behind(filing, lead_days, cutoff):
    """Whether this filing, and so every newer one of the list, certainly lies behind the cutoff."""
    if cutoff["basis"] == "filing_date":
        return filing["filing_date"] > cutoff["date"]
    return day_milliseconds(filing["filing_date"]) - lead_days * DAY_MS > instant(cutoff["at"])


def side(filing, cutoff):
    if cutoff["basis"] == "filing_date":
        return "before" if filing["filing_date"] <= cutoff["date"] else "after"
    at = instant(cutoff["at"])
    if filing["disclosure_time"] is not None:
        return "before" if instant(filing["disclosure_time"]) <= at else "after"
    if new_york_day_end(filing["filing_date"]) <= at:
        return "before"
    return "after" if at < day_milliseconds(filing["filing_date"]) - LEAD_DAYS * DAY_MS else "unclear"


# The rule: the newest original at or before the cutoff, else the first one behind it.


def verdict(filings, coverage, question):
    cutoff = question["cutoff"]
    twins = {listings[0]["accession"]: listings[1:] for listings in filings}
    firsts = [(listings[0], side(listings[0], cutoff)) for listings in filings]
    originals = [(filing, on) for filing, on in firsts if is_original(filing, question)]
    before = [filing for filing, on in originals if on == "before"]
    unclear = [filing for filing, on in originals if on == "unclear"]
    amendments = [filing for filing, on in firsts if on != "after" and not is_original(filing, question)]
    if before:
        day = before[0]["filing_date"]
        beside = [filing for filing in before[1:] if filing["filing_date"] == day]
        beside += [filing for filing in unclear + amendments if filing["filing_date"] >= day]
        return decided(before[0], twins, beside, True, "ambiguous" if beside else "resolved")
    if unclear or amendments:
        every = unclear + amendments
        return decided(every[0], twins, every[1:], None, "ambiguous")
    hidden = any(reaches_back(gap, cutoff) for gap in coverage["gaps"])
    filed = False if coverage["covered_from"] is None and not hidden and not is_beyond(cutoff, coverage) else None
    later = [filing for filing, on in originals if on == "after"]
    if filed is None or not later:
        return {"status": "no_authoritative_source", "filed": filed, "selected": None, "candidates": []}
    return decided(later[-1], twins, [], filed, "resolved")


def decided(selected, twins, beside, filed, status):
    """A verdict about a filing, unless its sources tell different facts."""
    others = twins[selected["accession"]]
    if not all(agree(selected, other) for other in others):
        return {"status": "conflicting", "filed": None, "selected": selected, "candidates": [selected] + others}
    return {"status": status, "filed": filed, "selected": selected, "candidates": [selected] + others + beside}


def agree(a, b):
    times = set(instant(one["disclosure_time"]) for one in (a, b) if one["disclosure_time"] is not None)
    events = set(one["event_time"] for one in (a, b) if one["event_time"] is not None)
    return (list_name(a["form"], None), a["filing_date"]) == (list_name(b["form"], None), b["filing_date"]) \
        and len(times) < 2 and len(events) < 2


def reaches_back(gap, cutoff):
    if cutoff["basis"] == "filing_date":
        return gap["from"] <= cutoff["date"]
    return day_milliseconds(gap["from"]) - LEAD_DAYS * DAY_MS <= instant(cutoff["at"])


def is_beyond(cutoff, coverage):
    return instant(coverage["observed_at"]) < instant(cutoff["at"])


# What an answer says in members of its own.


def resolve_members(settled):
    selected = settled["selected"] or {}
    return {"resolution_status": settled["status"], "filed_by_cutoff": settled["filed"],
            "event_time": selected.get("event_time"), "disclosure_time": selected.get("disclosure_time"),
            "disclosure_date": selected.get("filing_date"), "note": note_of(settled),
            "candidate_count": len(settled["candidates"])}


def proposer_members(settled):
    selected = settled["selected"] or {}
    certain = settled["status"] == "resolved" and settled["filed"] is not None
    return {"answer": settled["filed"], "confidence": 1 if certain else 0, "timestamp": selected.get("disclosure_time"),
            "evidence_url": selected.get("source_ref"), "source_tier": selected.get("source_tier"),
            "note": note_of(settled)}


def note_of(settled):
    return " ".join(verdict_words(settled) + limit_words(settled))


def verdict_words(settled):
    question, selected, candidates = settled["question"], settled["selected"], settled["candidates"]
    if selected is None:
        return [nothing(settled)]
    if settled["status"] == "conflicting":
        return ["The %d listings of filing %s do not tell the same facts, so nothing is settled."
                % (len(candidates), selected["accession"])]
    if settled["status"] == "ambiguous":
        return beside_others(settled) if settled["filed"] else unsettled(settled)
    if settled["filed"]:
        return [newest(question, selected)]
    return [nothing(settled), "The first filing day of one after that is %s, of %s %s."
            % (selected["filing_date"], selected["form"], selected["accession"])]


def limit(question):
    cutoff = question["cutoff"]
    return "the filing day " + cutoff["date"] if cutoff["basis"] == "filing_date" else "the instant " + cutoff["at"]


def kind(question):
    return "form %s" % question["form"] + ("" if question["item"] is None else " with item %s" % question["item"])


def named(filing):
    return "%s %s of the filing day %s" % (filing["form"], filing["accession"], filing["filing_date"])


def nothing(settled):
    held = "The stored list holds no %s until %s" % (kind(settled["question"]), limit(settled["question"]))
    if settled["filed"] is None:
        return held + ", which does not mean that none was filed."
    return "%s; it is whole until then and was collected at %s." % (held, settled["coverage"]["observed_at"])


def newest(question, selected):
    return "By filing day, the newest %s that the stored list holds until %s is %s." \
        % (kind(question), limit(question), named(selected))


def counts_of(candidates, question):
    """How many originals, how many of them of an unknown hour, and how many amendments; each filing once."""
    firsts = list(dict((filing["accession"], filing) for filing in reversed(candidates)).values())
    originals = [filing for filing in firsts if is_original(filing, question)]
    unclear = sum(side(filing, question["cutoff"]) == "unclear" for filing in originals)
    return len(originals) - unclear, unclear, len(firsts) - len(originals)


def amendment_words(question):
    return "Amendments" if question["item"] is None else "Amendments with item %s" % question["item"]


def beside_others(settled):
    question, selected = settled["question"], settled["selected"]
    others = [filing for filing in settled["candidates"] if filing["accession"] != selected["accession"]]
    same_day, unclear, amendments = counts_of(others, question)
    words = [newest(question, selected) if same_day == 0 else
             "The stored list holds %d filings of %s of the newest filing day until %s; one of them is %s."
             % (same_day + 1, kind(question), limit(question), named(selected))]
    if unclear:
        words.append("That does not count %d of its filing day or a later one of which the hour is not known, so that "
                     "they may lie on either side of the cutoff." % unclear)
    if amendments:
        words.append("%s of its filing day or a later one that lie before the cutoff or may do so: %d."
                     % (amendment_words(question), amendments))
    return words


def unsettled(settled):
    question = settled["question"]
    _, unclear, amendments = counts_of(settled["candidates"], question)
    words = ["The stored list holds no %s that certainly lies before %s or on it." % (kind(question), limit(question))]
    if unclear:
        words.append("Filings of it of which the hour is not known, so that they may lie on either side of the "
                     "cutoff: %d." % unclear)
    if amendments:
        words.append("%s that lie before the cutoff or may do so: %d." % (amendment_words(question), amendments))
    return words + ["One of these is %s." % named(settled["selected"])]


def limit_words(settled):
    question, coverage, selected = settled["question"], settled["coverage"], settled["selected"] or {"filing_date": ""}
    cutoff, words = question["cutoff"], []
    if is_beyond(cutoff, coverage):
        end = "the end of " + limit(question) if cutoff["basis"] == "filing_date" else limit(question)
        words.append("The list was collected at %s, before %s, and does not tell what was filed later."
                     % (coverage["observed_at"], end))
    if coverage["covered_from"] is not None and selected["filing_date"] < coverage["covered_from"]:
        words.append("The list reaches back to the filing day %s; older filings are not all stored."
                     % coverage["covered_from"])
    return words + ["The list is incomplete from the filing day %s to %s." % (gap["from"], gap["to"])
                    for gap in coverage["gaps"] if reaches_back(gap, cutoff)]


# ---- the transparency log, RFC 6962 -------------------------------------------------------------------------------


def inclusion_root(leaf, index, size, proof):
    """Folds a proof into a leaf hash: the root that it leads to."""
    if not 0 <= index < size:
        raise Refused("index %d is not in a tree of %d entries" % (index, size))
    start, end, sides = 0, size, []
    while end - start > 1:
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        left = index < middle
        sides.append(left)
        start, end = (start, middle) if left else (middle, end)
    if len(sides) != len(proof):
        raise Refused("the proof has %d hashes instead of %d" % (len(proof), len(sides)))
    node = leaf
    for left, sibling in zip(reversed(sides), proof):
        pair = node + sibling if left else sibling + node
        node = hashlib.sha256(b"\x01" + pair).digest()
    return node


def is_proof(body):
    """An answer of the log about one hash."""
    return body.get("endpoint") in ("proof", "gauge/anchor") and isinstance(body.get("hash"), str) \
        and "_citation" not in body


def proof_of(answer):
    """Where an answer keeps its proof, by its own name; null where no entry was found."""
    return answer.get("inclusion", {}) if answer.get("endpoint") == "proof" else answer


def check_proof(answer, issuers):
    """An answer of /proof/<hash> or /gauge/anchor?hash=: core, inclusion and checkpoint."""
    claimed, proved = answer.get("hash"), proof_of(answer)
    if not isinstance(proved, dict) or "inclusion_proof" not in proved:
        raise Refused("no inclusion proof in it")
    if not isinstance(claimed, str) or not HASH.fullmatch(claimed):
        raise Refused("hash: not a whole record hash")
    core = answer.get("hash_core")
    if isinstance(core, dict):
        if hash_of(core) != claimed:
            raise Refused("hash_core: gives another hash")
        for name in ("signal_id", "entity", "observed_at"):
            if name in core and name in answer and not is_same(core[name], answer[name]):
                raise Refused("%s: differs from the hash core" % name)
    leaf = hashlib.sha256(b"\x00" + claimed.encode("ascii")).digest()
    if proved["leaf_hash"] != leaf.hex():
        raise Refused("leaf_hash: not the leaf of the hash")
    if any(not re.fullmatch(r"[0-9a-f]{64}", text) for text in proved["inclusion_proof"]):
        raise Refused("inclusion_proof: not hashes")
    hashes = [bytes.fromhex(text) for text in proved["inclusion_proof"]]
    if isinstance(proved["index"], bool) or isinstance(proved["size"], bool):
        raise Refused("index: not a position in the log")
    root = inclusion_root(leaf, proved["index"], proved["size"], hashes)
    if root.hex() != proved["root"]:
        raise Refused("inclusion_proof: leads to another root")
    check_checkpoint(proved["checkpoint"], proved["size"], root, issuers)


def check_checkpoint(note, size, root, issuers):
    """The signed note states this tree; its signature is checked where an issuer is given."""
    text, lines = read_note(note)
    origin = text.split("\n")[0]
    if text != "%s\n%d\n%s\n" % (origin, size, base64.b64encode(root).decode("ascii")):
        raise Refused("checkpoint: states another tree")
    if not issuers:
        return
    signed = []
    for did in issuers:
        key = public_key(did)
        name = hashlib.sha256(origin.encode("utf-8") + b"\n\x01" + key).digest()[:4]
        own = [data[4:] for signer, data in lines if signer == origin and data[:4] == name]
        if len(own) == 1:
            signed.append(is_signature(key, text.encode("utf-8"), own[0]))
    if not signed or not all(signed):
        raise Refused("checkpoint: no trusted issuer signed it, or one of them twice")


def read_note(note):
    """The text of a C2SP signed note, and of each of its lines the name and the bytes, whoever signed."""
    head, cut, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not cut or len(note) > 16384 or lines.pop() != "" or not 1 <= len(lines) <= 100:
        raise Refused("checkpoint: not a signed note")
    return head + "\n", [signature_line(line) for line in lines]


def signature_line(line):
    found = re.fullmatch(r"\u2014 ([^\s+]+) ([A-Za-z0-9+/]+={0,2})", line)
    if found is None:
        raise Refused("checkpoint: a line that is no signature")
    try:
        data = base64.b64decode(found.group(2), validate=True)
    except ValueError as error:
        raise Refused("checkpoint: a signature that is not base64") from error
    if len(data) <= 4 or base64.b64encode(data).decode("ascii") != found.group(2):
        raise Refused("checkpoint: a signature without bytes, or in another spelling")
    return found.group(1), data


PROOF_LINE = "c2sp.org/tlog-proof@v1"
PROOF_CHARS_MAX = 16384 + 2 * 4096 + 4096
POSITION = re.compile(r"0|[1-9][0-9]{0,15}")


def without_proof(delivered):
    """A delivered body as it was signed, and the proof that came with it; None for none, as no proof is null."""
    if "_proof" not in delivered:
        return delivered, None
    if not isinstance(delivered["_proof"], str):
        raise Refused("_proof: not a text")
    return {name: value for name, value in delivered.items() if name != "_proof"}, delivered["_proof"]


def check_logged(body, proof, issuers):
    """That a body is in the log of the service which its citation names, by a tlog-proof@v1 text of C2SP."""
    citation = body.get("_citation")
    if not isinstance(citation, dict):
        raise Refused("_proof: no citation says of which log it has to be")
    index, hashes, note = read_proof(proof)
    text, _ = read_note(note)
    lines = text.split("\n")
    if len(lines) != 4 or not POSITION.fullmatch(lines[1]) or int(lines[1]) > 2 ** 53 - 1:
        raise Refused("_proof: does not end in a checkpoint")
    base = citation["verify_url"][:-len("/v/" + citation["record_hash"])]
    origin = re.sub(r"^[a-z]+://", "", base).rstrip("/") + "/log"
    if lines[0] != origin:
        raise Refused("_proof: of the log %r, and the body is of %r" % (lines[0], origin))
    size, stated = int(lines[1]), fixed_base64(lines[2], 32)
    leaves = [hashlib.sha256(b"\x00" + name.encode("ascii")).digest() for name in provable_hashes(body)]
    if all(inclusion_root(leaf, index, size, hashes) != stated for leaf in leaves):
        raise Refused("_proof: no hash of this body is the entry that it proves")
    check_checkpoint(note, size, stated, issuers or [citation["issuer_DID"]])


def read_proof(proof):
    """Position, hashes and checkpoint of a tlog-proof@v1 text."""
    head, cut, note = proof.partition("\n\n")
    first, *rest = head.split("\n")
    if len(proof) > PROOF_CHARS_MAX or not cut or first != PROOF_LINE:
        raise Refused("_proof: not a %s text" % PROOF_LINE)
    if rest and rest[0].startswith("extra "):
        fixed_base64(rest.pop(0)[len("extra "):], range(1, 4097))
    line = rest.pop(0) if rest else ""
    if not line.startswith("index ") or not POSITION.fullmatch(line[len("index "):]):
        raise Refused("_proof: no position in it")
    return int(line[len("index "):]), [fixed_base64(one, 32) for one in rest], note


def fixed_base64(text, length):
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError as error:
        raise Refused("_proof: not base64") from error
    fits = len(data) in length if isinstance(length, range) else len(data) == length
    if not fits or base64.b64encode(data).decode("ascii") != text:
        raise Refused("_proof: base64 of another length or spelling")
    return data


def provable_hashes(body):
    """The hashes of which one is the entry: of the reading, or of the statement; of a settlement answer that of coverage."""
    coverage = body.get("coverage")
    if isinstance(coverage, dict) and isinstance(coverage.get("_citation"), dict):
        found = [coverage["_citation"].get("record_hash")]
    else:
        found = [body.get("record_hash"), body["_citation"].get("record_hash")]
    return [one for one in found if isinstance(one, str) and HASH.fullmatch(one)]


# ---- keys and Ed25519, RFC 8032 -----------------------------------------------------------------------------------

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def public_key(did):
    if not isinstance(did, str) or not did.startswith("did:key:z") or len(did) > 100:
        raise Refused("%r is not a did:key" % did)
    value = 0
    for char in did[len("did:key:z"):]:
        if char not in BASE58:
            raise Refused("%s is not base58" % did)
        value = value * 58 + BASE58.index(char)
    data = value.to_bytes(64, "big").lstrip(b"\0")
    if len(data) != 34 or data[:2] != b"\xed\x01":
        raise Refused("%s is not an Ed25519 key" % did)
    return data[2:]


def from_base64url(text):
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise Refused("not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode("ascii").rstrip("=") != text:
        raise Refused("not the one spelling of base64url")
    return data


def add(a, b):
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    t = 2 * a[3] * b[3] * D % P
    z = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar, point):
    result = (0, 1, 1, 0)
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
    if point is None or commitment is None or scalar >= ORDER:
        return False
    if is_equal(multiply(8, point), (0, 1, 1, 0)):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return is_equal(multiply(scalar, BASE), add(commitment, multiply(challenge, point)))


# ---- a series as CSV with its signature: compiler/contract/SERIES-CSV.md ------------------------------------------

CSV_ROWS_MAX = 25000
CSV_CELL = re.compile(r'("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n)')
# What a spreadsheet would run as a formula has one apostrophe more in front.
FORMULA = re.compile(r"'*[=+\-@\t\r]")


def body_of(data):
    """The body that saved bytes stand for: strict JSON, or a signed series as CSV."""
    if not data.startswith(b"# "):
        return parse(data)
    # A program that prints what it bought ends it with a line feed of its own.
    return series_of_csv(data[:-1] if data.endswith(b"\r\n\n") else data)


def series_of_csv(data):
    """The JSON answer in the first line, with the rows of the table behind it."""
    head, end, table = data.partition(b"\r\n")
    # JSON may hold a bare CR or LF between its words, where other readers of CSV would end the line.
    if b"\r" in head or b"\n" in head:
        raise Refused("the first line has a line end inside")
    body = parse(head[2:])
    if not end or not isinstance(body, dict) or body.get("rows") != []:
        raise Refused("the first line is not the answer of a series without its rows")
    try:
        lines = csv_lines(table.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8: %s" % error) from error
    columns = next(lines, None)
    if columns not in (list(SERIES_COLUMNS), list(CORE_COLUMNS)):
        raise Refused("the second line is not the columns of a series")
    rows = []
    for cells in lines:
        if len(rows) == CSV_ROWS_MAX or len(cells) != len(columns):
            raise Refused("rows: too many, or not of the columns of a series")
        rows.append(row_of(dict(zip(columns, cells))))
    return dict(body, rows=rows)


def csv_lines(text):
    """The cells of each line, which have one spelling, so that no other reader finds other cells in it."""
    cells, begin, at = [], 0, 0
    while at < len(text):
        found = CSV_CELL.match(text, at)
        if found is None:
            raise Refused("not CSV at character %d" % at)
        at = found.end()
        cells.append(plain_text(found.group(1)))
        if found.group(2) == "\r\n":
            if ",".join(cell_text(cell) for cell in cells) + "\r\n" != text[begin:at]:
                raise Refused("the line at character %d has cells in another spelling" % begin)
            yield cells
            cells, begin = [], at
    if cells:
        raise Refused("the last line has no end")


def plain_text(cell):
    text = cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def cell_text(text):
    shown = "'" + text if FORMULA.match(text) else text
    return '"%s"' % shown.replace('"', '""') if re.search(r'[",\r\n]', shown) else shown


def row_of(cells):
    age = parse(cells["data_age_hours"].encode("utf-8"))
    if not is_number(age) or number(age) != cells["data_age_hours"]:
        raise Refused("data_age_hours: not a number in its one spelling")
    current = parse(cells["current"].encode("utf-8"))
    row = dict(cells, data_age_hours=age, current=current, band=None if cells["band"] == "" else cells["band"])
    return dict(row, _hash_core=parse(cells["_hash_core"].encode("utf-8"))) if "_hash_core" in cells else row


# ---- command ------------------------------------------------------------------------------------------------------


def judge_body(data, issuers, now):
    body = body_of(data)
    if not isinstance(body, dict):
        raise Refused("not a JSON object")
    canonical(body)
    if is_proof(body):
        return judge_answer(body, issuers)
    body, proof = without_proof(body)
    verdict, detail = judge_signed(body, issuers, now)
    if proof is None:
        return verdict, detail
    check_logged(body, proof, issuers)
    return verdict, detail + "; its proof leads to the log of the issuer"


def judge_signed(body, issuers, now):
    check_relations(body)
    signed = body["sample"] if isinstance(body.get("sample"), dict) and set(body) == {"sample"} else body
    count = check_record_hashes(body)
    check_request_time(body, now)
    check_lit(body)
    if is_settlement(body):
        return check_settlement(body, issuers)
    if "_citation" not in signed:
        check_citations(body, issuers)
        return "unsigned", "%d record hashes recomputed; nobody signed all of it" % count
    if check_citations(body, issuers):
        return "verified", "%d record hashes, content hash, citation hash and signature" % count
    return "verified", "the citation alone: its content hash is not recomputable, so the body is not covered"


def check_relations(body):
    for path, item in objects(body):
        check_series(item)
        check_lineage(item)
        check_look(path, item)


def check_citations(body, issuers):
    """Every citation of a body; answers whether each of them covers what it is attached to."""
    cited = [item for _, item in objects(body) if "_citation" in item]
    for item in cited:
        check_citation(item, issuers)
    return all("claim" in item["_citation"] for item in cited)


def judge_answer(answer, issuers):
    """The verdict on an answer of the log, which proves its hash and nothing else."""
    if answer.get("found") is not True or proof_of(answer) is None:
        return "unsigned", "no entry was found, so nothing is proven"
    check_proof(answer, issuers)
    signed = "signed by a trusted issuer" if issuers else "signature not checked: pass --issuer"
    return "verified", "the inclusion of its hash alone: in the log under its root; checkpoint %s" % signed


def judge_proof(data, issuers, _now):
    answer = parse(data)
    if not isinstance(answer, dict):
        raise Refused("not a JSON object")
    return judge_answer(dict(answer, found=True), issuers)


# ---- vector files: each row has an input, and what is wanted or why it is refused ---------------------------------


def vector_canonical(text):
    return canonical(parse(text.encode("utf-8")))


def vector_record(record):
    core = core_of(record)
    return {"core": canonical(core), "record_hash": hash_of(core)}


def vector_roster(row):
    core = roster_core(row)
    if core is None:
        raise Refused("no row of a roster")
    kind = next(name for name, fields in ROSTER_CORES.items() if fields[0] == list(core)[1])
    return {"kind": kind, "core": canonical(core), "record_hash": hash_of(core)}


def vector_series(given):
    states = chain_states(given["before"], given["rows"])
    if given.get("end", states[-1]) != states[-1]:
        raise Refused("the chain leads elsewhere")
    return {"states": states}


def vector_merkle(given):
    leaf = hashlib.sha256(b"\x00" + given["entry"].encode("ascii")).digest()
    root = inclusion_root(leaf, given["index"], given["size"], [bytes.fromhex(text) for text in given["proof"]])
    if root.hex() != given["root"]:
        raise Refused("leads to another root")
    return {"leaf": leaf.hex()}


def vector_checkpoint(given):
    lines = given["note"].split("\n")
    root = base64.b64decode(lines[2])
    if str(int(lines[1])) != lines[1]:
        raise Refused("not a checkpoint")
    check_checkpoint(given["note"], int(lines[1]), root, [given["issuer"]])
    return {"origin": lines[0], "size": int(lines[1]), "root": root.hex()}


def vector_settlement(given):
    question = question_of(given)
    return resolve_members(dict(verdict(given["filings"], given["coverage"], question), question=question,
                                coverage=given["coverage"]))


# What canonical.json and record-hash.json refuse beyond this is input that no published body holds.
VECTORS = (("canonical.json", vector_canonical, False), ("record-hash.json", vector_record, False),
           ("roster-core.json", vector_roster, True), ("series-chain.json", vector_series, True),
           ("merkle.json", vector_merkle, True), ("checkpoint.json", vector_checkpoint, True),
           ("settlement.json", vector_settlement, True))


def compare_vectors(folder):
    """Each row of the vector files; answers how many were compared and the comments of those that differ."""
    count, off = 0, []
    for name, compute, refusals in VECTORS:
        with open("%s/%s" % (folder, name), "rb") as file:
            rows = json.loads(file.read().decode("utf-8"))
        for row in rows:
            if "want" not in row and not refusals:
                continue
            count += 1
            try:
                made = compute(row["input"])
                agrees = "want" in row and made == row["want"]
            except (Refused,) + MALFORMED:
                agrees = "want" not in row
            if not agrees:
                off.append("%s: %s" % (name, row["comment"]))
    return count, off


def judge(judged, load, issuers, now):
    """Verdict and detail; nothing is verified for an issuer that nobody named, because anybody can make a key."""
    try:
        verdict, detail = judged(load(), issuers, now)
    except (OSError, TooLong) as error:
        return "unsigned", "cannot be judged: %s" % error
    except MemoryError:
        return "unsigned", "cannot be judged: it needs more memory than there is"
    except Refused as error:
        return "failed", str(error)
    except MALFORMED as error:
        return "failed", "a member is missing or of another kind: %r" % error
    if verdict == "verified" and not issuers:
        return "issuer_unknown", detail
    return verdict, detail


def read(path):
    with opened(path) as file:
        return within(file.read(INPUT_BYTES_MAX + 1))


def opened(path):
    """A file, or standard input for -."""
    return open(sys.stdin.fileno() if path == "-" else path, "rb", closefd=path != "-")


def readable(path):
    """The path of an option, for argparse."""
    try:
        opened(path).close()
    except OSError as error:
        raise argparse.ArgumentTypeError(error) from error
    return path


def within(data):
    if len(data) > INPUT_BYTES_MAX:
        raise TooLong("longer than %d bytes" % INPUT_BYTES_MAX)
    return data


def lines_of(path):
    """The lines of a file without their ends; of one that is too long only the beginning is kept."""
    with opened(path) as file:
        for line in iter(lambda: file.readline(INPUT_BYTES_MAX + 1), b""):
            rest = line
            while len(rest) > INPUT_BYTES_MAX and not rest.endswith(b"\n"):
                rest = file.readline(INPUT_BYTES_MAX + 1)
            yield line[:-1] if line.endswith(b"\n") else line


def tasks_of(given):
    """What is to be judged: a name, how, and what reads its bytes."""
    for path in given.lines:
        for number, line in enumerate(lines_of(path), 1):
            yield "%s:%d" % (path, number), judge_body, lambda line=line: within(line)
    for judged, paths in ((judge_body, given.body), (judge_proof, given.proof)):
        for path in paths:
            yield path, judged, lambda path=path: read(path)


VERDICTS = {"issuer_unknown": "consistent, issuer unknown"}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("body", nargs="*")
    options.add_argument("--lines", action="append", default=[], type=readable)
    options.add_argument("--proof", action="append", default=[])
    options.add_argument("--issuer", action="append", default=[])
    options.add_argument("--now")
    options.add_argument("--vectors")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    if given.vectors is not None:
        count, off = compare_vectors(given.vectors)
        print("\n".join(["%d vectors, %d differ" % (count, len(off))] + off))
        sys.exit(1 if off else 0)
    if not given.body and not given.proof and not given.lines:
        options.error("name a body or a proof")
    now = int(time.time() * 1000) if given.now is None else milliseconds(given.now)
    if now is None:
        options.error("--now: not an ISO-8601 time in UTC")
    verdicts = set()
    for name, judged, load in tasks_of(given):
        verdict, detail = judge(judged, load, given.issuer, now)
        verdicts.add(verdict)
        report = {"file": name, "verdict": verdict, "detail": detail}
        words = "%-8s  %s\n          %s" % (VERDICTS.get(verdict, verdict), name, detail)
        print(json.dumps(report) if given.json else words)
    sys.exit(1 if "failed" in verdicts else 0 if verdicts == {"verified"} else 2)


if __name__ == "__main__":
    main()
