import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { parseAst } from 'vite';
import { campaign } from '../campaign.ts';

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

/** Without `--count`, so many mutants are tried, however long they take. */
const LEAST = 60;
/** Test files that run together: a few near ones, then more at a time. */
const BATCHES = [2, 6, 12, 24];
/** Longest time for the tests of one mutant. */
const MUTANT_MS = 240_000;
/** Longest time for a type check. */
const CHECK_MS = 120_000;
/** Tests of packages of their own, and those that run the build, which has no mutant in it. */
const LEFT_OUT = /^test\/(interop|chain|postgres|browser|deploy)\/|\.(chain|postgres)\.test\.ts$/;
const NEEDS_BUILD = ['test/command-runs.ts', 'test/build-state.ts'];
const PRODUCT = /^(compiler|gatekeeper)\/.*(?<!\.d)\.ts$/;
/** Has a type check of its own. */
const NO_PRODUCT = /^compiler\/site\//;
const IMPORTED = /(?:\bfrom|\bimport\(|^import) ?'(\.[^']+)'/gm;

/**
 * Changes product code in single places, chosen by chance and spread over its folders, and runs the tests that reach the
 * changed file, nearest first, until one fails. Prints those that no test noticed. It works in a copy of the tree.
 * `--count N` tries so many at most.
 */
export const experiment = campaign(
  { seed: 34, minutes: 60, count: 0 },
  async ({ flags, folder, random, say, progress }) => {
    const root = join(folder, 'tree');
    copyTree('.', root);
    const endMs = performance.now() + flags.minutes * 60_000;
    const tree = treeOf(root);
    const [survivors, tried]: [string[], string[]] = [[], []];
    const isOver = (): boolean => {
      const isLate = performance.now() > endMs;
      return flags.count > 0
        ? isLate || tried.length >= flags.count
        : isLate && tried.length >= LEAST;
    };
    for (const mutant of drawn(tree, random)) {
      if (isOver()) break;
      const verdict = await judged(tree, mutant, typeChecked);
      if (verdict === null) continue;
      const { path, change } = mutant;
      const by = verdict.by ?? `SURVIVED ${verdict.ran} of ${verdict.reach} tests`;
      const said = `${by}  ${path}:${change.line}  ${change.about}`;
      tried.push(said);
      if (verdict.by === null) survivors.push(said);
      say(said);
      progress(tried.length, flags.count || LEAST);
    }
    const noticed = tried.length - survivors.length;
    const share = ((100 * noticed) / Math.max(1, tried.length)).toFixed(0);
    say(`seed ${flags.seed}: ${tried.length} mutants, ${noticed} noticed (${share} %)`);
    for (const survivor of survivors) say(`  ${survivor}`);
    return null;
  },
);

/** Everything that git knows or would take, with the packages of the original. */
function copyTree(from: string, to: string): void {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', args, { cwd: from, encoding: 'utf8', maxBuffer: 2 ** 26 });
  for (const name of names.split('\0').filter((each) => each !== '')) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    // What was deleted and not committed is still listed.
    cpSync(join(from, name), join(to, name), { force: true, errorOnExist: false, filter: isThere });
  }
  symlinkSync(resolve(from, 'node_modules'), join(to, 'node_modules'));
}

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

interface Tree {
  readonly root: string;
  /** Product files by their room, which is their folder. */
  readonly rooms: ReadonlyMap<string, readonly string[]>;
  /** The test files that reach a file, nearest first. */
  testsOf(path: string): readonly string[];
  /** Tests that pass without a mutant, and those that do not. */
  readonly trusted: Map<string, boolean>;
}

