import { defined } from '../compiler/format/defined.ts';
import type { KeyHistory } from '../compiler/format/key-history.ts';
import { changeKeys, keepKeys, readKeys } from '../compiler/publish/keys/key-store.ts';
import {
  adoptedList,
  draftRoot,
  type RootChange,
  signDraft,
} from '../compiler/publish/keys/root-draft.ts';

const UNCHANGED = { add: [], end: [], revoke: [], receipt: [], endReceipt: [], overlapDays: 0 };

/** Adopts the next version of the root of a data folder, which the keys of these seeds sign. */
export function adoptRoot(
  data: string,
  change: Partial<RootChange> & Pick<RootChange, 'now'>,
  signers: readonly Uint8Array[],
): KeyHistory {
  const list = defined(readKeys(data) ?? undefined, 'the list of keys');
  const draft = draftRoot(list, { ...UNCHANGED, ...change });
  const signed = signers.reduce(signDraft, draft);
  return changeKeys(data, () => keepKeys(data, adoptedList(list, signed)));
}
