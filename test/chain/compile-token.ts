import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { z } from 'zod';

/** Where this package lies, whether the sources run or their build. */
export const CHAIN_PACKAGE = resolve('test/chain');

const outputSchema = z.object({
  errors: z.array(z.object({ formattedMessage: z.string() })).optional(),
  contracts: z
    .object({
      'Token.sol': z.object({
        Token: z.object({
          evm: z.object({
            deployedBytecode: z.object({ object: z.string().regex(/^[0-9a-f]+$/) }),
          }),
        }),
      }),
    })
    .optional(),
});

/** The code of Token.sol as it lies on a chain; throws with what the compiler says. */
export function compileToken(): `0x${string}` {
  const load = createRequire(resolve(CHAIN_PACKAGE, 'package.json'));
  const solc = z.object({ compile: z.function({ input: [z.string()], output: z.string() }) });
  const { compile } = solc.parse(load('solc'));
  const input = {
    language: 'Solidity',
    sources: {
      'Token.sol': { content: readFileSync(resolve(CHAIN_PACKAGE, 'Token.sol'), 'utf8') },
    },
    settings: {
      optimizer: { enabled: true },
      viaIR: true,
      evmVersion: 'paris',
      outputSelection: { '*': { '*': ['evm.deployedBytecode.object'] } },
    },
  };
  const { errors = [], contracts } = outputSchema.parse(JSON.parse(compile(JSON.stringify(input))));
  if (contracts === undefined || errors.length > 0) {
    throw new Error(
      `Cannot compile Token.sol: ${errors.map((e) => e.formattedMessage).join('\n')}`,
    );
  }
  return `0x${contracts['Token.sol'].Token.evm.deployedBytecode.object}`;
}
