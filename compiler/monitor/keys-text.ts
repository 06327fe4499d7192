import { type KeyHistory, readKeyHistory } from '../contract/key-history.ts';
import { parseJson } from '../contract/strict-json.ts';
import { isSignedBy } from '../verify/verify-citation.ts';

/** Reads the text of a list of keys; throws for one that does not hold. */
export function keysOfText(text: string): KeyHistory {
  return readKeyHistory(parseJson(text), isSignedBy);
}
