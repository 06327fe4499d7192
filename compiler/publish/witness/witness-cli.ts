import type { Command } from 'commander';
import { systemClock } from '../../system/clock.ts';
import { type CommandSettings, dataFolder } from '../../system/command-settings.ts';
import { PACKAGE_LIST, policyFile } from './witness-list.ts';

interface AskFlags {
  readonly data: string;
  readonly policy?: string;
}

interface AddFlags extends Required<AskFlags> {
  readonly key: string;
}

const HELP = `
A witness signs that it saw a log only grow, and when. compiler/WITNESSES.md tells what readers do with that.
`;

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
    .option(
      '--policy <file>',
      'a list or policy that says where each witness is asked (default: the list of this package)',
    )
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .action((flags: AskFlags) => runAsk(flags, settings));
}

async function runAdd(
  url: string,
  { data, policy: file, key: vkey }: AddFlags,
  { now, print, exit }: CommandSettings,
): Promise<void> {
  const { addWitness, askText } = await import('./ask-witnesses.ts');
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
async function runAsk(
  { data, policy = PACKAGE_LIST }: AskFlags,
  settings: CommandSettings,
): Promise<void> {
  const { askText, askWitnesses } = await import('./ask-witnesses.ts');
  const { now, print, exit } = settings;
  const report = await askWitnesses(data, policyFile(policy), {
    fetch,
    ...systemClock(now, Math.random),
  });
  print(askText(report));
  exit(report.lack === null ? 0 : 1);
}
