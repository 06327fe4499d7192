import { hexToBytes } from '@noble/hashes/utils.js';
import { type Citation, citedTarget } from '../format/citation.ts';
import { completeLevels, rangeHash } from '../format/merkle.ts';
import { treeHead } from '../format/release-entry.ts';
import {
  BLOCK_LEAVES,
  BLOCKS_PATH,
  blockBytes,
  blockFilePath,
  blockLevels,
  statementLeaf,
} from '../format/statement-tree.ts';
import { CompileError, ForgottenError } from '../system/compile-error.ts';
import { hexOf, sha256 } from './log-tree.ts';
import { editLines, GatheredLines, type LineEdit } from './sorted-lines.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const [NEW, REPLACED, GONE] = ['+', '~', '-'];

/** The statement of a body, and the request that the body answers. */
export interface ListedStatement {
  readonly target: string;
  /** Its record hash in hex. */
  readonly hex: string;
}

/** The statement of a citation of this service; a line has only what can be in a URL. */
export function statementOf(citation: Citation): ListedStatement {
  const target = citedTarget(citation);
  const hex = citation.record_hash.slice('sha256:'.length);
  if (target !== null && /^[\x21-\x7e]+$/.test(target)) return { target, hex };
  throw new RangeError(`Cannot list the statement of "${citation.source.url}": no target of it`);
}

/**
 * A line about a statement: `<target> <64 hex> <+ or ~>`. It is replaced where the release that this one goes on from has
 * one of the same file.
 */
export function formatStatement({ target, hex }: ListedStatement, isReplaced: boolean): string {
  return `${target} ${hex} ${isReplaced ? REPLACED : NEW}\n`;
}

/** The statements of a release, a sorted line each: those of the release that it goes on from, with what differs. */
export class StatementList {
  readonly #before: Buffer;
  readonly #added: Buffer[] = [];
  readonly #gone = new Set<string>();

  /** `before` is what `lines` returned for the release that this one goes on from. */
  constructor(before: Buffer) {
    this.#before = before;
  }

  /** Adds lines of formatStatement. */
  add(lines: string | Uint8Array): void {
    if (lines.length > 0) this.#added.push(Buffer.from(lines));
  }

  /** Takes the statement of a target away, unless it is added again. */
  remove(target: string): void {
    this.#gone.add(target);
  }

  /**
   * One line a statement, `<target> <64 hex>`, in the order of the bytes of the targets. Throws a CompileError for two of
   * one target.
   */
  lines(): Buffer {
    const now = new GatheredLines('latin1', this.#before.length);
    let isFound = false;
    let mark = NEW;
    const edits = function* (this: StatementList): Generator<LineEdit> {
      let last = '';
      for (const edit of this.#sorted()) {
        const [key = '', hex = '', sign = ''] = edit.split(' ');
        if (key === last) throw twice(key);
        last = key;
        mark = sign === NEW && this.#gone.has(key) ? REPLACED : sign;
        isFound = false;
        yield { key, line: sign === GONE ? null : `${key} ${hex}\n` };
      }
    };
    try {
      editLines({ bytes: this.#before, order: targetOrder }, edits.call(this), {
        keep: (bytes, from, to) => now.keep(bytes, from, to),
        drop: () => {
          isFound = true;
        },
        add: (line) => {
          if (isFound && mark === NEW) throw twice(line.split(' ', 1)[0] ?? '');
          if (!isFound && mark === REPLACED) throw new RangeError(`Cannot replace "${line}"`);
          now.add(line);
        },
      });
    } catch (cause) {
      if (cause instanceof CompileError) throw cause;
      throw new ForgottenError('Cannot change the statements: one is not there', { cause });
    }
    return now.take();
  }

  #sorted(): string[] {
    const edits = this.#added.flatMap((lines) => lines.toString('latin1').split('\n').slice(0, -1));
    const added = new Set(this.#gone.size === 0 ? [] : edits.map((line) => line.split(' ', 1)[0]));
    for (const target of this.#gone) if (!added.has(target)) edits.push(`${target} - ${GONE}`);
    return edits.sort();
  }
}

/** How the line that begins at a place stands to a target, which ends at a space. */
function targetOrder(bytes: Buffer, start: number, target: string): number {
  for (let at = 0; at < target.length; at += 1) {
    const lead = (bytes[start + at] ?? SPACE) - target.charCodeAt(at);
    if (lead !== 0) return lead;
  }
  return (bytes[start + target.length] ?? SPACE) - SPACE;
}

function twice(target: string): CompileError {
  const message = `two bodies answer the same request, so it is not published: ${target}; report this`;
  return new CompileError([{ code: 'cannot_publish', file: BLOCKS_PATH, message }]);
}

/** Lines of statements, and the text of the blocks that were made of them. */
interface StatementsBefore {
  readonly lines: Buffer;
  /** Of BLOCKS_PATH. */
  readonly blocks: string;
}

/** The tree over all statements, as it was written. */
interface WrittenStatements {
  /** As the entry of the release states it. */
  readonly all: ReturnType<typeof treeHead>;
  /** Blocks that the release before has, and this one does not. */
  readonly gone: readonly string[];
}

/** Writes the blocks of the tree over lines of statements, except those that are as they were in the release before. */
export function writeStatements(
  lines: Buffer,
  before: StatementsBefore | null,
  file: (path: string, bytes: string | Uint8Array) => void,
): WrittenStatements {
  const were = before === null ? [] : blocksOf(before.lines);
  const rootsBefore = before?.blocks.split('\n').map((line) => line.split(' ', 1)[0]) ?? [];
  const roots: Uint8Array[] = [];
  let [count, text] = [0, ''];
  for (const [number, block] of blocksOf(lines).entries()) {
    const known = were[number]?.lines.equals(block.lines) ? rootsBefore[number] : undefined;
    const root = known ?? writeBlock(block, blockFilePath(number), file);
    roots.push(hexToBytes(root));
    count += block.count;
    text += `${root} ${block.lines.toString('latin1', 0, block.lines.indexOf(SPACE))}\n`;
  }
  file(BLOCKS_PATH, text);
  const gone = were.slice(roots.length).map((_, at) => blockFilePath(roots.length + at));
  return { all: allHead(count, roots), gone };
}

/** Count and root of the tree over all statements, from the roots of its blocks. */
export function allHead(count: number, roots: readonly Uint8Array[]): WrittenStatements['all'] {
  const whole = { start: 0, end: roots.length };
  const root = rangeHash(whole, completeLevels(roots, sha256), sha256);
  return treeHead(count, count === 0 ? [] : [root], sha256);
}

interface Block {
  readonly lines: Buffer;
  readonly count: number;
}

function blocksOf(lines: Buffer): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    let [end, count] = [at, 0];
    for (; count < BLOCK_LEAVES && end < lines.length; count += 1) {
      end = lines.indexOf(NEWLINE, end) + 1;
    }
    blocks.push({ lines: lines.subarray(at, end), count });
    at = end;
  }
  return blocks;
}

/** Returns the root of its leaves, in hex. */
function writeBlock(
  { lines, count }: Block,
  path: string,
  file: (path: string, bytes: Uint8Array) => void,
): string {
  const statements = lines.toString('latin1').split('\n').slice(0, -1);
  const leaves = statements.map((line) => {
    const [target = '', hex] = line.split(' ');
    return statementLeaf(target, `sha256:${hex}`, sha256);
  });
  const bytes = blockBytes(leaves, sha256);
  file(path, bytes);
  return hexOf(rangeHash({ start: 0, end: count }, blockLevels(bytes, count), sha256));
}
