import { privateKeyToAccount } from 'viem/accounts';
import { encoded, NOW_MS, payerKey } from './payer.ts';
import { BASE, TARGET } from './payment-bench.ts';

/** An instant so long after the one of payment tests. */
export const at = (ms: number): string => new Date(NOW_MS + ms).toISOString();

/** Titles of the lines of ERC-4361, in their order. */
const TITLES = {
  uri: 'URI',
  version: 'Version',
  chainId: 'Chain ID',
  nonce: 'Nonce',
  issuedAt: 'Issued At',
  expirationTime: 'Expiration Time',
  notBefore: 'Not Before',
  requestId: 'Request ID',
};

interface Plain extends Readonly<Partial<Record<keyof typeof TITLES | 'statement', string>>> {
  readonly domain: string;
  readonly address: string;
  readonly chainId: string;
  readonly resources: readonly string[];
}

/** What a wallet shows of a message, and signs. */
function walletText(plain: Plain): string {
  const shown: Plain = { ...plain, chainId: plain.chainId.slice('eip155:'.length) };
  const lines = Object.entries(TITLES).flatMap(([name, title]) => {
    const value = shown[name as keyof typeof TITLES];
    return value === undefined ? [] : [`${title}: ${value}`];
  });
  const statement = plain.statement === undefined ? [''] : [plain.statement, ''];
  return [
    `${plain.domain} wants you to sign in with your Ethereum account:`,
    plain.address,
    '',
    ...statement,
    ...lines,
    'Resources:',
    ...plain.resources.map((one) => `- ${one}`),
  ].join('\n');
}

let nonces = 0;
/** A message of Alice as a client would send it, with changes before and after it is signed. */
export async function message(
  changes: object = {},
  after: object = {},
  name = 'payer',
): Promise<string> {
  const account = privateKeyToAccount(payerKey(name));
  nonces += 1;
  const plain = {
    domain: 'api.example.com',
    address: account.address,
    uri: BASE + TARGET,
    version: '1' as const,
    chainId: 'eip155:8453',
    nonce: `abcdef${String(nonces).padStart(10, '0')}`,
    issuedAt: at(0),
    resources: [BASE + TARGET],
    ...changes,
  };
  const signature = await account.signMessage({ message: walletText(plain) });
  return encoded({ ...plain, type: 'eip191', signature, ...after });
}
