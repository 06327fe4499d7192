import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { linesOf, openNote, signatureLine } from '../contract/checkpoint.ts';
import { cosignaturesOf, cosignedBytes } from '../contract/cosignature.ts';
import { defined } from '../contract/defined.ts';
import { keyHashOf } from '../contract/verifier-key.ts';
import { lockData } from '../stages/publish/data-lock.ts';
import { replaceFile } from '../stages/publish/replace-file.ts';
import { readPlain } from '../verify/plain-file.ts';
import { isStrictSignature } from '../verify/strict-signature.ts';
import type { CosignedLog, WitnessMemory } from './witness.ts';
import { newWitnessKey, readWitnessKey, sha256, type WitnessKey } from './witness-key.ts';

const KEY_NAME = 'witness.key';
const KEY_BYTES_MAX = 4096;
/** The one file that is replaced with each cosignature. */
const MEMORY_NAME = 'cosigned.json';
/** Some hundred logs with the lines of a few keys each. */
const MEMORY_BYTES_MAX = 4 * 1024 * 1024;

const memorySchema = z.strictObject({
  format: z.literal('signalpress-witness/1'),
  /** Who cosigned. */
  vkey: z.string(),
  /** The newest note of each log, by origin. */
  notes: z.array(z.string()),
});

/** A witness as it stands on the disk. */
export interface WitnessStore {
  readonly key: WitnessKey;
  readonly memory: WitnessMemory;
  /** Gives the folder back to other processes. */
  close(): void;
}

/** Makes the folder of a new witness: a key, readable by its owner only, and an empty memory. Returns the verifier key. */
export function makeWitness(folder: string, name: string): string {
  if (existsSync(join(folder, KEY_NAME)) || existsSync(join(folder, MEMORY_NAME))) {
    throw new RangeError(
      `Cannot make a witness in "${folder}": there is one already, and its key is never replaced; name another folder`,
    );
  }
  const text = newWitnessKey(name);
  const { vkey } = readWitnessKey(text);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, KEY_NAME);
  replaceFile(join(folder, MEMORY_NAME), memoryText(vkey, new Map()));
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  chmodSync(path, 0o600);
  return vkey;
}

/**
 * Opens the folder of a witness for one process. Without the memory of what was cosigned, or with one that does not hold, nothing
 * is opened: a witness that forgets may sign a second history.
 */
export function openWitness(folder: string): WitnessStore {
  const key = readWitnessKey(textOf(folder, KEY_NAME, KEY_BYTES_MAX));
  const close = lockData(folder);
  try {
    const logs = readMemory(folder, key);
    const memory: WitnessMemory = {
      get: (origin) => logs.get(origin) ?? null,
      put(log) {
        const text = memoryText(key.vkey, new Map([...logs, [log.checkpoint.origin, log]]));
        if (Buffer.byteLength(text) > MEMORY_BYTES_MAX) {
          throw new RangeError(
            `its memory would be longer than ${MEMORY_BYTES_MAX} bytes, which it could not read again; make another witness for further logs`,
          );
        }
        replaceFile(join(folder, MEMORY_NAME), text);
        logs.set(log.checkpoint.origin, log);
      },
    };
    return { key, memory, close };
  } catch (error) {
    close();
    throw error;
  }
}

function readMemory(folder: string, key: WitnessKey): Map<string, CosignedLog> {
  const parsed = memorySchema.safeParse(
    parsedOrNull(textOf(folder, MEMORY_NAME, MEMORY_BYTES_MAX)),
  );
  if (!parsed.success) throw damaged(folder, 'it is not a memory as this program writes it');
  const { vkey, notes } = parsed.data;
  if (vkey !== key.vkey) throw damaged(folder, `it is that of the witness "${vkey}"`);
  const logs = new Map<string, CosignedLog>();
  for (const note of notes) {
    const log = cosignedLog(note, key);
    if (log === null || logs.has(log.checkpoint.origin)) {
      throw damaged(folder, `note ${logs.size + 1} in it is not one that this witness cosigned`);
    }
    logs.set(log.checkpoint.origin, log);
  }
  return logs;
}

/** What a stored note says; null where the key of the witness did not sign it. */
function cosignedLog(note: string, { verifier }: WitnessKey): CosignedLog | null {
  const opened = openNote(note);
  if (opened === null) return null;
  const { note: parsed, checkpoint } = opened;
  const [stated, ...more] = cosignaturesOf(parsed, verifier, sha256);
  if (stated === undefined || stated === null || more.length > 0) return null;
  const { seconds, signature } = stated;
  const bytes = cosignedBytes(parsed.text, seconds);
  if (!isStrictSignature(signature, bytes, verifier.publicKey)) return null;
  const [own] = linesOf(parsed, verifier.name, keyHashOf(verifier, sha256));
  const line = signatureLine(defined(own, 'the own line'));
  return { note, line, checkpoint, seconds };
}

function memoryText(vkey: string, logs: ReadonlyMap<string, CosignedLog>): string {
  const origins = [...logs.keys()].sort();
  const notes = origins.map((origin) => defined(logs.get(origin), 'a log').note);
  return `${JSON.stringify({ format: 'signalpress-witness/1', vkey, notes }, null, 2)}\n`;
}

function textOf(folder: string, name: string, max: number): string {
  try {
    return readPlain(join(folder, name), max).toString('utf8');
  } catch (cause) {
    throw new RangeError(
      `Cannot open the witness in "${folder}": "${name}" is missing or unreadable; make a new witness in another folder with "signalpress witness keygen" (an older copy of this one may sign a second history)`,
      { cause },
    );
  }
}

function parsedOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function damaged(folder: string, why: string): RangeError {
  return new RangeError(
    `Cannot open the witness in "${folder}": its memory "${MEMORY_NAME}" does not hold: ${why}; make a new witness in another folder`,
  );
}
