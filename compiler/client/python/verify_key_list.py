"""Lists of keys: rotations, revocations, receipt keys and root versions, each derived again from what was signed."""

from verify_json import Refused, canonical_bytes, is_same, milliseconds, parse
from verify_shapes import between, fits, matching, null_or, one_of, text, utc_time, whole
from verify_signature import from_base64url, is_signature, public_key, usable_key

LIST_BYTES_MAX = 1048576
KEYS_MAX, VERSIONS_MAX, ROOT_KEYS_MAX, SIGNATURES_MAX = 256, 64, 8, 25
DID = matching(r"did:key:z6Mk.{0,68}")
TIME, ANY_TIME = utc_time, null_or(utc_time)
ROTATION = {"type": one_of("rotation"), "old_did": DID, "new_did": DID, "stated_at": TIME, "valid_from": TIME,
            "overlap_until": TIME, "signature": text}
REVOCATION = {"type": one_of("revocation"), "did": DID, "revoked_from": TIME, "stated_at": TIME, "signed_by": DID,
              "signature": text}
RECEIPT_KEY = {"type": one_of("receipt_key"), "did": DID, "since": TIME, "until": ANY_TIME, "stated_at": TIME,
               "signed_by": DID, "signature": text}
WINDOW = {"did": DID, "valid_from": ANY_TIME, "valid_until": ANY_TIME, "revoked_from": ANY_TIME}
KEY = dict(WINDOW, key_id=text, statement=null_or(ROTATION))
ROOT = {"type": one_of("root"), "issuer": DID, "version": whole(1), "stated_at": TIME, "threshold": whole(2),
        "root_keys": between(2, DID, ROOT_KEYS_MAX), "issuer_keys": between(1, WINDOW, KEYS_MAX),
        "receipt_keys": between(0, {"did": DID, "since": TIME, "until": ANY_TIME}, KEYS_MAX),
        "signatures": between(0, {"did": DID, "signature": matching(".{0,86}")}, SIGNATURES_MAX)}
LIST = {"format": one_of("signalpress-keys/1", "signalpress-keys/2"), "keys": between(1, KEY, KEYS_MAX),
        "revocations": between(0, REVOCATION, KEYS_MAX)}
# Absent where there are none.
ADDED = {"receipt_keys": between(1, RECEIPT_KEY, KEYS_MAX), "roots": between(1, ROOT, VERSIONS_MAX)}


def read_keys(data):
    """Reads a list of keys and derives it again; refuses one that does not follow from its statements."""
    if len(data) > LIST_BYTES_MAX:
        raise Refused("the list of keys is longer than %d bytes" % LIST_BYTES_MAX)
    given = parse(data)
    shape = dict(LIST, **{name: ADDED[name] for name in ADDED if isinstance(given, dict) and name in given})
    if not fits(given, shape):
        raise Refused("the list of keys has not exactly the members of one, each of its kind")
    roots = given.get("roots", [])
    check_dids(given)
    rotations = [key["statement"] for key in given["keys"] if key["statement"] is not None]
    before = before_roots(given["keys"][0]["did"], rotations, given["revocations"])
    for statement in rotations + given["revocations"] + given.get("receipt_keys", []):
        check_signed(statement, statement.get("old_did", statement.get("signed_by")), statement["signature"])
    check_roots(roots, before)
    right = under_root(before, roots[-1]) if roots else before
    if not is_same(given["keys"], right) or (given["format"] == "signalpress-keys/2") != bool(roots):
        raise Refused("the keys of the list do not follow from its statements")
    for at, rotation in enumerate(rotations):
        check_rotation(rotation, before[at])
    return given


def check_dids(given):
    """Every key is usable, no issuer key stands twice, and none signs receipts."""
    dids = [key["did"] for key in given["keys"]]
    receipts = [key["did"] for key in given.get("receipt_keys", [])]
    if len(set(dids)) != len(dids) or set(dids) & set(receipts):
        raise Refused("the list names a key twice")
    rooted = [did for root in given.get("roots", [])
              for did in root["root_keys"] + [key["did"] for key in root["receipt_keys"]]]
    for did in dict.fromkeys(dids + receipts + rooted):
        usable_key(did)


def check_signed(statement, did, signature):
    """A signature is over the canonical text of all members but those that hold signatures."""
    signed = {name: value for name, value in statement.items() if name not in ("signature", "signatures")}
    if not is_signature(public_key(did), canonical_bytes(signed), from_base64url(signature)):
        raise Refused("the signature of a %s is not that of %s" % (statement["type"], did))


# ---- rotations and revocations ------------------------------------------------------------------------------------


