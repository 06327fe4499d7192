#!/usr/bin/env python3
"""Checks delivered bodies with Python's standard library alone.

A second implementation of compiler/contract/FORMAT.md, written from that text: canonical JSON, record hashes, content
hash, citation hash, Ed25519 signature, what a body says twice, and the inclusion of a hash in the transparency log.
It needs the files verify_*.py beside it.

  verify_record.py BODY.json...                    bodies as saved, and answers of /proof/<hash> or /gauge/anchor?hash=
  verify_record.py SERIES.csv                      a series as CSV that was asked for with format=csv-signed
  verify_record.py RECEIPT                         a signed receipt, its file or the value of PAYMENT-RESPONSE itself
  verify_record.py --lines BODIES.ndjson           one body a line, - for standard input
  --issuer did:key:z6Mk...                         whom you trust, may be repeated; without it nothing is verified
  --root did:key:z6Mk...                           root keys that you trust, as many as a version needs; with --keys
  --keys FILE                                      keys.json of the issuer: which keys follow, end, are revoked, or sign receipts
  --proof, --no-proof                              fail a body without the proof that it is in the log, or take it; by default
                                                   it cannot be judged
  --fresh-proof FILE                               a proof that was fetched later, for the one that came with the body: the
                                                   saved answer of /proof/<hash>, or a tlog-proof@v1
  --write-proof FILE                               writes the proof of a body that holds, for other programs
  --body FILE, --payer 0x...                       of a receipt: the bytes that were delivered, the account that paid
  --policy FILE                                    a tlog-policy of C2SP: its witnesses must have cosigned the proof
  --expect 'GET /gauge?signal_id=...&entity=...'   the request that a body has to answer, spelled as the service spells it;
                                                   with an address in front it has to be of this service too
  --max-age 2h                                     longest age of what was observed (s, m, h or d)
  --now 2026-11-20T12:00:00Z                       your clock, where it is not that of this machine
  --vectors FOLDER                                 compare this program with the vector files of the project, or with
                                                   the bodies that npm run lab -- bodies wrote
  --json                                           one JSON object a line: file, verdict, detail, and about (null where
                                                   nothing holds)

Exit codes: 0 verified, or partly verified (a body in another issuer's form, whose content nobody signs, or a proof of
the log), 1 failed, 2 cannot be judged: consistent but of an unknown issuer, nothing signed, not readable.
"""

import argparse
import json
import sys
import time

from verify_body import SOUND, judge, judge_body, proof_in
from verify_demands import read_age, read_request
from verify_input import TooLong, lines_of, read, readable, within
from verify_json import Refused, milliseconds
from verify_key_list import read_keys
from verify_keys import Reader, check_list
from verify_log import fresh_proof
from verify_policy import read_policy
from verify_receipt import PAYER, receipt_in
from verify_signature import usable_key
from verify_vectors import compare_vectors


VERDICTS = {"partly_verified": "partly verified", "issuer_unknown": "consistent, issuer unknown", "failed": "FAILED",
            "undecided": "cannot be judged", "unsigned": "cannot be judged: not signed",
            "unproven": "cannot be judged: not proven", "unlisted": "cannot be judged: no list of keys names its key"}
# Shorter than any receipt, and longer than the name of a file may be.
RECEIPT_CHARS_MIN = 300


def options():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("body", nargs="*")
    made.add_argument("--lines", action="append", default=[], type=readable)
    made.add_argument("--issuer", action="append", default=[], type=usable(usable_key_of))
    made.add_argument("--root", action="append", default=[], type=usable(usable_key_of))
    made.add_argument("--keys", type=usable(lambda path: read_keys(read(path))))
    made.add_argument("--proof", action=argparse.BooleanOptionalAction)
    made.add_argument("--fresh-proof", type=usable(lambda path: fresh_proof(read(path))))
    made.add_argument("--write-proof")
    made.add_argument("--body", type=usable(read), dest="delivered")
    made.add_argument("--payer", type=usable(payer))
    made.add_argument("--policy", type=usable(lambda path: read_policy(read(path))))
    made.add_argument("--expect", type=usable(read_request))
    made.add_argument("--max-age", type=usable(read_age))
    made.add_argument("--now", type=usable(clock))
    made.add_argument("--vectors")
    made.add_argument("--json", action="store_true")
    return made


def usable(read_value):
    """The value of an option, for argparse."""
    def value(text):
        try:
            return read_value(text)
        except (OSError, TooLong, Refused) as error:
            raise argparse.ArgumentTypeError(error) from error
    return value


def usable_key_of(did):
    usable_key(did)
    return did


def payer(text):
    if not PAYER.fullmatch(text):
        raise Refused("not 0x and 40 hex digits")
    return text


def clock(text):
    now = milliseconds(text)
    if now is None:
        raise Refused("not an ISO-8601 time in UTC")
    return now


def main():
    parser = options()
    given = parser.parse_args()
    if given.vectors is not None:
        count, off = compare_vectors(given.vectors)
        print("\n".join(["%d vectors, %d differ" % (count, len(off))] + off))
        sys.exit(1 if off else 0)
    if not given.body and not given.lines:
        parser.error("name a body")
    try:
        reader = reader_of(given)
    except (OSError, Refused) as error:
        parser.error(str(error))
    if (given.write_proof or given.fresh_proof) and (given.lines or len(given.body) != 1):
        parser.error("--write-proof and --fresh-proof are about one body; name its file")
    verdicts = {told(name, *judge(judge_body, load, reader), given.json) for name, load in tasks_of(given)}
    if given.write_proof and verdicts <= {"verified", "issuer_unknown"}:
        proof = given.fresh_proof or proof_in(read(given.body[0]))
        if proof is None:
            parser.error("it came without a proof; buy it without proof=0, or leave --write-proof out")
        with open(given.write_proof, "w", encoding="utf-8", newline="") as file:
            file.write(proof)
    sys.exit(1 if "failed" in verdicts else 0 if verdicts <= set(SOUND) else 2)


def reader_of(given):
    now = int(time.time() * 1000) if given.now is None else given.now
    reader = Reader(given.issuer, now, tuple(given.root), given.keys, given.policy, given.expect, given.max_age, given.proof,
                    given.delivered, given.payer, given.fresh_proof)
    check_list(reader)
    return reader


def tasks_of(given):
    """What is to be judged: a name, and what reads its bytes."""
    for path in given.lines:
        for number, line in enumerate(lines_of(path), 1):
            yield "%s:%d" % (path, number), lambda line=line: within(line)
    for path in given.body:
        is_value = len(path) >= RECEIPT_CHARS_MIN and receipt_in(path.encode("utf-8", "surrogateescape")) is not None
        yield path[:80] if is_value else path, lambda path=path, own=is_value: path.encode("ascii") if own else read(path)


def told(name, verdict, detail, about, is_json):
    """Prints a verdict, and answers it."""
    if is_json:
        print(json.dumps({"file": name, "verdict": verdict, "detail": detail, "about": about}))
        return verdict
    said = [] if about is None else ["%-12s %s" % each for each in about.items() if each[1] is not None]
    lines = ["%s  %s" % (VERDICTS.get(verdict, verdict), name)] + ["  " + line for line in said + [detail]]
    print("\n".join(plain(line) for line in lines))
    return verdict


def plain(line):
    """Bodies choose their own words: nothing of them may steer a terminal or pretend to be a line."""
    return "".join(char if char.isprintable() else "\\u{%x}" % ord(char) for char in line)


if __name__ == "__main__":
    main()
