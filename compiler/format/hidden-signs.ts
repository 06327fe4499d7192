/**
 * Signs of a text that a reader does not see as they stand: controls, marks of direction that turn the text around them,
 * ends of lines, and what has no width. A joiner or selector is kept behind the pictures and letters of scripts that need
 * it.
 */
const HIDDEN =
  /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]|(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Script=Arabic}|[\u0900-\u0dff]|\ufe0f)(?:\u200c|\u200d|\ufe0e|\ufe0f)/u;
const PLAIN = /^[ -~]*$/;

/** The first such sign of a text, as "U+202E"; null where there is none. */
export function hiddenSign(text: string): string | null {
  const sign = PLAIN.test(text) ? undefined : HIDDEN.exec(text)?.[0].codePointAt(0);
  return sign === undefined ? null : `U+${sign.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The same in words, or null. */
export function hiddenFault(text: string): string | null {
  const sign = hiddenSign(text);
  return sign === null ? null : `${sign} is hidden or changes how the text reads; store it without`;
}
