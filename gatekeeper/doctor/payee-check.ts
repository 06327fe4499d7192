import { type PaidNetwork, paidTokens, settlementOf } from '../config/config.ts';
import { payeeAddress } from '../money/address.ts';
import { symbolOf } from '../money/networks.ts';
import { silence } from './chain-check.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import type { TokenNode } from './token-node.ts';

/** A wallet that delegates to code (EIP-7702) still has its key. */
const DELEGATED = /^0xef0100/i;

/** Whether the payee can be paid, and whether somebody can spend what it is paid. */
export async function payeeCheck(examined: Examined): Promise<Finding[]> {
  const { config } = examined;
  if (settlementOf(config) === 'test') return [skipped('none: payments are simulated')];
  const payee = payeeAddress(config.payTo);
  const spelling = ok(`${payee} is an address with a matching checksum`);
  const tokens = paidTokens(config);
  const findings = await Promise.all(
    tokens.map(async (paid) => {
      const node = await examined.node(paid);
      const isOther = paid.network.decimals !== undefined;
      const found = isOther ? await otherFindings(node, payee) : await findingsOn(node, payee);
      return tokens.length === 1 ? found : found.map((one) => namedFor(paid, one));
    }),
  );
  return [spelling, ...findings.flat()];
}

async function findingsOn(node: TokenNode | null, payee: string): Promise<Finding[]> {
  if (node === null) return [skipped('what it is cannot be known without a chain node')];
  try {
    return [await accountFinding(node, payee), await barFinding(node, payee)];
  } catch (error) {
    return [silence(error)];
  }
}

/** Of another token of the same network; not every one can bar accounts. */
async function otherFindings(node: TokenNode | null, payee: string): Promise<Finding[]> {
  if (node === null) return [];
  try {
    return [await barFinding(node, payee)];
  } catch {
    return [skipped('whether the token pays to it cannot be known')];
  }
}

/** An address may be a plain account on one network and a contract on another. */
function namedFor({ network }: PaidNetwork, finding: Finding): Finding {
  const token = network.decimals === undefined ? '' : ` ${symbolOf(network)}`;
  return { ...finding, detail: `${network.name}${token}: ${finding.detail}` };
}

async function accountFinding(node: TokenNode, payee: string): Promise<Finding> {
  const code = await node.codeOf(payee);
  if (code === null) return ok('it is a plain account');
  if (DELEGATED.test(code)) return ok('it is an account that delegates to a contract');
  return warning(
    'it is a contract, and only its own code decides whether the money can be spent',
    'make sure that this contract can send tokens, with a small payment first',
  );
}

async function barFinding(node: TokenNode, payee: string): Promise<Finding> {
  const isBarred = await node.isBarred(payee);
  if (!isBarred) return ok('the token pays to it');
  return failed(
    'the issuer of the token has barred it, so every payment would fail',
    'set SIGNALPRESS_PAY_TO to another address of yours',
  );
}
