import { decodeUtf8 } from '../contract/strict-json.ts';
import { reason } from '../verify/body-check.ts';
import { readingIn } from './evidence.ts';
import { READINGS_MAX } from './monitor-state.ts';
import { anyEnded, type Round, signersOf } from './round.ts';

/** Longest free sample that is read, in bytes: a record has some thousand. */
const SAMPLE_BYTES_MAX = 131_072;
export const SAMPLE_URL = '/gauge/sample';

/** Reads free samples: a reading that was said must not be said again in another way. Other times are sold, so nobody sees them all. */
export async function followReadings(round: Round, signals: readonly string[]): Promise<void> {
  const paths = [
    SAMPLE_URL,
    ...signals.map((id) => `${SAMPLE_URL}?signal_id=${encodeURIComponent(id)}`),
  ];
  for (const path of paths) {
    const bytes = await round.client.get(path, SAMPLE_BYTES_MAX);
    if (bytes !== null) compareReading(round, path, bytes);
  }
}

function compareReading(round: Round, path: string, bytes: Uint8Array): void {
  const { state, readings, findings } = round;
  const text = textOf(bytes);
  const said = text === null ? null : readingOf(text, signersOf(state));
  if (text === null || said === null || typeof said === 'string') {
    // Under a key that nobody vouches for no sample holds either.
    if (findings.some(({ kind }) => kind === 'unknown_key')) return;
    const detail = `its free sample does not hold: ${said ?? 'not a signed reading'}`;
    findings.push({ kind: 'unreadable', about: path, detail });
    return;
  }
  const { subject, hash } = said;
  const known = state.readings.find(([each]) => each === subject)?.[1];
  if (known === hash) return;
  const before = known === undefined ? null : readings.read(known);
  if (before !== null) {
    const detail = `${subject} was said in two ways: ${known}, then ${hash}; a correction by its source is one honest reason`;
    const finding = { kind: 'rewritten', about: `${subject} ${hash}`, detail } as const;
    const bodies: [string, string] = [before, text];
    const past = unprovenBy(round, bodies);
    findings.push(
      past === null
        ? { ...finding, proof: { kind: 'readings', bodies } }
        : { ...finding, detail: `${detail}; ${past}` },
    );
    return;
  }
  readings.write(hash, text);
  const kept = state.readings.filter(([each]) => each !== subject);
  for (const [, old] of kept.slice(0, Math.max(0, kept.length + 1 - READINGS_MAX)))
    readings.remove(old);
  state.readings = [...kept, [subject, hash] as [string, string]].slice(-READINGS_MAX);
}

/** Why two bodies prove nothing to others; null where keys that are in use signed both. */
function unprovenBy(round: Round, bodies: readonly string[]): string | null {
  const said = bodies.map((text) => readingOf(text, signersOf(round.state)));
  const signers = said.flatMap((each) => (typeof each === 'string' ? [] : (each?.issuer ?? [])));
  if (signers.length < bodies.length) return 'one is signed by a key that counts no longer';
  return anyEnded(round, signers);
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return decodeUtf8(bytes);
  } catch {
    return null;
  }
}

function readingOf(text: string, believed: readonly string[]) {
  try {
    return readingIn(text, believed);
  } catch (error) {
    return reason(error);
  }
}