def before_roots(first, rotations, revocations):
    """The keys that the statements of issuer keys make, the oldest first."""
    dids = [first] + [rotation["new_did"] for rotation in rotations]
    revoked = revoked_from(dids, revocations)
    starts = [None] + [rotation["valid_from"] for rotation in rotations]
    ends = [rotation["overlap_until"] for rotation in rotations] + [None]
    return [{"did": did, "key_id": key_id(did), "valid_from": starts[at], "valid_until": ends[at],
             "revoked_from": revoked[at], "statement": ([None] + rotations)[at]} for at, did in enumerate(dids)]


def key_id(did):
    return "%s#%s" % (did, did.split(":")[-1])


def revoked_from(dids, revocations):
    """A key revokes itself, and a later key an earlier one, unless it was revoked itself by then; the earliest time counts."""
    revoked = [None] * len(dids)
    for at in reversed(range(len(dids))):
        counted = []
        for one in revocations:
            signer = dids.index(one["signed_by"]) if one["signed_by"] in dids else -1
            silenced = signer > at and is_at_or_after(one["stated_at"], revoked[signer])
            if one["did"] == dids[at] and signer >= at and not silenced:
                counted.append(one["revoked_from"])
        revoked[at] = min(counted, key=milliseconds, default=None)
    return revoked


def is_at_or_after(time, limit):
    return limit is not None and milliseconds(time) >= milliseconds(limit)


def check_rotation(rotation, old):
    """The key before announces the next one, unless it is revoked by then, and no time is left without a key."""
    if rotation["old_did"] != old["did"] or is_at_or_after(rotation["stated_at"], old["revoked_from"]):
        raise Refused("%s was not announced by the key before it, or by a revoked one" % rotation["new_did"])
    start = milliseconds(rotation["valid_from"])
    if old["valid_from"] is not None and start < milliseconds(old["valid_from"]):
        raise Refused("%s is valid before the key that announced it" % rotation["new_did"])
    if milliseconds(rotation["overlap_until"]) < start:
        raise Refused("there is a time without a valid key before %s" % rotation["new_did"])


# ---- roots --------------------------------------------------------------------------------------------------------


def under_root(before, newest):
    """The keys as the newest version names them."""
    statements = [key["statement"] for key in before] + [None] * len(newest["issuer_keys"])
    return [dict(key, key_id=key_id(key["did"]), statement=statements[at]) for at, key in enumerate(newest["issuer_keys"])]


def check_roots(roots, before):
    """Every version comes right behind the one before it, drops no key, and has the signatures that it needs."""
    adopted = [key["did"] for key in before]
    adopter = next((key["did"] for key in reversed(before) if key["revoked_from"] is None), None)
    for at, root in enumerate(roots):
        last = roots[at - 1] if at > 0 else None
        check_version(root, last, adopted)
        check_tables(root)
        signers = [one["did"] for one in root["signatures"]]
        if len(set(signers)) != len(signers):
            raise Refused("version %d of the root is signed twice by one key" % root["version"])
        for one in root["signatures"]:
            check_signed(root, one["did"], one["signature"])
        known = adopted if last is None else [key["did"] for key in last["issuer_keys"]]
        single = ([] if last is not None else [adopter]) + [
            key["did"] for key in root["issuer_keys"] if key["did"] not in known]
        voters = [root] + ([] if last is None else [last])
        if not all(has_threshold(voter, signers) for voter in voters) or not set(single) <= set(signers):
            raise Refused("version %d of the root lacks a signature that it needs" % root["version"])


def has_threshold(voter, signers):
    return sum(did in signers for did in voter["root_keys"]) >= voter["threshold"]


def check_version(root, last, adopted):
    kept = adopted if last is None else [key["did"] for key in last["issuer_keys"]]
    named = [key["did"] for key in root["issuer_keys"]]
    if root["version"] != (0 if last is None else last["version"]) + 1 or root["issuer"] != adopted[0]:
        raise Refused("version %d of the root is out of its order, or of another issuer" % root["version"])
    if last is not None and milliseconds(root["stated_at"]) < milliseconds(last["stated_at"]):
        raise Refused("version %d of the root is older than the one before it" % root["version"])
    if named[:len(kept)] != kept:
        raise Refused("version %d of the root drops a key" % root["version"])


def check_tables(root):
    """Each key stands in one place, with a window that is one."""
    windows = [(key["did"], key["valid_from"], key["valid_until"]) for key in root["issuer_keys"]]
    windows += [(key["did"], key["since"], key["until"]) for key in root["receipt_keys"]]
    dids = root["root_keys"] + [did for did, _, _ in windows]
    if len(set(dids)) != len(dids) or len(root["root_keys"]) < root["threshold"]:
        raise Refused("version %d of the root names a key twice, or too few root keys" % root["version"])
    for did, start, end in windows:
        if start is not None and end is not None and milliseconds(end) < milliseconds(start):
            raise Refused("%s ends before it begins" % did)
    if any(key["valid_from"] is None for key in root["issuer_keys"][1:]):
        raise Refused("version %d of the root has a later key without a beginning" % root["version"])
