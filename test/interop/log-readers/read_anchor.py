"""Reads a time stamp with python-opentimestamps, which knows nothing of this project.

read_anchor.py FILE.ots DIGEST [BLOCK_HEADER]   (in hex; a header counts for every block that is attested)
"""

import sys

from bitcoin.core import CBlockHeader
from opentimestamps.core.notary import BitcoinBlockHeaderAttestation, PendingAttestation
from opentimestamps.core.serialize import BytesDeserializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile

path, digest, *headers = sys.argv[1:]
with open(path, "rb") as file:
    context = BytesDeserializationContext(file.read())
stamp = DetachedTimestampFile.deserialize(context)
context.assert_eof()
if stamp.file_digest != bytes.fromhex(digest):
    sys.exit("the time stamp is of another digest")
for message, attestation in sorted(stamp.timestamp.all_attestations()):
    if isinstance(attestation, PendingAttestation):
        print("pending", attestation.uri)
    elif isinstance(attestation, BitcoinBlockHeaderAttestation):
        header = CBlockHeader.deserialize(bytes.fromhex(headers[0]))
        attestation.verify_against_blockheader(message, header)
        print("bitcoin", attestation.height)
