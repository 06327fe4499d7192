import * as bodies from './shapes/free-body-schemas.ts';
import { free, optional, type Param, TO_VERIFY, text } from './shapes/product.ts';

const hash: Param = {
  ...text('record hash, whole or at least 8 hex digits of it', 'sha256:00000000'),
  aliases: ['record_hash'],
};

/** What the log says of a hash or a day. */
export const LOOK_UPS = [
  free('/gauge/verify', {
    needed: TO_VERIFY,
    params: { hash },
    answer: 'verify',
    summary: 'look up and recompute a record hash',
    guide:
      'Answers whether a hash is a record of this issuer and whether it is the latest. Not what the record says.',
    body: bodies.verificationSchema,
  }),
  free('/gauge/anchor', {
    needed: TO_VERIFY,
    params: {
      day: optional(text('day of the batches', '2026-11-20')),
      hash: optional(text('record hash', 'sha256:00000000')),
    },
    answer: 'anchor',
    summary: 'anchored batches, and inclusion of a hash',
    guide:
      'Answers which batches of records are time-stamped, or where a hash is in the log. Not what the records say.',
    body: bodies.anchorSchema,
  }),
] as const;

/** How a buyer checks what was sold. */
export const CHECKS = [
  free('/verify', {
    needed: TO_VERIFY,
    method: 'POST',
    answer: 'check',
    summary: 'check a record that the caller holds',
    guide:
      'Answers whether a record that you hold is whole, signed by this issuer and in its log. Not whether its source was right.',
    body: bodies.checkSchema,
  }),
  free('/proof/:record_hash', {
    needed: TO_VERIFY,
    params: { record_hash: hash },
    answer: 'proof',
    summary: 'inclusion proof and anchor state of a record hash, and how to recompute it',
    guide:
      'Answers where a record hash is in the log, which time stamp covers it and how to recompute it. Not the record.',
    body: bodies.proofSchema,
  }),
] as const;

export const RETIRED = [
  free('/merkle/proof', {
    answer: 'gone',
    summary: 'retired',
    guide: 'Answers nothing any more. Use the inclusion proof of a record hash instead.',
  }),
  free('/merkle/spec', {
    file: 'free/merkle-spec.json',
    summary: 'archival text',
    guide:
      "Answers how the retired daily roots were made, for archives. Not how today's log works.",
    body: bodies.merkleSpecSchema,
  }),
] as const;

/** Where the link of a citation leads. */
export const CITATION_LINK = free('/v/:record_hash', {
  needed: TO_VERIFY,
  params: { record_hash: hash },
  answer: 'verify',
  summary: 'look up and recompute a record hash, as citations link it',
  guide:
    'Answers what a citation links to: whether its hash is known here. Not what the record says.',
  body: bodies.verificationSchema,
});
