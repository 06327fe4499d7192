/** Most tags that directories of x402 keep of a listing, and how long one may be. */
const TAGS_MAX = 5;
const TAG = /^[\x20-\x7e]{1,32}$/;

/** As much of the words of an operation as a directory keeps. */
export function tagsOf(subjects: readonly string[]): readonly string[] {
  return subjects.filter((word) => TAG.test(word)).slice(0, TAGS_MAX);
}
