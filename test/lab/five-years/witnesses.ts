import { logOrigin } from '../../../compiler/contract/checkpoint.ts';
import { parseDidKey } from '../../../compiler/contract/did-key.ts';
import type { LogPolicy } from '../../../compiler/contract/log-policy.ts';
import { NOTE_KEY } from '../../../compiler/contract/verifier-key.ts';
import { readPolicy } from '../../../compiler/verify/policy-check.ts';
import { StubWitness } from '../../witness/stub-witness.ts';

const NAMES = ['harbour', 'press', 'library'];

/** Three witnesses in memory, two of which make a quorum. */
export class Witnesses {
  readonly policy: LogPolicy;
  readonly #all: ReadonlyMap<string, StubWitness>;
  readonly #dead = new Set<string>();
  /** Milliseconds since 1970. */
  now = 0;

  constructor(issuers: readonly string[], baseUrl: string) {
    const name = logOrigin(baseUrl);
    const logs = issuers.map((did) => ({ name, type: NOTE_KEY.log, publicKey: parseDidKey(did) }));
    const now = (): number => this.now;
    this.#all = new Map(
      NAMES.map((each) => [each, new StubWitness({ name: `${each}.example/w`, logs, now })]),
    );
    const lines = [...this.#all].map(
      ([each, { vkey }]) => `witness ${each} ${vkey} https://${each}.example\n`,
    );
    const text = `${lines.join('')}group two 2 ${NAMES.join(' ')}\nquorum two\n`;
    this.policy = readPolicy(Buffer.from(text));
  }

  kill(name: string): void {
    this.#dead.add(name);
  }

  readonly fetch = async (url: string, { body }: RequestInit): Promise<Response> => {
    const name = new URL(url).hostname.replace(/\.example$/, '');
    const witness = this.#all.get(name);
    if (witness === undefined || this.#dead.has(name)) throw new TypeError('fetch failed');
    const { status, body: said } = witness.add(String(body));
    return new Response(said, { status });
  };
}
