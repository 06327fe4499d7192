"""Whom a reader trusts: issuer keys, root keys, and what a list of keys says of each at a time (FORMAT.md, section 10; ROOTS.md)."""

from typing import NamedTuple, Optional

from verify_json import Refused, milliseconds


class Reader(NamedTuple):
    """What a body is judged by.

    issuers     DIDs that are trusted; without one, and without root keys, nothing is verified
    now         clock of the reader, milliseconds since 1970
    roots       DIDs of root keys, which vouch together for a list of keys and sign nothing else
    keys        a list of keys, as verify_key_list.read_keys answers it
    policy      verify_policy.Policy: who has to have witnessed the checkpoint of a proof
    expect      the request that a body has to answer, as verify_demands.read_request answers it
    max_age_ms  longest age of what was observed
    body        bytes that a receipt has to be for
    payer       account that has to have paid by a receipt
    demands_proof  whether a body that is not proven to be in the log fails, or is taken; None leaves it unproven
    fresh_proof  a proof that was fetched later, in the place of the one that came with a body
    """
    issuers: list
    now: int
    roots: tuple = ()
    keys: Optional[dict] = None
    policy: Optional[object] = None
    expect: Optional[str] = None
    max_age_ms: Optional[int] = None
    demands_proof: Optional[bool] = None
    body: Optional[bytes] = None
    payer: Optional[str] = None
    fresh_proof: Optional[str] = None

    def is_pinned(self):
        """Whether somebody in particular is trusted: anybody can make a key."""
        return bool(self.issuers or self.roots)


def check_list(reader):
    """Refuses a list that the root keys of the reader do not vouch for, and a root key where an issuer is named."""
    keys = reader.keys
    misused = [did for did in reader.issuers if did in reader.roots or did in root_keys_of(keys)]
    if misused:
        raise Refused("%s is a root key, which no issuer signs with; pass it with --root alone" % misused[0])
    if reader.roots and keys is None:
        raise Refused("root keys vouch for a list of keys alone; pass it with --keys")
    if reader.roots and not vouched(keys, reader.issuers, reader.roots):
        raise Refused("the list of keys has no version of a root that enough of the trusted root keys signed")


def root_keys_of(keys):
    """Of all versions: they sign versions of the root and nothing else."""
    return {did for root in (keys or {}).get("roots", []) for did in root["root_keys"]}


def vouched(keys, issuers, roots):
    """The keys of a list that trust reaches: a trusted issuer key and all behind it, or with enough root keys every one."""
    dids = [key["did"] for key in keys["keys"]]
    if roots:
        return dids if any(is_rooted(root, roots) for root in keys.get("roots", [])) else []
    first = next((at for at, did in enumerate(dids) if did in issuers), len(dids))
    return dids[first:]


def is_rooted(root, trusted):
    signers = [one["did"] for one in root["signatures"] if one["did"] in root["root_keys"] and one["did"] in trusted]
    return len(signers) >= root["threshold"]


def believed(reader, named=None):
    """The keys that may have signed. Whoever trusts nobody asks for the key that is named, and those behind it."""
    issuers = list(reader.issuers) if reader.is_pinned() or named is None else [named]
    if reader.keys is None:
        return issuers
    reached = issuers + vouched(reader.keys, issuers, reader.roots)
    return [did for did in dict.fromkeys(reached) if did not in root_keys_of(reader.keys)]


def check_signer(reader, did, time):
    """Refuses who may not have signed something of a time; answers the limit of its key, where its time is over."""
    standing, key = standing_of(reader.keys, did, time)
    if standing == "revoked":
        raise Refused("_citation.issuer_DID: %s is revoked from %s on" % (did, key["revoked_from"]))
    if standing == "stopped":
        raise Refused("_citation.issuer_DID: %s was in use until %s only" % (did, key["valid_until"]))
    if did not in believed(reader, did):
        raise Refused("_citation.issuer_DID: %s is not trusted" % did)
    return None if key is None else limit_of(reader.keys, key, reader.now)


class Limit(NamedTuple):
    """Until when a key counted that was revoked or has ended: what it signed may carry any date."""
    before: str
    is_revoked: bool


def limit_of(keys, key, now):
    """The limit of a key of a list; None for one that is in use, by the clock and by what was stated later."""
    if key["revoked_from"] is not None:
        return Limit(key["revoked_from"], True)
    until = key["valid_until"]
    if until is None or milliseconds(until) >= max(now, newest_statement(keys)):
        return None
    return Limit(until, False)


def newest_statement(keys):
    """When the newest statement of a list was made."""
    announced = [key["statement"] for key in keys["keys"] if key["statement"] is not None]
    stated = announced + keys["revocations"] + keys.get("receipt_keys", []) + keys.get("roots", [])
    return max([milliseconds(one["stated_at"]) for one in stated], default=0)


def limit_words(did, limit):
    return "%s %s" % (did, ("is revoked from %s on" if limit.is_revoked else "was in use until %s") % limit.before)


def standing_of(keys, did, time):
    """How a key counts at a time, and the key; suspect is one that was revoked later, so a thief could have dated back."""
    listed = [] if keys is None else keys["keys"]
    index = next((at for at, key in enumerate(listed) if key["did"] == did), None)
    if index is None:
        return "unknown", None
    key, at = listed[index], milliseconds(time)
    if key["revoked_from"] is not None:
        return "suspect" if at is not None and at < milliseconds(key["revoked_from"]) else "revoked", key
    if key["valid_until"] is not None and (at is None or at > milliseconds(key["valid_until"])):
        return "stopped", key
    return "valid" if starts_by(listed, index, at) else "early", key


def starts_by(listed, index, at):
    """A key that was announced takes over at once when the one before it is revoked."""
    if listed[index]["valid_from"] is None:
        return True
    revoked = listed[index - 1]["revoked_from"] if index > 0 else None
    starts = [milliseconds(text) for text in (listed[index]["valid_from"], revoked) if text is not None]
    return at is not None and at >= min(starts)
