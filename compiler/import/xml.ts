import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { fetchAgain, ImportError, type Payload, textOf } from './payload.ts';

const PARSER = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  // Every element is a list, so that one entry and several look alike.
  isArray: (...[, , , isAttribute]) => !isAttribute,
});

/**
 * A document as objects: each element is a list of its occurrences, text stays text, attributes begin with "@". Throws an
 * ImportError for a document that is not whole, has another root element, or declares a document type.
 */
export function xmlDocument(payload: Payload, root: string): unknown {
  const { subject } = payload;
  const text = textOf(payload, { isMarkup: true });
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) {
    throw new ImportError({ subject, state: 'it declares a document type, which is not read' });
  }
  const verdict = XMLValidator.validate(text);
  if (verdict !== true) {
    throw fetchAgain(payload, `not whole XML (line ${verdict.err.line}: ${verdict.err.msg})`);
  }
  const found = (PARSER.parse(text) as Readonly<Record<string, unknown>>)[root];
  if (Array.isArray(found) && found.length === 1) return found[0];
  throw fetchAgain(payload, `its root element is not <${root}>`);
}
