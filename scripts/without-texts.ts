// What a judge of bodies never reads is left out of what browsers and buyers load: texts of members and products, schemas of
// bodies that only the compiler makes, and words of the catalogue that explain, speak and are searched for.

/** What only descriptions say of members and products: a third of the judge, which never reads it. */
const TEXTS =
  /\.describe\(\s*(?:'(?:[^'\\\n]|\\.)*'|`[^`$]*`),?\s*\)|\.meta\(\{[^{}()`]*\}\)|(?<=\bguide:\s*)'(?:[^'\\\n]|\\.)*'(?=,)/g;

/** Schemas of bodies that only products name: the judge asks for none of them. */
const BODIES =
  /^import (?:\* as (\w+)|\{([^}]*)\}) from '\.\/shapes\/(?:roster-bodies|free-body-schemas|watch-bodies|document-bodies)\.ts';$/gm;

/** Members of a catalogue that nothing is judged by. */
const SPOKEN = new Set(['note', 'words', 'tagline', 'zone', 'aliases', 'abbreviations']);

/** Zod's way to JSON Schema, which only the compiler goes. */
const JSON_SCHEMA = /zod\/v4\/core\/(?:to-json-schema|json-schema-processors)\.js$/;

/** A plugin of the bundler of the page and of the client's package. */
export function withoutTexts() {
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
      if (/\/catalog\/builtin\/[\w-]+\.json$/.test(id)) return withoutWords(code);
      if (!/\/compiler\/(format|catalog|products)\/(?:shapes\/)?[a-z-]+\.ts$/.test(id)) return null;
      const short = code
        .replace(BODIES, (_, all?: string, names = '') =>
          all === undefined
            ? `const ${names.trim().split(/,\s*/).filter(Boolean).join(' = undefined, ')} = undefined;`
            : `const ${all} = {};`,
        )
        .replace(/body: z\.union\(\[roster[^\]]*\]\),/, '')
        .replace(TEXTS, (text) => (text.startsWith('.') ? '' : "''"));
      return { code: short, moduleSideEffects: false };
    },
  };
}

function withoutWords(json: string): { code: string } {
  const kept = JSON.parse(json, (name, value) => (SPOKEN.has(name) ? undefined : value));
  return { code: JSON.stringify(kept) };
}
