import { parseDidKey } from '../contract/did-key.ts';
import { decodeUtf8, parseJson } from '../contract/strict-json.ts';
import { reason } from './body-check.ts';
import { type Disk, nodeDisk, openChunks, readAll } from './disk.ts';
import { isReleaseFolder } from './release-root.ts';
import { bodyText, releaseText } from './report-text.ts';
import { verifyBody } from './verify-body.ts';
import type { CitationTrust } from './verify-citation.ts';
import { type VerifyProgress, verifyRelease } from './verify-release.ts';

/** Longest body that is read from a file or from standard input. */
export const INPUT_BYTES_MAX = 67_108_864;
const STDIN = 0;
const NO_RELEASE = 'a folder without "release.json" and without a "current" link to a release';

/** What the exit code of `verify` says. */
export const EXIT = { verified: 0, failed: 1, undecided: 2 } as const;

/** For the help of the command. */
export const VERIFY_HELP = `
TARGET is a delivered body as saved (FILE), a release or data folder (DIR), or - for standard input.
Nothing is fetched: every hash and signature is recomputed here, without any socket.

Exit codes:
  0  verified
  1  failed: a hash, a signature or a statement does not hold, or the issuer is not trusted
  2  cannot be judged: unreadable, not JSON, nothing signed in it, or wrong usage

Without --issuer the signature is checked against the key that the citation itself names.
`;

export interface VerifyCommandOptions {
  /** DIDs that are trusted; none means that any issuer's own signature will do. */
  readonly issuer?: readonly string[];
  readonly json?: boolean;
  readonly disk?: Disk;
  /** All bytes of standard input. */
  readonly readStdin?: () => Uint8Array | Promise<Uint8Array>;
  readonly progress?: (step: VerifyProgress) => void;
  /** Worker threads for a release. */
  readonly workers?: number;
  /** For a release: signatures too with code that shares nothing with the signer's. */
  readonly independent?: boolean;
}

export interface VerifyOutcome {
  readonly exitCode: (typeof EXIT)[keyof typeof EXIT];
  readonly text: string;
}

/** `verify FILE|DIR|-`: judges one target and says so in words or in JSON. */
export async function runVerify(
  target: string,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const { issuer = [], disk = nodeDisk } = options;
  try {
    for (const did of issuer) parseDidKey(did);
    const trust = issuer.length === 0 ? ('any' as const) : issuer;
    const kind = target === '-' ? 'file' : disk.entry(target)?.kind;
    if (kind === undefined) return undecided(target, 'no such file or folder', options);
    if (kind !== 'file' && isReleaseFolder(disk, target)) {
      return await judgeFolder(target, trust, options);
    }
    if (kind === 'folder') return undecided(target, NO_RELEASE, options);
    return await judgeFile(target, trust, options);
  } catch (error) {
    return undecided(target, reason(error), options);
  }
}

type Trust = CitationTrust['trust'];

async function judgeFolder(
  target: string,
  trust: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const { disk = nodeDisk, progress, workers = 0, independent = false } = options;
  const report = await verifyRelease(target, {
    trust,
    disk,
    workers,
    independent,
    ...(progress === undefined ? {} : { progress }),
  });
  const exitCode = report.verdict === 'verified' ? EXIT.verified : EXIT.failed;
  const pinned = trust !== 'any';
  if (options.json !== true) return { exitCode, text: releaseText(target, report, { pinned }) };
  return { exitCode, text: jsonText({ target, issuer_pinned: pinned, ...report }) };
}

async function judgeFile(
  target: string,
  trust: Trust,
  options: VerifyCommandOptions,
): Promise<VerifyOutcome> {
  const body = parseJson(decodeUtf8(await readTarget(target, options)));
  const report = verifyBody(body, { trust });
  const exitCode = { verified: EXIT.verified, failed: EXIT.failed, unsigned: EXIT.undecided };
  const pinned = trust !== 'any';
  const text =
    options.json === true
      ? jsonText({ target, issuer_pinned: pinned, ...report })
      : bodyText(target, report, { pinned });
  return { exitCode: exitCode[report.verdict], text };
}

async function readTarget(target: string, options: VerifyCommandOptions): Promise<Uint8Array> {
  const { disk = nodeDisk, readStdin = () => readAll(openChunks(STDIN), INPUT_BYTES_MAX) } =
    options;
  return target === '-' ? await readStdin() : readAll(disk.chunks(target), INPUT_BYTES_MAX);
}

function undecided(target: string, why: string, { json }: VerifyCommandOptions): VerifyOutcome {
  const text =
    json === true
      ? jsonText({ target, verdict: 'undecided', reason: why })
      : `cannot be judged  ${target}\n  ${why}\n`;
  return { exitCode: EXIT.undecided, text };
}

function jsonText(report: object): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}
