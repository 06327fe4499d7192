import type { Journal } from '../../gatekeeper/settle/journal.ts';

/** A journal without a payment that takes none, whose newest time is this. */
export const emptyJournal = (newestMs = 0): Journal => ({
  tokens: [],
  secret: Buffer.alloc(32),
  find: async () => null,
  findOnDisk: async () => null,
  bindingOf: () => null,
  identifiedKey: async () => null,
  soldTo: async () => null,
  hasSettled: async () => false,
  useOnce: async () => true,
  claim: async () => false,
  takeTransaction: async () => true,
  conclude: async () => {},
  unresolved: async () => [],
  delivered: async () => {},
  unfinal: async () => [],
  review: async () => {},
  openPayments: async () => ({ settling: 0, unknown: 0, oldestMs: null }),
  citations: async () => [],
  newestMs: () => newestMs,
});
