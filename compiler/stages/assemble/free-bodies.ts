import { NATURE } from '../../contract/words.ts';

/** `/merkle/spec`: what the retired scheme was, and what took its place. */
export function merkleSpec() {
  return {
    nature: NATURE,
    retired: true as const,
    text:
      'Archival. An earlier scheme took one Merkle root over the record hashes of a day. It is retired with its proofs ' +
      'at /merkle/proof, which answer 410, and with the field ots_status, which is null. Do not implement against it.',
    instead: '/gauge/anchor',
    proof: '/proof/:record_hash',
  };
}
