// Bodies with what their reader demands, and the verdict that follows, written by hand for each case.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Verification, verify } from '../../../compiler/client/verify.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { readKeyHistory } from '../../../compiler/format/key-history.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import { trustedBy } from '../../../compiler/verify/key-trust.ts';
import { isSignedBy } from '../../../compiler/verify/verify-citation.ts';
import { receiptIn, verifyReceipt } from '../../../compiler/verify/verify-receipt.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { trustText } from '../../verify/trust-text.ts';
import { BODIES_NAME, type BodyVector, type BodyVectors, type ReaderCase, type ReaderDemands } from './body-vector.ts';

interface Reading {
  readonly did: string;
  readonly now: number;
}

/** The rows of some cases, and where the command, the library or Python come to another verdict. */
export async function readerVectors(
  cases: readonly ReaderCase[],
  reading: Reading,
): Promise<BodyVectors> {
  const rows: BodyVector[] = [];
  const disputed: string[] = [];
  for (const [at, one] of cases.entries()) {
    const { row, stated } = await judged(one, reading, at + 1);
    const isOff = stated.some((verdict) => verdict !== one.want);
    if (isOff) disputed.push(`${row.class}: ${row.about}: ${stated.join()}, not ${one.want}`);
    rows.push(row);
  }
  return { rows, disputed };
}

async function judged(
  { want, reader = {}, ...one }: ReaderCase,
  { did, now }: Reading,
  id: number,
): Promise<{ readonly row: BodyVector; readonly stated: readonly string[] }> {
  const issuers = reader.issuers ?? [did];
  const report = reportOf(one.text, { ...reader, issuers }, now);
  const command = await commandOf(one.text, { ...reader, issuers }, now);
  const check = report?.checks.find(({ status }) => status === 'fail')?.check ?? null;
  const row = { id, ...one, issuer: did, now: isoTime(now), ...reader, verdict: want, check };
  return { row, stated: [...(report === null ? [] : [report.verdict]), command] };
}

type Reader = ReaderDemands & { readonly issuers: readonly string[] };

/** What the library says; null for a receipt, which it does not judge, and for a list of keys that it refuses. */
function reportOf(text: string, reader: Reader, now: number): Verification | null {
  const { issuers, roots = [], keys, expect, max_age_ms: maxAgeMs } = reader;
  const demandsProof = proofDemand(reader);
  const list = keys === undefined ? null : (parseJson(keys) as unknown);
  const whom =
    roots.length === 0
      ? { issuer: issuers, ...(list === null ? {} : { keys: list }) }
      : { trust: trustText({ issuers: [...issuers], roots: [...roots], keys: list }) };
  const options = {
    ...whom,
    now,
    ...(demandsProof === null ? {} : { demandsProof }),
    ...(expect === undefined ? {} : { expect }),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  };
  try {
    return receiptIn(text) === null ? verify(text, options) : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function proofDemand({ demands_proof = false }: ReaderDemands): boolean | null {
  return demands_proof;
}

async function commandOf(text: string, reader: Reader, now: number): Promise<string> {
  const { issuers, roots = [], keys, expect, max_age_ms: maxAgeMs, delivered, payer } = reader;
  const receipt = receiptIn(text);
  if (payer !== undefined && receipt !== null) {
    // The command prints who paid, and leaves the comparison to its reader.
    const list = keys === undefined ? {} : { keys: readKeyHistory(parseJson(keys), isSignedBy) };
    const sale = { payer, expect, body: delivered === undefined ? undefined : Buffer.from(delivered) };
    return verifyReceipt(receipt, { ...trustedBy(issuers, roots), ...list }, sale).verdict;
  }
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-reader-'));
  const saved = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  try {
    const outcome = await runVerify('-', {
      ...{ issuer: issuers, root: roots, now, json: true },
      readStdin: () => Buffer.from(text),
      ...(keys === undefined ? {} : { keys: saved('keys.json', keys) }),
      ...(delivered === undefined ? {} : { body: saved('body.json', delivered) }),
      ...(expect === undefined ? {} : { expect }),
      ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    });
    const { verdict } = JSON.parse(outcome.text) as { verdict: string };
    // The command leaves open what comes without a proof; the library can be told to take it, or to refuse it.
    const demanded = proofDemand(reader);
    if (demanded === true && ['unproven', 'partly_verified'].includes(verdict)) return 'failed';
    return demanded === false && verdict === 'unproven' ? 'verified' : verdict;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
