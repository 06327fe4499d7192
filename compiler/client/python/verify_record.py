#!/usr/bin/env python3
"""Checks delivered bodies with Python's standard library alone.

A second implementation of compiler/contract/FORMAT.md, written from that text: canonical JSON, record hashes, content
hash, citation hash, Ed25519 signature, what a body says twice, and the inclusion of a hash in the transparency log.
It needs the files verify_*.py beside it.

  verify_record.py BODY.json...                    bodies as saved, and answers of /proof/<hash> or /gauge/anchor?hash=
  verify_record.py SERIES.csv                      a series as CSV that was asked for with format=csv-signed
  verify_record.py --lines BODIES.ndjson           one body a line, - for standard input
  verify_record.py --proof PROOF.json              a proof of the log, and nothing else
  --issuer did:key:z6Mk...                         whom you trust, may be repeated; without it nothing is verified
  --catalog FILE                                   catalog.json of the service with its release.json in the same folder,
                                                   or a release: readings are judged by its classes, scales and ranges
  --policy FILE                                    a tlog-policy of C2SP: its witnesses must have cosigned the proof
  --now 2026-11-20T12:00:00Z                       your clock, where it is not that of this machine
  --vectors FOLDER                                 compare this program with the vector files of the project, or with
                                                   the bodies that npm run vectors:bodies wrote
  --json                                           one JSON object a line

Exit codes: 0 verified, 1 failed, 2 cannot be judged: consistent but of an unknown issuer, nothing signed, not readable.
"""

import argparse
import base64
import datetime
import decimal
import functools
import hashlib
import json
import os
import re
import sys
import time

from verify_catalog import Unusable, check_catalog, given_catalog
from verify_json import (HASH, MALFORMED, Refused, canonical, canonical_bytes, hash_of, is_number, is_same, iso,
                         milliseconds, number, objects, parse, time_of, told)
from verify_log import check_checkpoint, check_logged, check_proof, inclusion_root, is_proof, proof_of, without_proof
from verify_policy import check_policy, read_policy
from verify_request_time import BOUNDS, REQUEST_TIME, check_lit, check_request_time
from verify_settlement import check_settlement, is_settlement, question_of, resolve_members, verdict
from verify_signature import from_base64url, is_signature, public_key

# Longest body that is read, like that of the command of the project.
INPUT_BYTES_MAX = 67108864
CORE = ("hash_core_version", "signal_id", "entity", "snapshot_date", "observed_at", "current", "source_ref",
        "source_tier", "sources", "lifecycle")
SOURCE_CORE = ("name", "weight", "independent", "relay_of")
SEAL = ("record_hash", "signature", "key_id", "issuer_DID", "verify_url")
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


class TooLong(Exception):
    """Input that is not read to its end."""


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


def judge_body(data, issuers, now, catalog=None, policy=None):
    if data.startswith(",".join(SERIES_COLUMNS).encode()):
        return "unsigned", "a series as CSV is not signed; ask for it with format=csv-signed or format=json"
    body = body_of(data)
    if not isinstance(body, dict):
        raise Refused("not a JSON object")
    canonical(body)
    if is_proof(body):
        return judge_answer(body, issuers)
    body, proof = without_proof(body)
    verdict, detail = judge_signed(body, issuers, now)
    note = None if catalog is None else check_catalog(body, catalog)
    detail += "" if note is None else "; " + note
    if proof is None:
        if policy is not None:
            raise Refused("_proof: none, and the policy demands one; buy the body without proof=0")
        return verdict, detail
    note = check_logged(body, proof, issuers)
    witnessed = "" if policy is None else check_policy(note, policy, now)
    return verdict, detail + "; its proof leads to the log of the issuer" + witnessed


def judge_signed(body, issuers, now):
    check_relations(body)
    signed = body["sample"] if isinstance(body.get("sample"), dict) and set(body) == {"sample"} else body
    count = check_record_hashes(body)
    check_request_time(body, now)
    check_lit(body)
    if is_settlement(body):
        for path, part in objects(body):
            if path is not None and "_citation" in part:
                check_citation(part, issuers)
        return check_settlement(body)
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


BODIES_NAME = "bodies.ndjson"


def compare_bodies(path):
    """Each line of a file of bodies with verdicts; answers how many were compared and which of them differ."""
    count, off = 0, []
    for line in lines_of(path):
        row = json.loads(line.decode("utf-8"))
        # What is no text of JSON may hold half of a surrogate pair, as any other byte that is not UTF-8.
        data = row["text"].encode("utf-8", "surrogatepass")
        found, detail = judge(judge_body, lambda: data, [row["issuer"]], milliseconds(row["now"]))
        count += 1
        if found != row["verdict"]:
            off.append("%s %d: %s, not %s (%s); %s: %s" % (BODIES_NAME, row["id"], found, row["verdict"], detail,
                                                            row["class"], row["about"]))
    return count, off


def compare_vectors(folder):
    """Each row of the vector files; answers how many were compared and the comments of those that differ."""
    if os.path.exists("%s/%s" % (folder, BODIES_NAME)):
        return compare_bodies("%s/%s" % (folder, BODIES_NAME))
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
    except (OSError, TooLong, Unusable) as error:
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
    judged_body = functools.partial(judge_body, catalog=given.catalog, policy=given.policy)
    for path in given.lines:
        for number, line in enumerate(lines_of(path), 1):
            yield "%s:%d" % (path, number), judged_body, lambda line=line: within(line)
    for judged, paths in ((judged_body, given.body), (judge_proof, given.proof)):
        for path in paths:
            yield path, judged, lambda path=path: read(path)


VERDICTS = {"issuer_unknown": "consistent, issuer unknown"}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("body", nargs="*")
    options.add_argument("--lines", action="append", default=[], type=readable)
    options.add_argument("--proof", action="append", default=[])
    options.add_argument("--issuer", action="append", default=[])
    options.add_argument("--catalog")
    options.add_argument("--policy")
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
    try:
        given.catalog = None if given.catalog is None else given_catalog(given.catalog, given.issuer)
        given.policy = None if given.policy is None else read_policy(read(given.policy))
    except (OSError, Refused, Unusable) as error:
        options.error("--catalog or --policy: %s" % error)
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
