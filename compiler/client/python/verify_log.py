"""The transparency log (RFC 6962): answers about a hash, proofs that came with a body, and signed checkpoints."""

import base64
import hashlib
import re
import urllib.parse

from verify_core import core_of, roster_core
from verify_json import HASH, Refused, hash_of, is_same, parse
from verify_keys import believed
from verify_signature import is_signature, public_key

# Members of the proof in an answer of the log, and all others that it may have: nothing signs what another one says.
PROVED = {"batch", "day", "size_before", "size", "root", "checkpoint", "index", "leaf_hash", "inclusion_proof"}
BESIDE_PROOF = {"endpoint", "hash", "found", "kind", "record_status", "signal_id", "entity", "observed_at", "hash_core",
                "hash_core_members", "recompute", "tlog_proof", "anchor", "note", "ots_state", "bitcoin_height",
                "bitcoin_block", "stamped_at", "ots_proof", "ots_note"}
# Operations about one reading, of a signal and an entity, and about one row of a collection.
OF_READING = ("/gauge", "/gauge/ruler", "/gauge/calibrated", "/gauge/strata", "/gauge/history", "/gauge/history-series")
OF_ROW = ("/gauge/macro-reconcile-full", "/trust/precheck", "/mcp/server", "/stable/coin", "/gauge/taiwan-region",
          "/gauge/japan-region", "/gauge/chokepoint-region", "/pay/tier2", "/pay/tier3", "/shadow/chatter",
          "/shadow/signal-plus", "/shadow/region-plus")


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
    """An answer of /proof/<hash> or /gauge/anchor?hash=: core, inclusion and checkpoint.

    Answers its checkpoint, who signed that, and who the newest one that it brings.
    """
    claimed, proved = answer.get("hash"), proof_of(answer)
    if not isinstance(proved, dict) or "inclusion_proof" not in proved:
        raise Refused("no inclusion proof in it")
    if not isinstance(claimed, str) or not HASH.fullmatch(claimed):
        raise Refused("hash: not a whole record hash")
    beside = BESIDE_PROOF | (PROVED if proved is answer else {"inclusion"})
    strange = sorted(set(answer) - beside) or sorted(set(proved) - PROVED if proved is not answer else ())
    if strange:
        raise Refused("%s: no member of an answer of the log" % strange[0])
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
    known = believed(reader, None if reader.keys is None else reader.keys["keys"][0]["did"])
    newest = [] if answer.get("tlog_proof") is None else check_newest(answer["tlog_proof"], leaf, known)
    return proved["checkpoint"], check_checkpoint(proved["checkpoint"], proved["size"], root, known), newest


def check_newest(proof, leaf, known):
    """The tlog-proof@v1 text beside an answer is of the same leaf, and signed; answers by whom."""
    if not isinstance(proof, str):
        raise Refused("tlog_proof: not a text")
    index, hashes, note = read_proof(proof)
    size, stated = stated_tree(read_note(note)[0])
    if inclusion_root(leaf, index, size, hashes) != stated:
        raise Refused("tlog_proof: does not lead to its root")
    return check_checkpoint(note, size, stated, known)


def stated_tree(text):
    """Size and root of the tree that the text of a checkpoint states."""
    lines = text.split("\n")
    if len(lines) != 4 or not POSITION.fullmatch(lines[1]) or int(lines[1]) > 2 ** 53 - 1:
        raise Refused("_proof: does not end in a checkpoint")
    return int(lines[1]), fixed_base64(lines[2], 32)


def check_checkpoint(note, size, root, issuers):
    """The signed note states this tree; its signature is checked where an issuer is given. Answers who of them signed."""
    text, lines = read_note(note)
    origin = text.split("\n")[0]
    if text != "%s\n%d\n%s\n" % (origin, size, base64.b64encode(root).decode("ascii")):
        raise Refused("checkpoint: states another tree")
    signed = {did: is_signature(public_key(did), text.encode("utf-8"), own[0])
              for did, own in ((did, lines_of_key(did, origin, lines)) for did in issuers) if len(own) == 1}
    if issuers and not (signed and all(signed.values())):
        raise Refused("checkpoint: no trusted issuer signed it, or one of them twice")
    return list(signed)


def lines_of_key(did, origin, lines):
    """The signatures of a key under the name of its log."""
    name = hashlib.sha256(origin.encode("utf-8") + b"\n\x01" + public_key(did)).digest()[:4]
    return [data[4:] for signer, data in lines if signer == origin and data[:4] == name]


# Room for 16 signatures of the longest kind.
NOTE_CHARS_MAX = 131072


def characters(text):
    """How long a text is: a character beyond U+FFFF counts as two, as in UTF-16."""
    return len(text) + sum(char > "\uffff" for char in text)


def read_note(note):
    """The text of a C2SP signed note, and of each of its lines the name and the bytes, whoever signed."""
    head, cut, tail = note.rpartition("\n\n")
    lines = tail.split("\n")
    if not cut or characters(note) > NOTE_CHARS_MAX or lines.pop() != "" or not 1 <= len(lines) <= 100:
        raise Refused("checkpoint: not a signed note")
    return head + "\n", [signature_line(line) for line in lines]


