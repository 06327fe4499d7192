const NAME = '"_citation":';

/** The JSON text of the citation of a stored body, or of its end: it is the last member of every sealed body. */
export function citationText(body: string): string {
  const text = body.trimEnd();
  return text.slice(text.lastIndexOf(NAME) + NAME.length, -1);
}
