import { parseAst } from 'vite';

/** One change of a source that an engineer could make by mistake. */
export interface Change {
  readonly from: number;
  readonly to: number;
  /** What stands there instead. */
  readonly text: string;
  readonly line: number;
  /** The changed part of its line, before and after. */
  readonly about: string;
}

/** Any node of the syntax tree, whose members follow from its type. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const TURNED: Readonly<Record<string, string>> = {
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  ...{ '-': '+', '*': '/', '%': '*', '&&': '||', '||': '&&' },
};
/** A statement that only calls something. */
const CALL = /^(await |void )?[\w.#?]+\(/;
/** Wrappers of TypeScript around code; everything else of its own is types. */
const WRAPPERS = /^TS(As|Satisfies|NonNull|TypeAssertion)/;
/** Calls that only tell something, and constants that only say how long to wait: nobody has to notice them. */
const TELLS = /\b(log|logged|say|print|show|progress|warn|debug|console|info|trace)\b/i;
const WAITS = /TIMEOUT|PATIENCE|WAIT|RETRY|REST|EVERY|PAUSE|DRAIN|QUALITY/;
const SHOWN_CHARS = 60;

/** Every change of a source: a comparison turned, a constant changed, a call left out, a condition negated. */
export function changesOf(source: string): Change[] {
  const found: Change[] = [];
  const add = (from: number, to: number, text: string, near: Node): void => {
    const line = source.slice(0, from).split('\n').length;
    const around = (middle: string): string =>
      `${source.slice(near.start, from)}${middle}${source.slice(to, near.end)}`
        .replace(/\s+/g, ' ')
        .slice(0, SHOWN_CHARS);
    found.push({
      from,
      to,
      text,
      line,
      about: `${around(source.slice(from, to))} → ${around(text)}`,
    });
  };
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => {
    const { test, left, right, operator, value } = node as Partial<Record<string, Node>>;
    const turned = TURNED[String(operator)];
    if (turned !== undefined && left !== undefined && right !== undefined) {
      const at = source.indexOf(String(operator), left.end);
      if (at < right.start) add(at, at + String(operator).length, turned, node);
    }
    const text = source.slice(node.start, node.end);
    if (/^(If|Conditional)/.test(node.type) && test !== undefined) {
      add(test.start, test.end, `!(${source.slice(test.start, test.end)})`, test);
    }
    if (node.type === 'ExpressionStatement' && CALL.test(text)) {
      add(node.start, node.end, ';', node);
    }
    if (typeof value === 'boolean') add(node.start, node.end, String(!value), node);
    if (typeof value === 'number') add(node.start, node.end, otherNumber(value), node);
  });
  return found;
}

function otherNumber(value: number): string {
  return String(Number.isInteger(value) && value >= 10 ? Math.ceil(value / 2) : value + 1);
}

/** Visits code alone: no types, no imports, nothing that only makes a text for people. */
function visit(node: Node, see: (node: Node) => void): void {
  if (node.type.startsWith('TS') && !WRAPPERS.test(node.type)) return;
  if (/^(Import|Throw|ExportAll)/.test(node.type) || isTold(node)) return;
  see(node);
  for (const [name, member] of Object.entries(node)) {
    if (/^(type\w+|returnType|superTypeArguments)$/.test(name)) continue;
    for (const child of Array.isArray(member) ? member : [member]) {
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child, see);
    }
  }
}

/** A call that tells something, or the declaration of a time to wait. */
function isTold(node: Node): boolean {
  if (node.type === 'ExpressionStatement') return isTold(node.expression as Node);
  if (node.type === 'VariableDeclarator') return WAITS.test(nameOf(node.id as Node));
  return node.type === 'CallExpression' && TELLS.test(nameOf(node.callee as Node));
}

function nameOf(node: Node): string {
  const { name, property, object } = node as Partial<Record<string, Node>>;
  if (typeof name === 'string') return name;
  return [object, property].map((part) => (part === undefined ? '' : nameOf(part))).join(' ');
}
