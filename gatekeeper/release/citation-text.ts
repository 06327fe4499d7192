const NAME = '"_citation":';

/** More than any citation is long. */
const CITATION_BYTES_MAX = 16 * 1024;

/** The JSON text of the citation of a stored body, or of its end: it is the last member of every sealed body. */
export function citationText(body: string): string {
  const text = body.trimEnd();
  return text.slice(text.lastIndexOf(NAME) + NAME.length, -1);
}

/** The citation of a stored or delivered body, however long that is; null for a body that ends otherwise. */
export function citationOf(body: Buffer): Readonly<Record<string, unknown>> | null {
  const end = body.subarray(-CITATION_BYTES_MAX).toString('utf8');
  if (!end.includes(NAME)) return null;
  try {
    return JSON.parse(citationText(end));
  } catch {
    return null;
  }
}
