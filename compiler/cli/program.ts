import { styleText } from 'node:util';
import { Command, Help } from 'commander';

const GROUPS = [
  'Make a release',
  'Ask agencies',
  'Judge and buy',
  'Look after releases',
  'Keys and log',
  'This program',
] as const;

export interface CommandRow {
  /** Name, options and arguments, as the list of commands shows them. */
  readonly usage: string;
  readonly about: string;
  /** What it stands under in the list of commands. */
  readonly group: (typeof GROUPS)[number];
  /** Loads what the command needs, and adds its options, arguments, subcommands and action. */
  readonly define: (command: Command) => Promise<void>;
  /** Examples of subcommands that only their own code can list. */
  readonly examples?: () => Promise<Examples>;
}

/**
 * Every command by name, and the one that the arguments ask for with all of its code: loading the others takes time.
 * Without arguments all are loaded.
 */
export async function programOf(
  rows: readonly CommandRow[],
  { version, args }: { version: string; args: readonly string[] | null },
): Promise<Command> {
  const usages = new Map<Command, string>();
  const program = new Command('signalpress')
    .description('Compiles official readings into signed files that anybody can verify offline')
    .version(version, '-V, --version', 'print the version')
    .showHelpAfterError('signalpress --help lists all commands')
    .configureHelp({
      // Commander leaves it out where no terminal reads it, and with NO_COLOR.
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
      subcommandTerm: (command) =>
        usages.get(command) ?? Help.prototype.subcommandTerm.call(new Help(), command),
    })
    .addHelpText('after', `\n${EXIT_CODES}`);
  // The name of the command that arguments begin with; undefined where there is none.
  const [first, second] = (args ?? []).filter((arg) => !arg.startsWith('-'));
  const asked = first === 'help' ? second : first;
  const sorted = GROUPS.flatMap((title) => rows.filter(({ group }) => group === title));
  for (const { usage, about, group, define, examples } of sorted) {
    const [name = ''] = usage.split(' ');
    const command = program.command(name).description(about).helpGroup(`${group}:`);
    usages.set(command, usage);
    if (args !== null && name !== asked) continue;
    await define(command);
    addExamples(command, await examples?.());
    shortenErrors(command, `signalpress ${name}`);
  }
  program.commandsGroup('This program:').helpCommand(true);
  return program;
}

/** What follows an error: where the help is, not all of it. */
function shortenErrors(command: Command, name: string): void {
  command.showHelpAfterError(`${name} --help shows what it takes`);
  for (const one of command.commands) shortenErrors(one, `${name} ${one.name()}`);
}

/** Ready-made calls by command, shown under its help; each is one that works, apart from the names in it. */
type Examples = Readonly<Record<string, readonly string[]>>;

