import type { Command } from 'commander';
import { type CommandSettings, dataFolder } from '../commands/command-settings.ts';
import { policyFile } from '../commands/policy-file.ts';
import type { LogPolicy } from '../contract/log-policy.ts';
import { systemClock } from '../fetch/clock.ts';
import { clockBehind } from './witness.ts';
import { makeWitness, openWitness } from './witness-store.ts';

const PORT_DEFAULT = '4110';
const STATE = [
  '--state <folder>',
  'folder of the key and of what was cosigned',
  'witness',
] as const;

interface AskFlags {
  readonly data: string;
  readonly policy: string;
}

interface AddFlags extends AskFlags {
  readonly key: string;
}

interface ServeFlags {
  readonly state: string;
  readonly logs: string;
  readonly host: string;
  readonly port: string;
}

const HELP = `
A witness signs that it saw a log only grow, and when. compiler/WITNESSES.md tells what readers do with that.
`;

/** Defines `witness add|ask|keygen|serve`. */
export function defineWitness(witness: Command, settings: CommandSettings): void {
  witness.addHelpText('after', HELP);
  witness
    .command('add')
    .description('have one more witness cosign the log, and name it in a policy once it did')
    .argument('<url>', 'where it is asked')
    .requiredOption('--key <line>', 'its key, <name>+<8 hex digits>+<base64>, from its operator')
    .option('--policy <file>', 'the policy that names it from then on', 'witnesses.txt')
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .action((url: string, flags: AddFlags) => runAdd(url, flags, settings));
  witness
    .command('ask')
    .description('have witnesses cosign the log of the current release, and publish what they sign')
    .requiredOption('--policy <file>', 'a policy that says where each witness is asked')
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .action((flags: AskFlags) => runAsk(flags, settings));
  witness
    .command('keygen')
    .description('make the key of a witness, in a folder of its own')
    .argument('<name>', 'name of the witness: an address without its scheme, witness.example/w1')
    .option(...STATE)
    .action((name: string, { state }: Pick<ServeFlags, 'state'>) => {
      const vkey = makeWitness(state, name);
      settings.print(
        `${vkey}\nGive this line to readers and publishers. Folder "${state}": keep it secret; never go back to an older copy of it`,
      );
    });
  witness
    .command('serve')
    .description('cosign the checkpoints of some logs over HTTP, never two histories of one')
    .requiredOption('--logs <file>', 'the logs, as "log" lines of a policy with "quorum none"')
    .option(...STATE)
    .option('--host <address>', 'address to listen at', '127.0.0.1')
    .option('--port <number>', 'port to listen at', PORT_DEFAULT)
    .action((flags: ServeFlags) => runServe(flags, settings));
}

async function runAdd(
  url: string,
  { data, policy: file, key: vkey }: AddFlags,
  { now, print, exit }: CommandSettings,
): Promise<void> {
  const { addWitness } = await import('./add-witness.ts');
  const { askText } = await import('./ask-witnesses.ts');
  const by = { fetch, ...systemClock(now, Math.random) };
  const report = await addWitness({ data, file, url, vkey }, by);
  const end =
    report.lack === null
      ? `"${file}" names it now: pass it to "witness ask --policy", "compile --witnesses" or "run --witnesses"`
      : `"${file}" is as it was: give the line of /log/vkey to the witness, and run this again`;
  print(`${askText(report)}\n${end}`);
  exit(report.lack === null ? 0 : 1);
}

/** A witness that does not answer is named; the exit code says whether the policy is met. */
async function runAsk({ data, policy }: AskFlags, settings: CommandSettings): Promise<void> {
  const { askText, askWitnesses } = await import('./ask-witnesses.ts');
  const { now, print, exit } = settings;
  const report = await askWitnesses(data, policyFile(policy), {
    fetch,
    ...systemClock(now, Math.random),
  });
  print(askText(report));
  exit(report.lack === null ? 0 : 1);
}

async function runServe(flags: ServeFlags, settings: CommandSettings): Promise<void> {
  const logs = logsOf(flags.logs, policyFile(flags.logs, '--logs'));
  const port = portOf(flags.port);
  const store = openWitness(flags.state);
  const own = logs.find(
    ({ publicKey }) => Buffer.compare(publicKey, store.key.verifier.publicKey) === 0,
  );
  try {
    if (own !== undefined) {
      throw new RangeError(
        `Cannot witness "${own.name}": its key is that of this witness; make another`,
      );
    }
    const { serveWitness } = await import('./witness-server.ts');
    const { print, now } = settings;
    const served = await serveWitness({ store, logs, host: flags.host, port, now, log: print });
    const names = new Set(logs.map(({ name }) => name));
    print(
      `Witness ${store.key.vkey}\nListening at ${flags.host}:${served.port} for ${[...names].join(', ')}`,
    );
    for (const name of names) {
      const known = store.memory.get(name);
      const behind = known === null ? null : clockBehind(known, Math.floor(now() / 1000));
      if (behind !== null) print(`Cannot cosign ${name} yet: ${behind.body.trimEnd()}`);
    }
    await new Promise<void>((resolve) => {
      settings.onStop(resolve);
    });
    await served.close();
  } finally {
    store.close();
  }
}

function logsOf(file: string, { logs }: LogPolicy) {
  if (logs.length > 0) return logs.map(({ key }) => key);
  throw new RangeError(
    `Cannot serve "${file}" of --logs: it lists no log; add a line "log" with the line of /log/vkey of a service`,
  );
}

function portOf(text: string): number {
  const port = /^(0|[1-9][0-9]{0,4})$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new RangeError(`Cannot listen at --port "${text}": not a number from 0 to 65535`);
}
