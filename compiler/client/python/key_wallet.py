"""Signs x402 payments with a key of its own, where `eth-account` is not installed.

It needs the package `cryptography`, and knows two kinds of message: the EIP-712 text of an EIP-3009 transfer, and a text
(EIP-191) that shows who paid. It has the members that the client asks of a wallet, `address`, `sign_typed_data` and
`sign_message`, and so does an account of eth_account.
"""

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
DOMAIN = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
TRANSFER = (b"TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,"
            b"bytes32 nonce)")
NAME = "TransferWithAuthorization"


class KeyWallet:
    """A plain account; the key is 64 hex digits."""

    def __init__(self, key):
        digits = key[2:] if key.startswith("0x") else key
        if len(digits) != 64 or not 0 < int(digits, 16) < ORDER:
            # The text may be most of a key, so it is not repeated.
            raise ValueError("Cannot make a wallet: the key is not 64 hex digits of a key")
        self._secret = int(digits, 16)
        self._key = ec.derive_private_key(self._secret, ec.SECP256K1())
        self.address = checksum_address(keccak256(point_bytes(self._key))[-20:])

    def sign_typed_data(self, domain_data, message_types, message_data):
        """The signature of a transfer; 65 bytes in the member `signature` of what is returned."""
        if set(message_types) != {NAME} or [field["name"] for field in message_types[NAME]] != list(message_data):
            raise ValueError("Cannot sign: not the members of %s" % NAME)
        return Signed(self._sign(transfer_digest(domain_data, message_data)))

    def sign_message(self, signable_message):
        """The signature of a text, in its three parts of EIP-191: version, header and body."""
        return Signed(self._sign(keccak256(b"\x19" + b"".join(signable_message))))

    def _sign(self, digest):
        der = self._key.sign(digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        r, s = utils.decode_dss_signature(der)
        s = min(s, ORDER - s)
        # The commitment k*G has r as its x; which of its two points it is says the last byte.
        k = pow(s, ORDER - 2, ORDER) * (int.from_bytes(digest, "big") + r * self._secret) % ORDER
        point = ec.derive_private_key(k, ec.SECP256K1()).public_key().public_numbers()
        if point.x != r:
            return self._sign(digest)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + (point.y & 1)])


class Signed:
    """As eth_account returns it."""

    def __init__(self, signature):
        self.signature = signature


def point_bytes(key):
    numbers = key.public_key().public_numbers()
    return numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")


def checksum_address(address):
    """The address with the letter case of EIP-55."""
    text = address.hex()
    digits = keccak256(text.encode("ascii")).hex()
    return "0x" + "".join(char.upper() if int(digit, 16) > 7 else char for char, digit in zip(text, digits))


def transfer_digest(domain, message):
    """The 32 bytes that are signed for a transfer, EIP-712."""
    own = [keccak256(DOMAIN), keccak256(domain["name"].encode("utf-8")), keccak256(domain["version"].encode("utf-8")),
           number(domain["chainId"]), address_word(domain["verifyingContract"])]
    words = [keccak256(TRANSFER), address_word(message["from"]), address_word(message["to"])]
    words += [number(message[name]) for name in ("value", "validAfter", "validBefore")]
    if len(message["nonce"]) != 32:
        raise ValueError("Cannot sign: the nonce has not 32 bytes")
    words.append(message["nonce"])
    return keccak256(b"\x19\x01" + keccak256(b"".join(own)) + keccak256(b"".join(words)))


def number(value):
    return value.to_bytes(32, "big")


def address_word(text):
    if len(text) != 42 or not text.startswith("0x"):
        raise ValueError("Cannot sign: %r is not an address" % text)
    return bytes(12) + bytes.fromhex(text[2:])


# ---- Keccak-256, as Ethereum has it: the sponge of SHA-3 with the padding of before the standard ------------------

MASK = 2 ** 64 - 1
RATE = 136


def round_constants():
    """One a round, out of the linear feedback register of the standard."""
    state, constants = 1, []
    for _ in range(24):
        constant = 0
        for power in range(7):
            if state & 1:
                constant |= 1 << (2 ** power - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        constants.append(constant)
    return constants


CONSTANTS = round_constants()


def keccak256(data):
    padded = bytearray(data) + bytes(RATE - len(data) % RATE)
    padded[len(data)] |= 0x01
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), RATE):
        for lane in range(RATE // 8):
            lanes[lane] ^= int.from_bytes(padded[start + 8 * lane:start + 8 * lane + 8], "little")
        lanes = permuted(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def permuted(lanes):
    """Keccak-f[1600]; lane x + 5y."""
    for constant in CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        mixed = [columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [lane ^ mixed[at % 5] for at, lane in enumerate(lanes)]
        x, y, current = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], rotated(current, (step + 1) * (step + 2) // 2 % 64)
        rows = [lanes[5 * y:5 * y + 5] for y in range(5)]
        lanes = [row[x] ^ (~row[(x + 1) % 5] & MASK & row[(x + 2) % 5]) for row in rows for x in range(5)]
        lanes[0] ^= constant
    return lanes


def rotated(lane, count):
    return (lane << count | lane >> (64 - count)) & MASK
