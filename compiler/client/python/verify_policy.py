"""A policy of a reader (C2SP tlog-policy): which logs sign a checkpoint, and which witnesses have to have cosigned it."""

import base64
import datetime
import hashlib
import re

from verify_json import EPOCH, Refused
from verify_log import read_note
from verify_signature import decompress, is_equal, is_signature, multiply

POLICY_BYTES_MAX = 262144
LOGS_MAX, NAMES_MAX, KEY_CHARS_MAX = 128, 256, 4096
LOG_KEY, WITNESS_KEY, MLDSA_KEY = 1, 4, 6
SECONDS_MAX = 253402300799
SKEW_MS = 300000


class Policy:
    """Logs and witnesses as (name, type, key, words); a group is (threshold, members)."""

    def __init__(self):
        self.logs, self.names, self.taken, self.quorum = [], {}, set(), ()

    def witnesses(self):
        return [(name, each) for name, each in self.names.items() if each[0] == "witness"]


def read_policy(data):
    """Reads a policy strictly; refuses one with the number of the line."""
    if len(data) > POLICY_BYTES_MAX or not data.endswith(b"\n"):
        raise Refused("the policy is too long, or its last line has no line end")
    policy = Policy()
    for at, line in enumerate(data.decode("latin-1").split("\n")[:-1], 1):
        try:
            take_line(policy, line)
        except (Refused, ValueError, IndexError) as error:
            raise Refused("line %d of the policy: %s" % (at, error)) from error
    if policy.quorum == ():
        raise Refused("the policy has no quorum line")
    return policy


def take_line(policy, line):
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", line):
        raise Refused("a control character")
    words = [word for word in re.split(r"[ \t]+", line) if word != ""]
    if not words or words[0].startswith("#"):
        return
    take = {"log": take_log, "witness": take_witness, "group": take_group, "quorum": take_quorum}.get(words[0])
    if take is None:
        raise Refused("%r is no word of a policy" % words[0][:80])
    take(policy, words[1:])


def take_log(policy, words):
    if not 1 <= len(words) <= 2 or len(policy.logs) == LOGS_MAX:
        raise Refused("not log <vkey> [<url>], or too many logs")
    check_text(words[1:])
    policy.logs.append(verifier_key(words[0], (LOG_KEY,), policy.logs))


def take_witness(policy, words):
    if not 2 <= len(words) <= 3:
        raise Refused("not witness <name> <vkey> [<url>]")
    check_text(words[2:])
    known = [each[1] for _, each in policy.witnesses()]
    define(policy, words[0], ("witness", verifier_key(words[1], (WITNESS_KEY, MLDSA_KEY), known)))


def take_group(policy, words):
    names = words[2:]
    if not names:
        raise Refused("not group <name> <all, any or a number> <name>...")
    for name in names:
        if name not in policy.names or name in policy.taken:
            raise Refused("%r is not defined above, or a member twice" % name[:80])
        policy.taken.add(name)
    count = {"all": str(len(names)), "any": "1"}.get(words[1], words[1])
    if not re.fullmatch(r"[1-9][0-9]{0,8}", count) or int(count) > len(names):
        raise Refused("%r is not all, any or a number of members" % words[1][:80])
    define(policy, words[0], ("group", int(count), names))


def take_quorum(policy, words):
    if len(words) != 1 or policy.quorum != ():
        raise Refused("not quorum <name>, or a second one")
    if words[0] != "none" and words[0] not in policy.names:
        raise Refused("%r is not defined above" % words[0][:80])
    policy.quorum = None if words[0] == "none" else words[0]


def define(policy, name, member):
    if name == "none" or name in policy.names or len(policy.names) == NAMES_MAX:
        raise Refused("%r is defined twice, has a meaning of its own, or is one too many" % name[:80])
    policy.names[name] = member


def check_text(words):
    for word in words:
        word.encode("latin-1").decode("utf-8")


def verifier_key(octets, types, known):
    """Name, type and public key of a verifier key of a signed note; each key stands once."""
    text = octets.encode("latin-1").decode("utf-8")
    found = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+(.+)", text)
    if found is None or len(text) > KEY_CHARS_MAX or re.search(r"[\x00-\x1f\x7f-\x9f]", text):
        raise Refused("not <name>+<8 hex digits>+<base64>")
    data = base64.b64decode(found.group(3), validate=True)
    if base64.b64encode(data).decode("ascii") != found.group(3) or data[0] not in types:
        raise Refused("a key in another spelling, or of another type")
    key = (found.group(1), data[0], data[1:])
    point = None if data[0] == MLDSA_KEY else decompress(key[2]) if len(key[2]) == 32 else ()
    if point == () or (data[0] != MLDSA_KEY and (point is None or is_equal(multiply(8, point), (0, 1, 1, 0)))):
        raise Refused("no usable key of Ed25519")
    if key_hash(key).hex() != found.group(2) or any(one[2] == key[2] for one in known):
        raise Refused("its hash is not that of its name and key, or it stands in an earlier line")
    return key


def key_hash(key):
    name, kind, public = key
    return hashlib.sha256(name.encode("utf-8") + b"\n" + bytes([kind]) + public).digest()[:4]


# ---- a checkpoint by a policy -------------------------------------------------------------------------------------


def check_policy(note, policy, now):
    """Refuses a checkpoint that the policy does not take; answers who witnessed it, in words."""
    text, lines = read_note(note)
    check_log(text, lines, policy)
    times = dict((name, cosigned_at(name, key, (text, lines), now)) for name, (_, key) in policy.witnesses())
    cosigned = dict((name, at) for name, at in times.items() if at is not None)
    if policy.quorum is not None and not has_witnessed(policy, policy.quorum, cosigned):
        raise Refused("_proof: not witnessed as the policy demands")
    return "".join("; witnessed by %s at %s" % (name, spelled(at)) for name, at in cosigned.items())


def spelled(at):
    return (EPOCH + datetime.timedelta(milliseconds=at)).isoformat() + "Z"


def check_log(text, lines, policy):
    """A log that the policy lists signed, if it lists any, and no line of such a log is forged."""
    origin, verdicts = text.split("\n")[0], []
    for key in [key for key in policy.logs if key[0] == origin]:
        own = own_lines(key, lines)
        verdicts += [is_signature(key[2], text.encode("utf-8"), own[0])] if len(own) == 1 and len(own[0]) == 64 else []
    if policy.logs and not (verdicts and all(verdicts)):
        raise Refused("_proof: signed by no log of the policy, or not by it")


def own_lines(key, lines):
    return [data[4:] for signer, data in lines if signer == key[0] and data[:4] == key_hash(key)]


def cosigned_at(name, key, note, now):
    """When a witness cosigned, the earliest in milliseconds; None for not, or not yet."""
    text, lines = note
    if key[1] == MLDSA_KEY:
        return None
    times = []
    for data in own_lines(key, lines):
        seconds = int.from_bytes(data[:8], "big")
        signed = ("cosignature/v1\ntime %d\n" % seconds + text).encode("utf-8")
        is_stated = len(data) == 72 and 1 <= seconds <= SECONDS_MAX
        if not is_stated or not is_signature(key[2], signed, data[8:]):
            raise Refused("_proof: the cosignature of %s does not hold" % name)
        times.append(seconds * 1000)
    return min([at for at in times if at - now <= SKEW_MS], default=None)


def has_witnessed(policy, name, cosigned):
    member = policy.names[name]
    if member[0] == "witness":
        return name in cosigned
    return sum(has_witnessed(policy, each, cosigned) for each in member[2]) >= member[1]
