import { createPublicKey, hash, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type Checkpoint,
  cosignedBytes,
  formatVerifierKey,
  keyHashOf,
  NOTE_KEY,
  openNote,
  signatureIn,
  signatureLine,
  type VerifierKey,
} from '../../../compiler/format/checkpoint.ts';
import { type Sha256, verifyConsistency } from '../../../compiler/format/merkle.ts';
import { signingKey } from '../../../compiler/system/sealer.ts';
import { isStrictSignature } from '../../../compiler/verify/strict-signature.ts';
import { cosignatureLine } from './invented-log.ts';

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer');

interface StubOptions {
  /** An address without its scheme. */
  readonly name: string;
  /** Keys of the logs that it cosigns. */
  readonly logs: readonly VerifierKey[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A witness for tests, after C2SP tlog-witness: it remembers in memory and cosigns only a log that it saw grow. */
export class StubWitness {
  readonly vkey: string;
  readonly #options: StubOptions;
  readonly #secret;
  readonly #verifier: VerifierKey;
  readonly #seen = new Map<string, Checkpoint>();

  constructor(options: StubOptions) {
    this.#options = options;
    this.#secret = signingKey(sha256(Buffer.from(options.name)));
    const der = createPublicKey(this.#secret).export({ format: 'der', type: 'spki' });
    const publicKey = Uint8Array.from(der.subarray(-32));
    this.#verifier = { name: options.name, type: NOTE_KEY.witness, publicKey };
    this.vkey = formatVerifierKey(this.#verifier, sha256);
  }

  /** The answer to `POST /add-checkpoint`. */
  add(request: string): { readonly status: number; readonly body: string; readonly type?: string } {
    const cut = request.indexOf('\n\n');
    const [first = '', ...lines] = request.slice(0, cut).split('\n');
    const opened = openNote(request.slice(cut + 2));
    const [, old = ''] = /^old ([0-9]+)$/.exec(first) ?? [];
    if (opened === null || old === '') return { status: 400, body: 'not a request\n' };
    const { note, checkpoint } = opened;
    const log = this.#options.logs.find(({ name }) => name === checkpoint.origin);
    if (log === undefined) return { status: 404, body: 'an unknown log\n' };
    const bytes = Buffer.from(note.text, 'utf8');
    const isSigned = this.#options.logs.some((key) => {
      const signature = signatureIn(note, key.name, keyHashOf(key, sha256));
      return signature !== null && isStrictSignature(signature, bytes, key.publicKey);
    });
    if (!isSigned) return { status: 403, body: 'no known key signed it\n' };
    const seen = this.#seen.get(checkpoint.origin);
    const size1 = seen?.size ?? 0;
    if (Number(old) !== size1) return { status: 409, body: `${size1}\n`, type: 'text/x.tlog.size' };
    const proof = lines.map((line) => Uint8Array.from(Buffer.from(line, 'base64')));
    const { size: size2, root: root2 } = checkpoint;
    const root1 = seen?.root ?? new Uint8Array(0);
    const isGrown = size1 === 0 || verifyConsistency({ size1, size2, root1, root2, proof }, sha256);
    if (!isGrown) return { status: 422, body: 'it does not go on\n' };
    this.#seen.set(checkpoint.origin, checkpoint);
    const seconds = Math.floor(this.#options.now() / 1000);
    const signature = new Uint8Array(sign(null, cosignedBytes(note.text, seconds), this.#secret));
    const line = cosignatureLine({ seconds, signature }, this.#verifier, sha256);
    return { status: 200, body: signatureLine(line) };
  }

  /** Listens on 127.0.0.1; port 0 for any that is free. */
  async serve(port = 0): Promise<{ readonly port: number; close(): Promise<void> }> {
    const server = createServer(async (request, response) => {
      const { status, body, type = 'text/plain' } = this.add((await request.toArray()).join(''));
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
    return {
      port: (server.address() as AddressInfo).port,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
  }
}
