import { decodeUtf8, type JsonValue, parseJson } from '../contract/strict-json.ts';
import { openArchive } from '../fetch/archive.ts';
import { nodeDisk, readAll } from '../verify/disk.ts';
import { openChunks } from '../verify/plain-file.ts';
import { EXIT, jsonText, noRelease, printed, type VerifyOutcome } from '../verify/report-text.ts';
import { INPUT_BYTES_MAX, runVerify, type VerifyCommandOptions } from '../verify/verify-command.ts';
import { type EvidenceLink, evidenceLinks } from './evidence-links.ts';
import { type Rederived, rederive, UNNAMED, type Witnesses } from './rederive.ts';

interface EvidenceOptions extends VerifyCommandOptions {
  /** Folder of the archive. */
  readonly archive: string;
  readonly witnesses?: Witnesses;
}

/** One link with what was found behind it. */
interface EvidenceCheck extends Rederived {
  readonly where: string;
  readonly signal: string;
  readonly entity: string | null;
  readonly observed_at: string;
}

const STDIN = 0;
const ONLY_OF_BODIES =
  'Cannot use --archive for a release: it is about one body; name the file of a body';
const VERDICT = {
  shown: 'evidence shown',
  failed: 'evidence FAILED',
  open: 'evidence cannot be judged',
} as const;
const STATUS = { shown: 'ok', failed: 'FAIL', open: '-' } as const;
type Exit = VerifyOutcome['exitCode'];
const EXITS = { shown: EXIT.verified, failed: EXIT.failed, open: EXIT.undecided } as const;

/** `verify FILE --archive DIR`: judges a body, and leads each of its readings back to the payload that it was read from. */
export async function runVerifyEvidence(
  target: string,
  options: EvidenceOptions,
): Promise<VerifyOutcome> {
  const { disk = nodeDisk } = options;
  if (target !== '-' && disk.entry(target) === null) return runVerify(target, options);
  if (target !== '-' && noRelease(disk, target) === null) throw new RangeError(ONLY_OF_BODIES);
  const bytes = await bytesOf(target, options);
  const outcome = await runVerify(target, {
    ...options,
    // A pipe is read once.
    disk: { ...disk, named: (path) => (path === target ? [bytes] : disk.named(path)) },
    readStdin: () => bytes,
  });
  const body = parsed(bytes);
  if (body === null) return outcome;
  const checks = evidenceChecks(
    body,
    options.witnesses ?? { archive: openArchive(options.archive) },
  );
  return joined(target, outcome, { checks, isJson: options.json === true });
}

/** What stands behind each reading that a body names. */
export function evidenceChecks(body: JsonValue, witnesses: Witnesses): EvidenceCheck[] {
  return evidenceLinks(body).map((found: EvidenceLink) => {
    const { where, entity } = found;
    const { signal, observed_at } = found.link;
    return { where, signal, entity, observed_at, ...rederive(found, witnesses) };
  });
}

/** The worst of them; nothing is shown where nothing is named. */
function evidenceVerdict(checks: readonly EvidenceCheck[]): Rederived['verdict'] {
  const verdicts = new Set(checks.map(({ verdict }) => verdict));
  if (verdicts.has('failed')) return 'failed';
  return verdicts.size === 0 || verdicts.has('open') ? 'open' : 'shown';
}

async function bytesOf(target: string, { disk = nodeDisk, readStdin }: EvidenceOptions) {
  if (target !== '-') return readAll(disk.named(target), INPUT_BYTES_MAX);
  return readStdin === undefined ? readAll(openChunks(STDIN), INPUT_BYTES_MAX) : readStdin();
}

/** Null for what runVerify has refused already. */
function parsed(bytes: Uint8Array): JsonValue | null {
  try {
    return parseJson(decodeUtf8(bytes));
  } catch {
    return null;
  }
}

interface EvidenceResult {
  readonly checks: readonly EvidenceCheck[];
  readonly isJson: boolean;
}

function joined(
  target: string,
  outcome: VerifyOutcome,
  { checks, isJson }: EvidenceResult,
): VerifyOutcome {
  const verdict = evidenceVerdict(checks);
  const exitCode = worse(outcome.exitCode, EXITS[verdict]);
  if (isJson) {
    const evidence = { evidence_verdict: verdict, evidence: checks };
    return { exitCode, text: jsonText({ ...JSON.parse(outcome.text), ...evidence }) };
  }
  return { exitCode, text: outcome.text + printed(evidenceLines(target, checks)) };
}

function worse(one: Exit, other: Exit): Exit {
  if (one === EXIT.failed || other === EXIT.failed) return EXIT.failed;
  return one === EXIT.verified ? other : one;
}

function evidenceLines(target: string, checks: readonly EvidenceCheck[]): string[] {
  const isNamed = checks.some(({ detail }) => detail !== UNNAMED);
  return [
    `${VERDICT[evidenceVerdict(checks)]}${isNamed ? '' : `: ${UNNAMED}`}  ${target}`,
    ...checks.map(({ verdict, signal, entity, observed_at, detail }) => {
      const about = entity === null ? signal : `${signal} of ${entity}`;
      return `  ${STATUS[verdict].padEnd(5)} evidence      ${about} at ${observed_at}  ${detail}`;
    }),
  ];
}
