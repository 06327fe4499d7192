"""The vector files of the project, and bodies with verdicts: each row has an input, and what is wanted or why it is refused."""

import base64
import hashlib
import json
import os

from verify_body import judge, judge_body
from verify_core import ROSTER_CORES, core_of, roster_core
from verify_demands import read_request
from verify_input import lines_of
from verify_json import MALFORMED, Refused, canonical, canonical_bytes, hash_of, milliseconds, parse
from verify_key_list import read_keys
from verify_keys import Reader, check_list
from verify_log import check_checkpoint, inclusion_root
from verify_series import chain_states
from verify_settlement import question_of, resolve_members, verdict


def vector_canonical(text):
    return canonical_bytes(parse(text.encode("utf-8"))).decode("utf-8")


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


VECTORS = (("canonical.json", vector_canonical), ("record-hash.json", vector_record),
           ("roster-core.json", vector_roster), ("series-chain.json", vector_series),
           ("merkle.json", vector_merkle), ("checkpoint.json", vector_checkpoint),
           ("settlement.json", vector_settlement))


BODIES_NAME = "bodies.ndjson"


def compare_bodies(path):
    """Each line of a file of bodies with verdicts; answers how many were compared and which of them differ."""
    count, off = 0, []
    for line in lines_of(path):
        row = json.loads(line.decode("utf-8"))
        # What is no text of JSON may hold half of a surrogate pair, as any other byte that is not UTF-8.
        data = row["text"].encode("utf-8", "surrogatepass")
        try:
            found, detail, _ = judge(judge_body, lambda: data, reader_of(row))
        except Refused as error:
            found, detail = "undecided", str(error)
        count += 1
        if found != row["verdict"] and (found, row["check"]) != ("undecided", "json"):
            off.append("%s %d: %s, not %s (%s); %s: %s" % (BODIES_NAME, row["id"], found, row["verdict"], detail,
                                                            row["class"], row["about"]))
    return count, off


def reader_of(row):
    """Whom the reader of a row trusts, and what he knows and demands."""
    delivered = row["delivered"].encode("utf-8") if "delivered" in row else None
    reader = Reader(row.get("issuers", [row["issuer"]]), milliseconds(row["now"]), tuple(row.get("roots", [])),
                    read_keys(row["keys"].encode("utf-8")) if "keys" in row else None,
                    expect=read_request(row["expect"]) if "expect" in row else None, max_age_ms=row.get("max_age_ms"),
                    demands_proof=row.get("demands_proof", False), body=delivered, payer=row.get("payer"))
    check_list(reader)
    return reader


def compare_vectors(folder):
    """Each row of the vector files; answers how many were compared and the comments of those that differ."""
    if os.path.exists("%s/%s" % (folder, BODIES_NAME)):
        return compare_bodies("%s/%s" % (folder, BODIES_NAME))
    count, off = 0, []
    for name, compute in VECTORS:
        with open("%s/%s" % (folder, name), "rb") as file:
            rows = json.loads(file.read().decode("utf-8"))
        for row in rows:
            count += 1
            try:
                made = compute(row["input"])
                agrees = "want" in row and made == row["want"]
            except (Refused,) + MALFORMED:
                agrees = "want" not in row
            if not agrees:
                off.append("%s: %s" % (name, row["comment"]))
    return count, off