# A name holds no space of Unicode, no control character and no plus; what \s means differs between languages.
SIGNATURE = re.compile(r"\u2014 ([^\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000+]+) ([A-Za-z0-9+/]+={0,2})")


def signature_line(line):
    found = SIGNATURE.fullmatch(line)
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
PROOF_CHARS_MAX = NOTE_CHARS_MAX + 2 * 4096 + 4096
POSITION = re.compile(r"0|[1-9][0-9]{0,15}")


def without_proof(delivered):
    """A delivered body as it was signed, and the proof that came with it, or with the record in a sample; None for none."""
    record = sample_in(delivered)
    holder = delivered if record is None else record
    if "_proof" not in holder:
        return delivered, None
    if not isinstance(holder["_proof"], str):
        raise Refused("_proof: not a text")
    bare = {name: value for name, value in holder.items() if name != "_proof"}
    return bare if record is None else {"sample": bare}, holder["_proof"]


def sample_in(body):
    """The record that is the only member of a free sample; None for any other body."""
    return body["sample"] if set(body) == {"sample"} and isinstance(body["sample"], dict) else None


def owes_proof(body):
    """Whether one citation of this service's form signs all of a body, or of the record in a sample."""
    citation = (sample_in(body) or body).get("_citation")
    return isinstance(citation, dict) and "claim" in citation


def base_of(citation):
    """The address of the service that signed."""
    return citation["verify_url"][:-len("/v/" + citation["record_hash"])]


def check_logged(body, proof, reader):
    """That a body is in the log of the service which its citation names, by a tlog-proof@v1 text of C2SP.

    Answers its checkpoint, who signed that, and whether the entry is of its reading, of a reading that it names, or of its statement.
    """
    body = sample_in(body) or body
    citation = body.get("_citation")
    if not isinstance(citation, dict):
        raise Refused("_proof: no citation says of which log it has to be")
    index, hashes, note = read_proof(proof)
    text, _ = read_note(note)
    size, stated = stated_tree(text)
    named = text.split("\n")[0]
    origin = re.sub(r"^[a-z]+://", "", base_of(citation)).rstrip("/") + "/log"
    if named != origin:
        raise Refused("_proof: of the log %r, and the body is of %r" % (named, origin))
    signers = check_checkpoint(note, size, stated, believed(reader, citation["issuer_DID"]))
    for name, kind in provable_hashes(body):
        leaf = hashlib.sha256(b"\x00" + name.encode("ascii")).digest()
        if inclusion_root(leaf, index, size, hashes) == stated:
            return note, signers, kind
    raise Refused("_proof: no hash of this body is the entry that it proves")


def fresh_proof(data):
    """A tlog-proof@v1 text: as it is, or that of a saved answer of /proof/<hash>."""
    answer = parse(data) if data.startswith(b"{") else {"tlog_proof": data.decode("utf-8", "replace")}
    proof = answer.get("tlog_proof")
    if not isinstance(proof, str):
        raise Refused("the answer holds no proof; save that of /proof/<hash> as it is")
    read_proof(proof)
    return proof


def read_proof(proof):
    """Position, hashes and checkpoint of a tlog-proof@v1 text."""
    head, cut, note = proof.partition("\n\n")
    first, *rest = head.split("\n")
    if characters(proof) > PROOF_CHARS_MAX or not cut or first != PROOF_LINE:
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
    """The hashes of which one is the entry, of a reading or a statement; of a settlement answer that of coverage."""
    rows, coverage = body.get("candidate_sources"), body.get("coverage")
    parts = (rows[:1] if isinstance(rows, list) else []) + [body.get("evidence"), coverage]
    own, *cited = [statement_hash(one) for one in [body] + parts]
    # An answer repeats the citation of a part, which no signed body can: its content would hold its own hash.
    covered = statement_hash(coverage) if own in cited else None
    found = [reading_hash(body), (own, "statement")] if covered is None else [(covered, "statement")]
    return [one for one in found if isinstance(one[0], str) and HASH.fullmatch(one[0])]


def reading_hash(body):
    """The record hash of the one reading or row that a body is about, by its signed address, and whether it only names it.

    A body that joins several cannot borrow the entry of one of them. A record and a row bear the core of the hash. All else
    names a reading: its own figures are in no entry.
    """
    citation = body["_citation"]
    if citation["source"]["url"] is None:
        return None, None
    path, _, query = citation["source"]["url"][len(base_of(citation)):].partition("?")
    # Of a name that stands twice the first value counts.
    asked = dict(reversed(urllib.parse.parse_qsl(query, keep_blank_values=True)))
    is_whole = path in OF_ROW or (path == "/gauge" and "format" not in asked)
    if path not in OF_READING + OF_ROW or (is_whole and not bears_core(body, path in OF_ROW)):
        return None, None
    is_own = path in OF_ROW or all(name in asked and asked[name] == body.get(name) for name in ("signal_id", "entity"))
    return body.get("record_hash") if is_own else None, "reading" if is_whole else "named reading"


def bears_core(body, is_row):
    """Whether the hash is that of the members: a core beside them, or one of the other kind, says nothing about them."""
    return "_hash_core" not in body and core_of(body) is not None and (roster_core(body) is not None) == is_row


def statement_hash(part):
    citation = part.get("_citation") if isinstance(part, dict) else None
    return citation.get("record_hash") if isinstance(citation, dict) else None
