import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { didKey } from '../../../compiler/contract/did-key.ts';
import { treeHash } from './merkle-rows.ts';
import type { Vector } from './vector.ts';

const ORIGIN = 'records.example/log';
const KEY = keyOf('signalpress test key, not secret');
const OTHER = keyOf('signalpress test key, the second');
const TEXT = `${ORIGIN}\n2\n${treeHash(['a', 'b']).toString('base64')}\n`;

/** `input` is a signed note and an issuer, `want` what it states, `error` that it must not be believed. */
export function checkpointVectors(): readonly Vector[] {
  const note = noteOf(TEXT);
  const root = treeHash(['a', 'b']).toString('hex');
  const stated = { origin: ORIGIN, size: 2, root };
  const witness = lineOf(TEXT, OTHER, 'witness.example/w');
  return [
    { comment: 'a note', input: { note, issuer: KEY.did }, want: stated },
    {
      comment: 'a second signature of somebody else',
      input: { note: note + witness, issuer: KEY.did },
      want: stated,
    },
    {
      comment: 'a cosignature of a witness, which is longer, and a name beyond ASCII',
      input: {
        note: note + cosignature('witness.example/w') + cosignature('Zeuge-ä'),
        issuer: KEY.did,
      },
      want: stated,
    },
    ...refused(note),
  ];
}

function refused(note: string): Vector[] {
  const notes: readonly (readonly [string, string])[] = [
    ['another size', note.replace('\n2\n', '\n3\n')],
    ['another origin', note.replaceAll(ORIGIN, 'others.example/log')],
    ['a size with a leading zero', note.replace('\n2\n', '\n02\n')],
    ['no empty line', note.replace('\n\n', '\n')],
    ['no line end', note.slice(0, -1)],
    ['no signature', `${TEXT}\n`],
    ['an altered signature', note.replace(/.{6}\n$/, 'AAAAA=\n')],
    ['a line of extension', noteOf(`${TEXT}more\n`)],
    ['the key of another', noteOf(TEXT, OTHER)],
    ['the cosignature of a witness alone', `${TEXT}\n${cosignature('witness.example/w')}`],
    ['a cosignature without a signature', `${note}\u2014 witness.example/w AAAAAA==\n`],
    ['a line that is no signature', `${note}witness.example/w\n`],
    ['one key twice', note + note.slice(note.lastIndexOf('\u2014'))],
  ];
  return notes.map(([comment, text]) => {
    return {
      comment: `refused: ${comment}`,
      input: { note: text, issuer: KEY.did },
      error: 'checkpoint',
    };
  });
}

function keyOf(seed: string) {
  const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
  const der = Buffer.concat([pkcs8, Buffer.from(seed, 'ascii')]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const bytes = new Uint8Array(spki.subarray(-32));
  return { key, bytes, did: didKey(bytes) };
}

function noteOf(text: string, signer = KEY): string {
  return `${text}\n${lineOf(text, signer, ORIGIN)}`;
}

/** A line of C2SP tlog-cosignature: key hash of type 4, eight bytes of time, a signature; nobody here can check it. */
function cosignature(name: string): string {
  return `\u2014 ${name} ${Buffer.alloc(4 + 8 + 64, 9).toString('base64')}\n`;
}

/** A line of C2SP signed-note: em dash, name, four bytes that tell the key, signature. */
function lineOf(text: string, signer: ReturnType<typeof keyOf>, name: string): string {
  const named = createHash('sha256').update(`${name}\n`).update(Buffer.of(1)).update(signer.bytes);
  const signature = sign(null, Buffer.from(text, 'utf8'), signer.key);
  const bytes = Buffer.concat([named.digest().subarray(0, 4), signature]);
  return `\u2014 ${name} ${bytes.toString('base64')}\n`;
}
