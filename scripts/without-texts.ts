// What a judge of bodies never reads is left out of what browsers and buyers load: texts, schemas and makers of products,
// which only the compiler asks for, and what the catalogue explains, speaks, paints and is searched for.

/** Members of a product that say how its bodies are made and described; the judge reads where they are and what they take. */
const UNJUDGED = new Set(
  'body forms ofRecord ofJoined list guide summary kind description'.split(' '),
);

/** What makes a parameter of its description. */
const DESCRIBED = new Set(['text', 'oneOf']);

/** What only descriptions say of members of a schema. */
const DESCRIBING = new Set(['describe', 'meta']);

/** Members of a catalogue that nothing is judged by: words, names and places, and what readings are measured and classed with. */
const UNREAD = new Set(
  (
    'note words tagline measures aliases abbreviations places entityOf zone latitude longitude ' +
    'units range cadence scale metric unit direction edge at colour actionBand provenance agency document since beside'
  ).split(' '),
);

/** Zod's way to JSON Schema, which only the compiler goes. */
const JSON_SCHEMA = /zod\/v4\/core\/(?:to-json-schema|json-schema-processors)\.js$/;

/** Modules that do nothing when they are loaded: of what they declare, only what is used is loaded. */
const PURE =
  /\/compiler\/(?:format|catalog|products)\/(?:shapes\/)?[a-z-]+\.ts$|\/@(?:scure|noble)\/[^?]*\.js$/;

/** A plugin of the bundler of the page and of the client's package. */
export async function withoutTexts() {
  const { parseSync, Visitor } = await import('vite');

  function shortened(code: string, id: string): string {
    const edits: Edit[] = [];
    const cut = ({ start, end }: Span, by = '') => edits.push({ start, end, by });
    const isProduct = /\/compiler\/products\/[a-z-]+\.ts$/.test(id);
    const visitor = new Visitor({
      ObjectExpression({ properties }) {
        for (const one of isProduct ? properties : []) {
          if (one.type !== 'Property' || one.key.type !== 'Identifier') continue;
          if (!UNJUDGED.has(one.key.name)) continue;
          cut({
            start: one.start,
            end: code.indexOf(',', one.end) === one.end ? one.end + 1 : one.end,
          });
        }
      },
      CallExpression({ callee, end, arguments: [first] }) {
        if (isProduct && callee.type === 'Identifier' && DESCRIBED.has(callee.name)) {
          if (first?.type === 'Literal' || first?.type === 'TemplateLiteral') cut(first, "''");
        }
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
        if (DESCRIBING.has(callee.property.name)) cut({ start: callee.object.end, end });
      },
    });
    const { program } = parseSync(id, code);
    visitor.visit(program);
    for (const statement of program.body) {
      const made = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
      if (made?.type !== 'VariableDeclaration') continue;
      for (const { init } of made.declarations) {
        if (init === null || init.type === 'ArrowFunctionExpression') continue;
        cut({ start: init.start, end: init.start }, '/* @__PURE__ */ (() => (');
        cut({ start: init.end, end: init.end }, '))()');
      }
    }
    return edited(code, edits);
  }

  return {
    name: 'without-texts',
    enforce: 'pre' as const,
    transform(code: string, id: string) {
      if (JSON_SCHEMA.test(id)) {
        const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(
          ([, name]) => name,
        );
        return names.map((name) => `export const ${name} = () => () => undefined;`).join('\n');
      }
      if (/\/catalog\/builtin\/[\w-]+\.json$/.test(id)) return judgedRows(code);
      return PURE.test(id) ? { code: shortened(code, id), moduleSideEffects: false } : null;
    },
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
}
interface Edit extends Span {
  readonly by: string;
}

/** A text with its edits; what stands within an edit goes with it. */
function edited(code: string, edits: readonly Edit[]): string {
  let at = 0;
  let made = '';
  for (const { start, end, by } of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < at) continue;
    made += code.slice(at, start) + by;
    at = end;
  }
  return made + code.slice(at);
}

function judgedRows(json: string): { code: string } {
  const kept = JSON.parse(json, (name, value) => {
    if (UNREAD.has(name)) return undefined;
    // Which metrics a signal has is read for their units alone.
    if (name === 'metrics') return [];
    return name === 'entities' && Array.isArray(value) ? value.map((one) => one.id ?? one) : value;
  });
  return { code: JSON.stringify(kept) };
}
