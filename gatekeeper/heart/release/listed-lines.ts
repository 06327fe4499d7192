const LINE_END = 0x0a;

/** Where each line of a text begins, and where one more would. */
export function lineStarts(bytes: Buffer): Uint32Array {
  const starts = [0];
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, end + 1)) {
    starts.push(end + 1);
  }
  return Uint32Array.from(starts);
}

/** One line, without its end. */
export function lineOf(bytes: Buffer, starts: Uint32Array, number: number): string {
  const [start = 0, next = 1] = starts.subarray(number, number + 2);
  return bytes.toString('utf8', start, next - 1);
}
