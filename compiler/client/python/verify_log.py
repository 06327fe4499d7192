"""The transparency log (RFC 6962): answers about a hash, proofs that came with a body, and signed checkpoints."""

import base64
import hashlib
import re

from verify_json import HASH, Refused, hash_of, is_same
from verify_signature import is_signature, public_key


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


def check_proof(answer, reader):
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
    check_checkpoint(proved["checkpoint"], proved["size"], root, reader.issuers)


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


def signed_in(body):
    """What the citation of a body stands in: the record of a free sample, else the body."""
    return body["sample"] if set(body) == {"sample"} and isinstance(body["sample"], dict) else body


def without_proof(delivered):
    """A delivered body as it was signed, and the proof that came with it; None for none, as no proof is null."""
    signed = signed_in(delivered)
    if "_proof" not in signed:
        return delivered, None
    if not isinstance(signed["_proof"], str):
        raise Refused("_proof: not a text")
    rest = {name: value for name, value in signed.items() if name != "_proof"}
    return rest if signed is delivered else {"sample": rest}, signed["_proof"]


def check_logged(body, proof, reader):
    """That a body is in the log of the service which its citation names, by a tlog-proof@v1 text of C2SP: its checkpoint."""
    body = signed_in(body)
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
    check_checkpoint(note, size, stated, reader.issuers or [citation["issuer_DID"]])
    return note


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
    rows, coverage = body.get("candidate_sources"), body.get("coverage")
    parts = (rows[:1] if isinstance(rows, list) else []) + [body.get("evidence"), coverage]
    own, *cited = [statement_hash(one) for one in [body] + parts]
    # An answer repeats the citation of a part, which no signed body can: its content would hold its own hash.
    covered = statement_hash(coverage) if own in cited else None
    found = [body.get("record_hash"), own] if covered is None else [covered]
    return [one for one in found if isinstance(one, str) and HASH.fullmatch(one)]


def statement_hash(part):
    citation = part.get("_citation") if isinstance(part, dict) else None
    return citation.get("record_hash") if isinstance(citation, dict) else None
