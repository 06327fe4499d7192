"""W3C credentials of one body (CREDENTIALS.md), secured with eddsa-jcs-2022."""

import hashlib

from verify_json import Refused, canonical_bytes, is_same, milliseconds
from verify_keys import check_signer, limit_words
from verify_request_time import CLOCK_SKEW_MS
from verify_shapes import fits, one_of, text
from verify_signature import from_base58, is_signature, usable_key

TYPE = "VerifiableCredential"
CONTEXT = one_of(["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/undefined-terms/v2"])


def time(value):
    return milliseconds(value) is not None


PROOF = {"@context": CONTEXT, "type": one_of("DataIntegrityProof"), "cryptosuite": one_of("eddsa-jcs-2022"),
         "created": time, "verificationMethod": text, "proofPurpose": one_of("assertionMethod"), "proofValue": text}
CREDENTIAL = {"@context": CONTEXT, "type": one_of([TYPE]), "issuer": text, "validFrom": time,
              "credentialSubject": {"body": lambda value: isinstance(value, dict)}, "proof": PROOF}


def is_credential(body):
    """Whether a body claims to be a credential, whatever else is wrong with it."""
    proof, kinds = body.get("proof"), body.get("type")
    return "_citation" not in body and ("credentialSubject" in body or
                                        isinstance(proof, dict) and "cryptosuite" in proof or
                                        isinstance(kinds, list) and TYPE in kinds)


def body_within(saved):
    """The body that a saved value is about: that inside a credential, or the value itself."""
    subject = saved.get("credentialSubject") if is_credential(saved) else None
    return subject["body"] if isinstance(subject, dict) and isinstance(subject.get("body"), dict) else saved


def check_credential(credential, reader):
    """Form, proof and times; answers why it cannot be judged, or None: a thief can date back what no log lists."""
    shape = dict(CREDENTIAL, validUntil=time) if "validUntil" in credential else CREDENTIAL
    if not fits(credential, shape):
        raise Refused("credential: not exactly the members of one, each of its kind")
    proof, issuer = credential["proof"], credential["issuer"]
    citation = credential["credentialSubject"]["body"].get("_citation")
    if not isinstance(citation, dict) or citation.get("issuer_DID") != issuer:
        raise Refused("credential.issuer: not who signed the body")
    if proof["verificationMethod"] != "%s#%s" % (issuer, issuer.split(":")[-1]):
        raise Refused("credential.proof.verificationMethod: not the key of the issuer")
    if not is_signature(usable_key(issuer), digest_of(credential), signature_of(proof)):
        raise Refused("credential.proof.proofValue: %s did not sign the credential" % issuer)
    check_times(credential, citation, reader)
    if reader.keys is None:
        return None
    # Whether the issuer is trusted is said at the citation of the body.
    limit = check_signer(reader._replace(issuers=[], roots=()), issuer, proof["created"])
    return None if limit is None else limit_words(issuer, limit) + ", and no log lists credentials; verify the body inside"


def digest_of(credential):
    """The 64 bytes that are signed: of the proof without its value, then of the document without its proof."""
    options = {name: value for name, value in credential["proof"].items() if name != "proofValue"}
    document = {name: value for name, value in credential.items() if name != "proof"}
    return b"".join(hashlib.sha256(canonical_bytes(part)).digest() for part in (options, document))


def signature_of(proof):
    value = proof["proofValue"]
    if not value.startswith("z"):
        raise Refused("credential.proof.proofValue: not base58btc")
    return from_base58(value[1:])


def check_times(credential, citation, reader):
    """Valid from when the body was collected, signed after that, neither of them to come, and not over."""
    latest = reader.now + CLOCK_SKEW_MS
    start, created = milliseconds(credential["validFrom"]), milliseconds(credential["proof"]["created"])
    if not is_same(credential["validFrom"], citation.get("retrieved_at")) or start > latest:
        raise Refused("credential.validFrom: not when the body was collected, or still to come")
    if not start <= created <= latest:
        raise Refused("credential.proof.created: before the body was collected, or still to come")
    until = milliseconds(credential["validUntil"]) if "validUntil" in credential else None
    if until is not None and (until < created or reader.now > until):
        raise Refused("credential.validUntil: it is over, or was over when it was signed")
