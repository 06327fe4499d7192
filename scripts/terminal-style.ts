const style =
  (code: number) =>
  (text: string): string =>
    process.stdout.isTTY && process.env.NO_COLOR === undefined
      ? `\u001b[${code}m${text}\u001b[0m`
      : text;

/** Words in colour on a terminal, plain anywhere else and where NO_COLOR is set. */
export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const cyan = style(36);
