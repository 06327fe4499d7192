"""Whom a reader trusts, and what is demanded of a body beside being true."""

from typing import NamedTuple, Optional

from verify_json import Refused


class Reader(NamedTuple):
    """What a body is judged by.

    issuers     DIDs that are trusted; without one nothing is verified
    now         clock of the reader, milliseconds since 1970
    catalog     verify_catalog.Given: what readings are judged by
    policy      verify_policy.Policy: who has to have witnessed the checkpoint of a proof
    expect      verify_demands.Request that a body has to answer
    max_age_ms  longest age of what was observed
    """
    issuers: list
    now: int
    catalog: Optional[object] = None
    policy: Optional[object] = None
    expect: Optional[object] = None
    max_age_ms: Optional[int] = None


def check_signer(reader, did):
    """Refuses who is not trusted."""
    if reader.issuers and did not in reader.issuers:
        raise Refused("_citation.issuer_DID: %s is not trusted" % did)
