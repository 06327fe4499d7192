import { existsSync } from 'node:fs';
import { decodeUtf8 } from '../format/strict-json.ts';
import { readNamed } from '../system/disk.ts';
import { errorText } from '../system/error-text.ts';
import { replaceFile } from '../system/plain-file.ts';
import { memoryOf, parseMemory } from './release-chain.ts';
import {
  formatTrust,
  parseTrust,
  TRUST_BYTES_MAX,
  TRUST_NAME,
  type TrustFile,
  trustOfFile,
} from './trust-file.ts';
import type { MemoryFile, VerifyCommandOptions } from './verify-command.ts';

/** The option of all that judge and buy. */
export const TRUST = [
  '--trust <file>',
  `whom you trust, as "trust init" wrote it (default: ${TRUST_NAME}, where it is and --issuer is not given)`,
] as const;

/** Whom the reader of a command trusts, as its options say. */
export interface NamedTrust {
  readonly issuer?: readonly string[] | undefined;
  readonly trust?: string | undefined;
}

/** What they come to: the options of `runVerify` about trust, and the file that they are from. */
interface ReadTrust
  extends Pick<
    VerifyCommandOptions,
    'issuer' | 'root' | 'list' | 'origin' | 'policy' | 'maxAgeMs'
  > {
  readonly file?: TrustFile;
  readonly memory?: MemoryFile;
  /** The file that names the issuer. */
  readonly namedBy?: string;
}

/** What the options say, or the trust file; nothing where the reader named nobody. Throws a RangeError for an unusable file. */
export function trustNamed({ issuer, trust }: NamedTrust): ReadTrust {
  if (issuer !== undefined && trust !== undefined) {
    throw new RangeError(
      'Cannot use --issuer with --trust: the file names the issuer; leave one out',
    );
  }
  if (issuer !== undefined) return { issuer };
  const path = trust ?? (existsSync(TRUST_NAME) ? TRUST_NAME : null);
  if (path === null) return {};
  const file = readTrustFile(path);
  const { trust: _, roots: __, keys: list, ...rest } = named(path, () => trustOfFile(file));
  const { issuers, roots } = file;
  const root = roots.length === 0 ? {} : { root: roots };
  return {
    ...rest,
    list,
    issuer: issuers,
    ...root,
    file,
    memory: memoryIn(path, file),
    namedBy: path,
  };
}

/** Reads a trust file; throws a RangeError that names it. */
export function readTrustFile(path: string): TrustFile {
  return named(path, () => parseTrust(decodeUtf8(readNamed(path, TRUST_BYTES_MAX))));
}

function named<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new RangeError(`Cannot use "${path}" of --trust: ${errorText(cause)}`, { cause });
  }
}

/** What was seen last stands in the trust file itself, with the list of keys of then. */
function memoryIn(path: string, file: TrustFile): MemoryFile {
  return {
    text: memoryOf(file.seen),
    save(text, keys = undefined) {
      const seen = parseMemory(text).issuers;
      const next = formatTrust({ ...file, seen, keys: keys ?? file.keys });
      if (next !== formatTrust(file)) replaceFile(path, next);
    },
  };
}
