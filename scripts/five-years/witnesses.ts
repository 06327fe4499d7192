import { hash } from 'node:crypto';
import { logOrigin } from '../../compiler/contract/checkpoint.ts';
import { parseDidKey } from '../../compiler/contract/did-key.ts';
import type { LogPolicy } from '../../compiler/contract/log-policy.ts';
import { NOTE_KEY } from '../../compiler/contract/verifier-key.ts';
import { readPolicy } from '../../compiler/verify/policy-check.ts';
import { addCheckpoint, type CosignedLog } from '../../compiler/witness/witness.ts';
import {
  newWitnessKey,
  readWitnessKey,
  type WitnessKey,
} from '../../compiler/witness/witness-key.ts';

const NAMES = ['harbour', 'press', 'library'];

/** Three witnesses in memory, two of which make a quorum. */
export class Witnesses {
  readonly policy: LogPolicy;
  readonly #keys: ReadonlyMap<string, WitnessKey>;
  readonly #memories = new Map<string, Map<string, CosignedLog>>();
  readonly #dead = new Set<string>();
  readonly #logs;
  /** Milliseconds since 1970. */
  now = 0;

  constructor(issuers: readonly string[], baseUrl: string) {
    const name = logOrigin(baseUrl);
    this.#logs = issuers.map((did) => ({ name, type: NOTE_KEY.log, publicKey: parseDidKey(did) }));
    this.#keys = new Map(
      NAMES.map((each) => {
        const seed = hash('sha256', each, 'buffer');
        return [each, readWitnessKey(newWitnessKey(`${each}.example/w`, seed))];
      }),
    );
    const lines = [...this.#keys].map(
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
    const key = this.#keys.get(name);
    if (key === undefined || this.#dead.has(name)) throw new TypeError('fetch failed');
    const memory = this.#memories.get(name) ?? new Map<string, CosignedLog>();
    this.#memories.set(name, memory);
    const answer = addCheckpoint(String(body), {
      key,
      logs: this.#logs,
      memory: {
        get: (origin) => memory.get(origin) ?? null,
        put: (log) => memory.set(log.checkpoint.origin, log),
      },
      mayCosign: () => true,
      now: () => this.now,
    });
    return new Response(answer.body, { status: answer.status });
  };
}
