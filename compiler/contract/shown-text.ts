/** What would be obeyed instead of shown: controls, marks of direction, what has no width, halves of a character. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text from outside as one line that people can read: a character that does something is written as its number. */
export function shownText(text: string): string {
  return text.replace(UNSHOWN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same inside of HTML or XML, in an element or in a quoted attribute. */
export function escaped(text: string): string {
  return shownText(text).replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}