const EXAMPLES: Examples = {
  compile: [
    'signalpress compile --key issuer.key --base-url https://signals.example.org',
    'signalpress compile --key issuer.key --as-of 2026-11-20T12:00:00Z --verify full',
    'signalpress compile --key issuer.key --keep-last 24 --keep-days 7',
  ],
  'import csv': ['signalpress import csv gauges.csv --map map.json --note gauges.note.json'],
  'import json': [
    'signalpress import json gauges.json --map map.json --fetched-at 2026-11-20T11:00:12Z',
  ],
  'import usgs-earthquakes': ['signalpress import usgs-earthquakes all_week.geojson'],
  'import usgs-nwis': ['signalpress import usgs-nwis iv.json --note iv.note.json'],
  'import sec-edgar': [
    'signalpress import sec-edgar CIK0000320193.json --fetched-at 2026-11-20T11:00:12Z',
  ],
  fetch: [
    'signalpress fetch usgs-earthquakes',
    'signalpress fetch usgs-nwis --entities 07010000,07020500 --every 1h',
  ],
  run: ['signalpress run --key issuer.key', 'signalpress run --once --key issuer.key'],
  'sources list': ['signalpress sources list'],
  'sources init': ['signalpress sources init --contact mailto:ops@example.org'],
  'sources check': ['signalpress sources check'],
  init: ['signalpress init shop --lines tides', 'signalpress init shop --extends builtin'],
  buy: [
    "signalpress buy 'http://127.0.0.1:4021/gauge?signal_id=tides.level&entity=station-one' --issuer did:key:z6Mk…",
    "signalpress buy 'https://shop.example/gauge/census?signal_id=tides.level' --issuer did:key:z6Mk… --max-usd 0.30 --wallet wallet.key --payment census.payment",
  ],
  mcp: [
    'signalpress mcp --url https://shop.example --issuer did:key:z6Mk… --max-usd 0.05 --wallet wallet.key',
  ],
  check: ['signalpress check', 'signalpress check --snapshots snapshots --data dist-data'],
  lines: [
    'signalpress lines',
    'signalpress lines crypto.spot',
    'signalpress lines --schema > snapshots/catalog.schema.json',
  ],
  verify: [
    "signalpress verify body.json --issuer did:key:z6Mk… --expect 'GET /gauge?signal_id=…&entity=…'",
    'signalpress verify dist-data --trust signalpress.trust',
    'signalpress verify https://signals.example.org --mirror held',
  ],
  'trust init': [
    'signalpress trust init https://signals.example.org',
    'signalpress trust init https://signals.example.org --issuer did:key:z6Mk… --max-age 2d --yes',
  ],
  monitor: [
    'signalpress monitor https://signals.example.org --issuer did:key:z6Mk…',
    'signalpress monitor https://signals.example.org --issuer did:key:z6Mk… --also https://mirror.example.org --once',
    'signalpress monitor check signalpress-monitor/evidence/fork-0123456789abcdef.json --issuer did:key:z6Mk…',
  ],
  replay: ['signalpress replay', 'signalpress replay --archive /backup/archive'],
  'anchor stamp': ['signalpress anchor stamp'],
  'anchor upgrade': ['signalpress anchor upgrade --block-header 850000.hex'],
  'releases list': ['signalpress releases list'],
  'releases diff': [
    'signalpress releases diff 000001-20261120T120000Z 000002-20261121T120000Z',
    'signalpress releases diff 000001-20261120T120000Z 000002-20261121T120000Z --files',
  ],
  'releases prune': [
    'signalpress releases prune',
    'signalpress releases prune --keep-last 24 --keep-days 7',
  ],
  'releases rollback': [
    'signalpress releases rollback 000001-20261120T120000Z --key issuer.key',
    'signalpress releases rollback 000001-20261120T120000Z --accept-clock 2026-11-20T12:34',
  ],
  publish: [
    'signalpress publish --to /srv/shop',
    'signalpress publish --to https://static.example.com/shop --prune',
    "signalpress publish --command 'rclone copyto {file} remote:shop/{path}' --at https://static.example.com/shop",
  ],
  adopt: [
    'signalpress adopt https://signals.example.org --issuer did:key:z6Mk…',
    'signalpress adopt /srv/mirror --key issuer.key',
  ],
  backup: ['signalpress backup /backup/2026-11-20'],
  restore: ['signalpress restore /backup/2026-11-20 --data dist-data'],
  stats: ['signalpress stats', 'signalpress stats --data dist-data'],
  'key list': ['signalpress key list'],
  'key rotate': ['signalpress key rotate --key issuer.key --to next.key'],
  'key revoke': [
    'signalpress key revoke --key next.key --did did:key:z6Mk… --from 2026-11-20T12:00:00Z',
  ],
  'key receipt': [
    'signalpress key receipt --key issuer.key --did did:key:z6Mk…',
    'signalpress key receipt --key issuer.key --did did:key:z6Mk… --until 2026-12-31T00:00:00Z',
  ],
  'root keygen': ['signalpress root keygen root-a.key root-b.key root-c.key'],
  'root draft': [
    'signalpress root draft root-1.json --root did:key:z6Mk… --root did:key:z6Mk… --root did:key:z6Mk…',
    'signalpress root draft root-2.json --add did:key:z6Mk…=2026-12-01T00:00:00Z',
    'signalpress root draft root-3.json --revoke did:key:z6Mk…=2026-11-20T12:00:00Z',
  ],
  'root show': ['signalpress root show root-1.json'],
  'root sign': ['signalpress root sign root-1.json --key root-a.key'],
  'root adopt': ['signalpress root adopt root-1.json'],
  keygen: ['signalpress keygen issuer.key'],
  'witness add': [
    'signalpress witness add https://witness.example --key witness.example/w1+1b817d15+BAddam…',
  ],
  'witness ask': ['signalpress witness ask', 'signalpress witness ask --policy witnesses.txt'],
  'completion bash': ['source <(signalpress completion bash)'],
  'completion zsh': ['source <(signalpress completion zsh)'],
  'receipt issue': [
    "signalpress receipt issue '/gauge?entity=us-denver&signal_id=airquality.aqi' --key processor.key",
  ],
};

/** The usual meaning of exit codes; some commands have codes of their own and print them themselves. */
const EXIT_CODES = 'Exit codes: 0 done; 1 refused, nothing was changed, and the error says why';
const OWN_EXIT_CODES = new Map([
  [
    'verify',
    'Exit codes: 0 verified, or only a citation or the inclusion of a hash; 1 failed; 2 cannot be judged.',
  ],
  ['replay', ''],
  ['monitor', ''],
  [
    'fetch',
    'Exit codes: 0 done; 3 some source failed, the others are imported; 1 refused, or all failed',
  ],
  [
    'run',
    'Exit codes: 0 done; 3 some source failed, the others are published; 1 nothing could be published',
  ],
]);

/** Adds exit codes to the help of a command and those below it, and examples to each that has no subcommands. */
export function addExamples(top: Command, more: Examples = {}): void {
  for (const group of groups(top)) group.addHelpText('after', `\n${EXIT_CODES}`);
  for (const [name, command] of leaves(top)) {
    const lines = EXAMPLES[name] ?? more[name];
    if (lines === undefined) throw new TypeError(`Cannot explain "${name}": it has no example`);
    const codes = OWN_EXIT_CODES.get(name) ?? EXIT_CODES;
    const exits = codes === '' ? [] : ['', codes];
    const text = ['', 'Examples:', ...lines.map((line) => `  ${line}`), ...exits].join('\n');
    command.addHelpText('after', text);
  }
}

/** A command and those below it that have subcommands. */
function groups(parent: Command): Command[] {
  return parent.commands.length === 0 ? [] : [parent, ...parent.commands.flatMap(groups)];
}

/** A command and those below it that have no subcommands, by their full name. */
function leaves(command: Command): (readonly [name: string, command: Command])[] {
  if (command.commands.length === 0) return [[command.name(), command]];
  const below = command.commands.flatMap(leaves);
  return below.map(([name, leaf]) => [`${command.name()} ${name}`, leaf] as const);
}
