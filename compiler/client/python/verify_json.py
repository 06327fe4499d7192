"""Strict JSON, its canonical text and hashes (RFC 8785), UTC times, and the walk through the objects of a body."""

import datetime
import decimal
import hashlib
import json
import re

DEPTH_MAX = 64
HASH = re.compile(r"sha256:[0-9a-f]{64}")
# Members that hold facts or a signed statement under names of their own: no record stands inside.
CLOSED = ("_citation", "_hash_core", "current", "previous", "context")
RESERVED_KEYS = ("__proto__", "constructor", "prototype")
UTC_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?Z", re.ASCII)
EPOCH = datetime.datetime(1970, 1, 1)
HOUR_MS = 3600000
DAY_MS = 24 * HOUR_MS
ENDLESS = 10 ** 18
# What reading a member that is missing, or of another kind or size than it should be, ends in.
MALFORMED = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class Refused(Exception):
    """Something that does not hold, in words."""


def parse(data):
    """Strict JSON: no key twice, no number that changes, no lone surrogate, no U+0000."""
    def members(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise Refused("a key appears twice in one object")
        if any(key in RESERVED_KEYS for key in keys):
            raise Refused("a key is reserved")
        return dict(pairs)

    def refuse(text):
        raise Refused("%s is not JSON" % text)

    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_constant=refuse, parse_float=exact)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise Refused("not JSON: %s" % error) from error


def exact(text):
    """The double that a number spells, which must keep it digit for digit; a whole one, as it is used, as an int."""
    value = float(text)
    if value in (float("inf"), float("-inf")) or decimal.Decimal(text) != decimal.Decimal(repr(value)):
        raise Refused("%s is a number that a double cannot keep" % text)
    if not value.is_integer():
        return value
    if abs(value) > 2 ** 53 - 1:
        raise Refused("%s is an integer beyond 2^53-1" % text)
    return int(value)


def canonical(value, depth=0):
    """The RFC 8785 text of a value."""
    if depth >= DEPTH_MAX and isinstance(value, (list, dict)):
        raise Refused("more than %d open containers" % DEPTH_MAX)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[%s]" % ",".join(canonical(item, depth + 1) for item in value)
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{%s}" % ",".join("%s:%s" % (string(key), canonical(value[key], depth + 1)) for key in keys)


def string(text):
    if "\0" in text:
        raise Refused("U+0000 in a string")
    return json.dumps(text, ensure_ascii=False)


def number(value):
    """Shortest digits that give the same double, laid out as ECMAScript does."""
    if isinstance(value, int):
        if abs(value) > 2 ** 53 - 1:
            raise Refused("an integer beyond 2^53-1")
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise Refused("a number beyond the range of a double")
    if value == 0:
        return "0"
    sign, digits, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    if len(text) <= point <= 21:
        body = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        body = text[:point] + "." + text[point:]
    elif -6 < point <= 0:
        body = "0." + "0" * -point + text
    else:
        fraction = "." + text[1:] if len(text) > 1 else ""
        body = "%s%se%+d" % (text[0], fraction, point - 1)
    return "-" + body if sign else body


def canonical_bytes(value):
    try:
        return canonical(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("half of a surrogate pair in a string") from error


def hash_of(value):
    return "sha256:" + hashlib.sha256(canonical_bytes(value)).hexdigest()


def is_same(a, b):
    """The same JSON: true is not 1, and 1.0 is."""
    return canonical(a) == canonical(b)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def time_of(text):
    """The instant of an ISO 8601 text in UTC, or None for anything else."""
    found = UTC_TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        whole = datetime.datetime(*(int(part) for part in found.groups()[:6]))
    except ValueError:
        return None
    return whole + datetime.timedelta(milliseconds=int(((found.group(7) or ".") + "000")[1:4]))


def iso(time):
    return time.isoformat(timespec="milliseconds" if time.microsecond else "seconds") + "Z"


def iso_of(at):
    """The text of milliseconds since 1970."""
    return iso(EPOCH + datetime.timedelta(milliseconds=at))


def milliseconds(text):
    """An ISO time in UTC as milliseconds since 1970, or None."""
    time = time_of(text)
    return None if time is None else (time - EPOCH) // datetime.timedelta(milliseconds=1)


# A path is a pair of the path around it and a name, None for the body itself: its text can be as long as the body, so
# it is made only where it is told.


def objects(value, path=None):
    """Every object of a body that can be a record, a row, a leg or a link of lineage, with its path, outside first."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if key not in CLOSED:
            yield from objects(item, (path, key))


def names_of(path):
    """The names of a path, innermost first."""
    while path is not None:
        path, name = path
        yield str(name)


def told(path, *names):
    """The text of members inside of a path, like legs.aqi.lit."""
    return ".".join(list(names_of(path))[::-1] + list(names))