/** Reads the import graph of a tree. */
export function treeOf(root: string): Tree {
  const args = ['-L', '.', '-name', 'node_modules', '-prune', '-o', '-name', '*.ts', '-print'];
  const listed = execFileSync('find', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const paths = listed.split('\n').filter(Boolean).map(normalize).sort();
  const importers = new Map<string, string[]>();
  for (const path of paths) {
    for (const [, name = ''] of readFileSync(join(root, path), 'utf8').matchAll(IMPORTED)) {
      const target = normalize(join(dirname(path), name));
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  const reach = (from: readonly string[]): string[] => {
    const seen = new Set(from);
    for (const path of seen) for (const next of importers.get(path) ?? []) seen.add(next);
    return [...seen];
  };
  const building = new Set(reach(NEEDS_BUILD));
  const isTest = (path: string): boolean =>
    path.endsWith('.test.ts') && !LEFT_OUT.test(path) && !building.has(path);
  const rooms = new Map<string, string[]>();
  for (const path of paths.filter((each) => PRODUCT.test(each) && !NO_PRODUCT.test(each))) {
    const room = dirname(path);
    rooms.set(room, [...(rooms.get(room) ?? []), path]);
  }
  return { root, rooms, testsOf: (path) => reach([path]).filter(isTest), trusted: new Map() };
}

interface Mutant {
  readonly path: string;
  readonly change: Change;
}

/** Mutants without end, one of each room in turn. */
function* drawn({ root, rooms }: Tree, random: (below: number) => number): Generator<Mutant> {
  const seen = new Set<string>();
  let misses = 0;
  while (misses < 1000) {
    const turn = [...rooms].map((room) => ({ room, at: random(1e6) }));
    for (const { room } of turn.sort((one, other) => one.at - other.at)) {
      const [name, paths] = room;
      // Large rooms come more often.
      if (random(10) >= paths.length) continue;
      const path = paths[random(paths.length)] ?? name;
      const changes = changesOf(readFileSync(join(root, path), 'utf8'));
      const at = random(Math.max(1, changes.length));
      const change = changes[at];
      misses += 1;
      if (change === undefined || seen.has(`${path} ${at}`)) continue;
      misses = 0;
      seen.add(`${path} ${at}`);
      yield { path, change };
    }
  }
}

interface Verdict {
  /** The test file that noticed it; null where none did. */
  readonly by: string | null;
  /** Test files that ran, of those that reach it. */
  readonly ran: number;
  readonly reach: number;
}

/** What the tests say of a mutant; null for one that does not pass the type check, or that nothing reaches. */
export async function judged(
  tree: Tree,
  { path, change }: Mutant,
  isTyped: (root: string) => Promise<boolean> = async () => true,
): Promise<Verdict | null> {
  const { root, trusted } = tree;
  const tests = tree.testsOf(path).filter((test) => trusted.get(test) !== false);
  if (tests.length === 0) return null;
  const file = join(root, path);
  const original = readFileSync(file, 'utf8');
  const changed = original.slice(0, change.from) + change.text + original.slice(change.to);
  const endMs = performance.now() + MUTANT_MS;
  let ran = 0;
  try {
    writeFileSync(file, changed);
    if (!(await isTyped(root))) return null;
    for (let round = 0; ran < tests.length && performance.now() < endMs; round += 1) {
      const batch = tests.slice(ran, ran + (BATCHES[round] ?? BATCHES.at(-1) ?? 1));
      ran += batch.length;
      writeFileSync(file, changed);
      const failed = await failing(root, batch, endMs - performance.now());
      writeFileSync(file, original);
      for (const test of failed) {
        // A test that fails by itself notices nothing.
        if (!trusted.has(test))
          trusted.set(test, (await failing(root, [test], MUTANT_MS)).length === 0);
        if (trusted.get(test) === true) return { by: test, ran, reach: tests.length };
      }
    }
    return { by: null, ran, reach: tests.length };
  } finally {
    writeFileSync(file, original);
  }
}

async function typeChecked(root: string): Promise<boolean> {
  const args = ['--noEmit', '-p', '.', '--incremental', '--tsBuildInfoFile', 'mutants.tsbuildinfo'];
  return (await exitOf(root, ['tsc', ...args], CHECK_MS)) === 0;
}

/** The test files that fail; one that ran out of time fails too. */
async function failing(root: string, tests: readonly string[], ms: number): Promise<string[]> {
  const report = join(root, 'mutants-report.json');
  rmSync(report, { force: true });
  const args = ['--bail=1', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`];
  const exit = await exitOf(root, ['vitest', 'run', ...args, ...tests], ms);
  if (exit === 0) return [];
  // Of a few tests that never come to an end somebody would notice it; many may only be slow.
  if (exit === null) return tests.length <= (BATCHES[0] ?? 1) ? tests.slice(0, 1) : [];
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly testResults: readonly { readonly name: string; readonly status: string }[];
    };
    const bad = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
    const named = tests.filter((test) => bad.some((name) => name.endsWith(`/${test}`)));
    return named.length > 0 ? named : tests.slice(0, 1);
  } catch {
    return tests.slice(0, 1);
  }
}

/** How a command ends; null for one that took too long and was ended with all that it started. */
function exitOf(cwd: string, [name = '', ...args]: string[], ms: number): Promise<number | null> {
  return new Promise((done) => {
    const env = { ...process.env, NO_COLOR: '1' };
    const command = join(cwd, 'node_modules/.bin', name);
    const child = spawn(command, args, { cwd, env, stdio: 'ignore', detached: true });
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const timer = setTimeout(end, Math.max(0, ms));
    process.once('exit', end);
    child.once('close', (code) => {
      clearTimeout(timer);
      process.off('exit', end);
      done(code);
    });
  });
}
