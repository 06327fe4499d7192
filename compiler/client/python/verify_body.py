"""The verdict on a delivered body: its citations, hashes, words of request time, and the proof that came with it."""

from typing import NamedTuple, Optional

from verify_basket import check_basket, is_basket
from verify_citation import check_citation, check_lineage, check_look
from verify_core import check_record_hashes
from verify_demands import about_of, check_demands
from verify_input import TooLong, Unusable
from verify_json import MALFORMED, Refused, canonical_bytes, milliseconds, objects, parse
from verify_keys import limit_of, limit_words
from verify_log import check_logged, check_proof, is_proof, owes_proof, proof_of, sample_in, without_proof
from verify_policy import check_policy
from verify_receipt import judge_receipt, receipt_in
from verify_request_time import CLOCK_SKEW_MS, check_lit, check_request_time
from verify_series import SERIES_COLUMNS, check_series, series_of_csv
from verify_settlement import check_settlement, is_settlement

# What holds for an issuer that somebody named, all of it, or the citation or the inclusion of a hash alone.
SOUND = ("verified", "partly_verified")
# Members that only the catalogue of the issuer defines.
OF_CATALOG = ("standard_ruler", "band", "lit")
HOW_TO_PROVE = "buy it without proof=0, or do without with --no-proof"


class Unreadable(Refused):
    """Bytes that are no body: not strict JSON, nor a signed table."""


class Judged(NamedTuple):
    """verified, partly_verified (nothing signs the content) or unsigned, in words; who signed, and whether a proof is owed."""
    verdict: str
    detail: str
    signer: Optional[str] = None
    is_owing: bool = False


def judge(judged, load, reader):
    """Verdict, detail, and what it is about; nothing is verified for an issuer that nobody named: anybody can make a key."""
    try:
        verdict, detail, about = judged(load(), reader)
    except (OSError, TooLong, Unusable, Unreadable) as error:
        return "undecided", str(error), None
    except MemoryError:
        return "undecided", "it needs more memory than there is", None
    except Refused as error:
        return "failed", str(error), None
    except MALFORMED as error:
        return "failed", "a member is missing or of another kind: %r" % error, None
    if verdict in SOUND and not reader.is_pinned():
        return "issuer_unknown", detail, about
    return verdict, detail, about


def judge_body(data, reader):
    """The verdict on saved bytes, why, and what a body that holds is about."""
    if data.startswith(",".join(SERIES_COLUMNS).encode()):
        return "unsigned", "a series as CSV is not signed; ask for it with format=csv-signed or format=json", None
    receipt = receipt_in(data)
    if receipt is not None:
        return judge_receipt(receipt, reader) + (None,)
    if reader.body is not None or reader.payer is not None:
        raise Unusable("--body and --payer are about a receipt")
    body = readable(data)
    if reader.fresh_proof is not None and isinstance(body, dict):
        body = dict(without_proof(body)[0], _proof=reader.fresh_proof)
    judged = judge_value(body, reader)
    bare = without_proof(body)[0]
    met = check_demands(bare, judged, reader)
    about = about_of(bare) if judged.verdict in SOUND else None
    if judged.verdict == "verified" and judged.is_owing and reader.demands_proof is None and reader.is_pinned():
        return "unproven", judged.detail + met + "; nothing shows that it is in the log of its issuer: " + HOW_TO_PROVE, about
    return judged.verdict, judged.detail + met, about


def proof_in(data):
    """The proof that came with a saved body, as tlog-proof@v1; None for none."""
    try:
        return without_proof(body_of(data))[1]
    except (Refused,) + MALFORMED:
        return None


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
    signer = next((one.signer for one in judged), None)
    owing = any(one.is_owing for one in judged)
    return Judged("verified" if verdicts == {"verified"} else "unsigned", detail, signer=signer, is_owing=owing)


def judge_delivered(delivered, reader):
    """One body, with the proof that came with it."""
    body, proof = without_proof(delivered)
    cited = [(path, item) for path, item in objects(body) if "_citation" in item]
    suspects = [found for found in judged_citations(body, cited, reader) if found[2] is not None]
    check_covered(cited, proof, reader)
    judged = judge_signed(body, cited, reader)
    judged = judged._replace(detail=judged.detail + not_judged(body))
    logged = None if proof is None else check_logged(body, proof, reader)
    judged = judge_logged(judged, body, logged, reader)
    open_words = [words for words in (suspect_words(one, logged, reader) for one in suspects) if words is not None]
    return judged._replace(verdict="unsigned", detail=open_words[0]) if open_words else judged


def not_judged(body):
    """What is said of a body that names a class or a scale: its issuer signs them, and the catalogue defines them."""
    named = any(item.get(name) is not None for _, item in objects(body) for name in OF_CATALOG)
    return "; classes, scales and ranges: not judged here" if named else ""


def judged_citations(body, cited, reader):
    """Checks each citation; answers its path, who signed, and the limit of that key, where its time is over."""
    for path, item in cited:
        # A settlement answer repeats the citation of a part, which is checked there.
        if path is not None or not is_settlement(body):
            yield path, item["_citation"]["issuer_DID"], check_citation(item, reader)


