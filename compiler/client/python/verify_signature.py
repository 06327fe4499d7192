"""Keys as did:key, and Ed25519 signatures (RFC 8032)."""

import base64
import hashlib
import re

from verify_json import Refused

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE58_CHARS_MAX = 256
P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def public_key(did):
    if not isinstance(did, str) or not did.startswith("did:key:z") or len(did) > 100:
        raise Refused("%r is not a did:key" % did)
    data = from_base58(did[len("did:key:z"):])
    if len(data) != 34 or data[:2] != b"\xed\x01":
        raise Refused("%s is not an Ed25519 key" % did)
    return data[2:]


def from_base58(text):
    """The bytes of base58btc, in which each zero byte in front is a 1."""
    value = 0
    for char in text[:BASE58_CHARS_MAX + 1]:
        if char not in BASE58 or len(text) > BASE58_CHARS_MAX:
            raise Refused("%r is not base58" % text[:80])
        value = value * 58 + BASE58.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + value.to_bytes((value.bit_length() + 7) // 8, "big")


def from_base64url(text):
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        raise Refused("not base64url")
    data = b"" if len(text) % 4 == 1 else base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode("ascii").rstrip("=") != text:
        raise Refused("not the one spelling of base64url")
    return data


def add(a, b):
    x = (a[1] - a[0]) * (b[1] - b[0]) % P
    y = (a[1] + a[0]) * (b[1] + b[0]) % P
    t = 2 * a[3] * b[3] * D % P
    z = 2 * a[2] * b[2] % P
    e, f, g, h = y - x, z - t, z + t, y + x
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def is_equal(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def decompress(data):
    """The point of 32 bytes, or None for bytes that are no point or not its one spelling."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2 ** 255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def usable_key(did):
    """The key of a DID that somebody may trust: a canonical one, not of small order."""
    data = public_key(did)
    plain = data[:31] + bytes([data[31] & 0x7f])
    point = decompress(plain)
    if int.from_bytes(plain, "little") >= P or (point is not None and is_equal(multiply(8, point), (0, 1, 1, 0))):
        raise Refused("%s is not a usable key" % did)
    return data


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signature(key, message, signature):
    if len(signature) != 64:
        return False
    point, commitment = decompress(key), decompress(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or commitment is None or scalar >= ORDER:
        return False
    if is_equal(multiply(8, point), (0, 1, 1, 0)):
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return is_equal(multiply(scalar, BASE), add(commitment, multiply(challenge, point)))
