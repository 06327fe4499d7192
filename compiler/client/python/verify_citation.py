"""Citations: form, hashes and signature, and what a body says again of what they sign: FORMAT.md, sections 4, 7 and 11."""

import datetime
import decimal
import hashlib
import re

from verify_json import (HASH, Refused, canonical_bytes, hash_of, is_same, milliseconds, objects, time_of, told)
from verify_keys import check_signer
from verify_request_time import BOUNDS, REQUEST_TIME
from verify_series import SERIES_CUT, is_series
from verify_signature import from_base64url, is_signature, public_key

SEAL = ("record_hash", "signature", "key_id", "issuer_DID", "verify_url")
STATEMENT = ("schema_version", "statement_type", "not_advice", "claim", "fact", "source", "retrieved_at", "status",
             "translated")
CITED_SOURCE = ("issuer", "type", "url", "content_hash", "published_at")


def check_citation(body, reader):
    """Hash, content hash, key and signature of the citation of a body, and what it repeats of the body.

    Answers from when on its key is revoked, where that is later than the collection.
    """
    citation = body["_citation"]
    check_shape(citation)
    statement = {key: value for key, value in citation.items() if key not in SEAL}
    text = canonical_bytes(statement)
    if "sha256:" + hashlib.sha256(text).hexdigest() != citation["record_hash"]:
        raise Refused("_citation.record_hash: the statement gives another hash")
    did, source = citation["issuer_DID"], citation["source"]
    limit = check_signer(reader, did, citation["retrieved_at"])
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
    return limit


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
