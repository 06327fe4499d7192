"""The verdict on a delivered body: its citations, hashes, words of request time, and the proof that came with it."""

from typing import NamedTuple, Optional

from verify_basket import check_basket, is_basket
from verify_catalog import Unusable, check_catalog
from verify_citation import check_citation, check_lineage, check_look
from verify_core import check_record_hashes
from verify_demands import check_demands
from verify_input import TooLong
from verify_json import MALFORMED, Refused, canonical_bytes, objects, parse
from verify_log import check_logged, check_proof, is_proof, proof_of, without_proof
from verify_policy import check_policy
from verify_request_time import check_lit, check_request_time
from verify_series import SERIES_COLUMNS, check_series, series_of_csv
from verify_settlement import check_settlement, is_settlement


class Unreadable(Refused):
    """Bytes that are no body: not strict JSON, nor a signed table."""


class Judged(NamedTuple):
    """verified or unsigned, in words; whether one signed statement covers all of it, and who signed."""
    verdict: str
    detail: str
    is_whole: bool = False
    signer: Optional[str] = None


def judge(judged, load, reader):
    """Verdict and detail; nothing is verified for an issuer that nobody named, because anybody can make a key."""
    try:
        verdict, detail = judged(load(), reader)
    except (OSError, TooLong, Unusable, Unreadable) as error:
        return "undecided", str(error)
    except MemoryError:
        return "undecided", "it needs more memory than there is"
    except Refused as error:
        return "failed", str(error)
    except MALFORMED as error:
        return "failed", "a member is missing or of another kind: %r" % error
    if verdict == "verified" and not reader.issuers:
        return "issuer_unknown", detail
    return verdict, detail


def judge_body(data, reader):
    """The verdict on saved bytes, and why."""
    if data.startswith(",".join(SERIES_COLUMNS).encode()):
        return "unsigned", "a series as CSV is not signed; ask for it with format=csv-signed or format=json"
    body = readable(data)
    judged = judge_value(body, reader)
    met = check_demands(without_proof(body)[0], judged, reader)
    return judged.verdict, judged.detail + met


def readable(data):
    """The value of saved bytes, which can be hashed."""
    try:
        body = body_of(data)
        canonical_bytes(body)
        return body
    except (Refused,) + MALFORMED as error:
        raise Unreadable("not readable: %s" % error) from error


def body_of(data):
    """The body that saved bytes stand for: strict JSON, or a signed series as CSV."""
    if not data.startswith(b"# "):
        return parse(data)
    # A program that prints what it bought ends it with a line feed of its own.
    return series_of_csv(data[:-1] if data.endswith(b"\r\n\n") else data)


def judge_value(body, reader):
    if not isinstance(body, dict):
        raise Refused("not a JSON object")
    if is_basket(body):
        return judge_basket(body, reader)
    return judge_answer(body, reader) if is_proof(body) else judge_delivered(body, reader)


def judge_basket(basket, reader):
    judged = check_basket(basket, lambda answer: judge_value(answer, reader))
    verdicts = {one.verdict for one in judged}
    detail = "%d of %d requests were sold; each answer is judged as if it had come alone" % (
        len(judged), len(basket["parts"]))
    signer = judged[0].signer if judged else None
    return Judged("verified" if verdicts == {"verified"} else "unsigned", detail, signer=signer)


def judge_delivered(delivered, reader):
    """One body, with the proof that came with it."""
    body, proof = without_proof(delivered)
    judged = judge_signed(body, reader)
    note = None if reader.catalog is None else check_catalog(body, reader.catalog)
    detail = judged.detail + ("" if note is None else "; " + note)
    if proof is None:
        if reader.policy is not None:
            raise Refused("_proof: none, and the policy demands one; buy the body without proof=0")
        return judged._replace(detail=detail)
    note = check_logged(body, proof, reader)
    witnessed = "" if reader.policy is None else check_policy(note, reader.policy, reader.now)
    return judged._replace(detail=detail + "; its proof leads to the log of the issuer" + witnessed)


def judge_signed(body, reader):
    check_relations(body)
    count = check_record_hashes(body)
    check_request_time(body, reader.now)
    check_lit(body)
    cited = [(path, item) for path, item in objects(body) if "_citation" in item]
    signer = cited[0][1]["_citation"].get("issuer_DID") if cited else None
    if is_settlement(body):
        for path, part in cited:
            if path is not None:
                check_citation(part, reader)
        return Judged(*check_settlement(body), is_whole=covers(cited), signer=signer)
    for _, item in cited:
        check_citation(item, reader)
    signed = body["sample"] if isinstance(body.get("sample"), dict) and set(body) == {"sample"} else body
    if "_citation" not in signed:
        return Judged("unsigned", "%d record hashes recomputed; nobody signed all of it" % count, signer=signer)
    if covers(cited):
        detail = "%d record hashes, content hash, citation hash and signature" % count
        return Judged("verified", detail, True, signer)
    detail = "the citation alone: its content hash is not recomputable, so the body is not covered"
    return Judged("verified", detail, signer=signer)


def check_relations(body):
    for path, item in objects(body):
        check_series(item)
        check_lineage(item)
        check_look(path, item)


def covers(cited):
    """Whether each citation covers what it is attached to: one of another issuer's form signs itself alone."""
    return all("claim" in item["_citation"] for _, item in cited)


def judge_answer(answer, reader):
    """The verdict on an answer of the log, which proves its hash and nothing else."""
    if answer.get("found") is not True or proof_of(answer) is None:
        return Judged("unsigned", "no entry was found, so nothing is proven")
    check_proof(answer, reader)
    signed = "signed by a trusted issuer" if reader.issuers else "signature not checked: pass --issuer"
    return Judged("verified", "the inclusion of its hash alone: in the log under its root; checkpoint %s" % signed)