def judge_logged(judged, body, logged, reader):
    """The verdict with what the proof of a body shows."""
    if logged is None:
        if reader.policy is not None or reader.demands_proof is True:
            raise Refused("_proof: none, and one is demanded; " + HOW_TO_PROVE)
        return judged._replace(is_owing=owes_proof(body))
    note, signers, _ = logged
    past = past_signer(signers, reader)
    if past is not None and not is_witnessed(note, reader, past[1].before):
        words = "the checkpoint of its proof: " + limit_words(*past)
        if reader.demands_proof is True:
            raise Refused("_proof: " + words)
        return judged._replace(detail=judged.detail + "; " + words, is_owing=True)
    witnessed = "" if reader.policy is None else check_policy(note, reader.policy, reader.now)
    return judged._replace(detail=judged.detail + "; its proof leads to the log of the issuer" + witnessed)


def past_signer(signers, reader):
    """The past key that signed a checkpoint, where none in use did; a note has no time that a thief could not choose."""
    listed = limits_of(signers, reader)
    if not listed or any(limit is None for _, limit in listed):
        return None
    return min(listed, key=lambda one: milliseconds(one[1].before))


def limits_of(signers, reader):
    """Each key of the list that signed, with its limit."""
    listed = [] if reader.keys is None else reader.keys["keys"]
    return [(key["did"], limit_of(reader.keys, key, reader.now)) for key in listed if key["did"] in signers]


def is_witnessed(note, reader, before):
    """Whether the quorum of the policy cosigned a checkpoint before a time."""
    if reader.policy is None or reader.policy.quorum is None:
        return False
    latest = min(reader.now, milliseconds(before) - 1 - CLOCK_SKEW_MS)
    try:
        return check_policy(note, reader.policy, latest) != ""
    except Refused:
        return False


def suspect_words(suspect, logged, reader):
    """Why what a past key signed cannot be judged; None where something shows that it is older."""
    path, did, limit = suspect
    is_top = path in (None, "sample")
    if logged is not None and is_shown(logged, limit, reader):
        if logged[2] == "statement" and (is_top or not limit.is_revoked):
            return None
        if logged[2] == "reading" and is_top:
            return "only its reading is older than the end of %s; its other words are signed by a key of the past alone" % did
    return limit_words(did, limit) + ": what it signed counts only where a log or witnesses show that it is older"


def is_shown(logged, limit, reader):
    """Whether witnesses saw the checkpoint before, or, of a key that ended, one in use signed it."""
    note, signers, _ = logged
    is_present = any(found is None for _, found in limits_of(signers, reader))
    return is_witnessed(note, reader, limit.before) or (is_present and not limit.is_revoked)


def judge_signed(body, cited, reader):
    """What follows from signed members; every citation holds."""
    check_relations(body)
    count = check_record_hashes(body)
    check_request_time(body, reader.now)
    check_lit(body)
    signer = cited[0][1]["_citation"].get("issuer_DID") if cited else None
    if is_settlement(body):
        return Judged(*check_settlement(body), signer=signer)
    if "_citation" not in (sample_in(body) or body):
        return Judged("unsigned", "%d record hashes recomputed; nobody signed all of it" % count, signer=signer)
    if covers(cited):
        detail = "%d record hashes, content hash, citation hash and signature" % count
        return Judged("verified", detail, signer)
    detail = "the citation alone: its content hash is not recomputable, and nothing signs the content"
    return Judged("partly_verified", detail, signer)


def check_relations(body):
    for path, item in objects(body):
        check_series(item)
        check_lineage(item)
        check_look(path, item)


def covers(cited):
    """Whether each citation covers what it is attached to: one of another issuer's form signs itself alone."""
    return all("claim" in item["_citation"] for _, item in cited)


def check_covered(cited, proof, reader):
    """A citation without a claim is taken alone, at the top, with a label for a key of no list: all else is of our form."""
    if covers(cited):
        return
    path, citation = cited[0][0], cited[0][1]["_citation"]
    listed = [] if reader.keys is None else [key["did"] for key in reader.keys["keys"]]
    is_alone = path is None and len(cited) == 1 and proof is None
    if not is_alone or citation["issuer_DID"] in listed or citation["key_id"].startswith("did:"):
        raise Refused("_citation.source.content_hash: a citation without a claim signs itself alone, and this is no other form")


def judge_answer(answer, reader):
    """The verdict on an answer of the log, which proves its hash and nothing else."""
    if answer.get("found") is not True or proof_of(answer) is None:
        return Judged("unsigned", "no entry was found, so nothing is proven")
    note, signers, newest = check_proof(answer, reader)
    witnessed = "" if reader.policy is None else check_policy(note, reader.policy, reader.now)
    past = past_signer(signers, reader)
    is_proven_now = newest != [] and past_signer(newest, reader) is None
    if past is not None and not is_proven_now and not is_witnessed(note, reader, past[1].before):
        return Judged("unsigned", limit_words(*past) + ": ask /proof/<hash> again, for a checkpoint of a later key")
    signed = "signed by a trusted issuer" if signers else "signature not checked: pass --issuer"
    words = "the inclusion of its hash alone: in the log under its root; checkpoint " + signed + witnessed
    return Judged("partly_verified", words)
