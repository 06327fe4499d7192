import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';

/** Where this package lies, whether the sources run or their build. */
export const CHAIN_PACKAGE = resolve('test/chain');

const code = z.object({ object: z.string().regex(/^[0-9a-f]*$/) });
const outputSchema = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).optional(),
  contracts: z
    .record(
      z.string(),
      z.record(z.string(), z.object({ evm: z.object({ bytecode: code, deployedBytecode: code }) })),
    )
    .optional(),
});

/** The code of one contract: to deploy it, and as it lies on a chain. */
export interface Contract {
  readonly bytecode: `0x${string}`;
  readonly deployed: `0x${string}`;
}

type Contracts = Readonly<Record<string, Contract>>;

/** What was compiled before, until `npm ci` empties the folder: a file takes seconds, and most tests need the same. */
const CACHE = resolve(CHAIN_PACKAGE, 'node_modules/.cache');
const SETTINGS = {
  optimizer: { enabled: true },
  viaIR: true,
  evmVersion: 'paris',
  outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

/** What this process has compiled or read already. */
const compiled = new Map<string, Contracts>();

/** One contract of a file beside this one; throws with what the compiler says. */
export function contractOf(file: string, name: string): Contract {
  const contracts = compiled.get(file) ?? contractsOf(file);
  compiled.set(file, contracts);
  const contract = contracts[name];
  if (contract === undefined) throw new Error(`Cannot compile ${file}: no contract "${name}"`);
  return contract;
}

function contractsOf(file: string): Contracts {
  const content = readFileSync(resolve(CHAIN_PACKAGE, file), 'utf8');
  const digest = createHash('sha256')
    .update(JSON.stringify([SETTINGS, content]))
    .digest('hex');
  const cached = resolve(CACHE, `${digest}.json`);
  if (existsSync(cached)) return JSON.parse(readFileSync(cached, 'utf8'));
  const contracts = compileSolidity(file, content);
  mkdirSync(dirname(cached), { recursive: true });
  // Moved into its place in one step, since others may look for it.
  writeFileSync(`${cached}.${process.pid}`, JSON.stringify(contracts));
  renameSync(`${cached}.${process.pid}`, cached);
  return contracts;
}

function compileSolidity(file: string, content: string): Contracts {
  const load = createRequire(resolve(CHAIN_PACKAGE, 'package.json'));
  const solc = z.object({ compile: z.function({ input: [z.string()], output: z.string() }) });
  const { compile } = solc.parse(load('solc'));
  const input = {
    language: 'Solidity',
    sources: { [file]: { content } },
    settings: SETTINGS,
  };
  const { errors = [], contracts } = outputSchema.parse(JSON.parse(compile(JSON.stringify(input))));
  const made = contracts?.[file];
  if (made === undefined || errors.length > 0) {
    throw new Error(`Cannot compile ${file}: ${errors.map((e) => e.formattedMessage).join('\n')}`);
  }
  return Object.fromEntries(
    Object.entries(made).map(([name, { evm }]) => [
      name,
      { bytecode: `0x${evm.bytecode.object}`, deployed: `0x${evm.deployedBytecode.object}` },
    ]),
  );
}
