/** `Name: value`, which cannot become two headers; no value is what an empty variable leaves. */
export const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x21-\x7e][\x20-\x7e]*\s*$/;

/** The header of a setting that was checked to be one. */
export function headerOf(text: string): Readonly<Record<string, string>> {
  const colon = text.indexOf(':');
  return { [text.slice(0, colon)]: text.slice(colon + 1).trim() };
}
