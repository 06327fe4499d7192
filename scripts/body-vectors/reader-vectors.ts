// Bodies with what their reader demands, and the verdict that follows, written by hand for each case.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verify } from '../../compiler/client/verify.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { hasPython, VERIFY_RECORD } from '../../test/verify/python-judge.ts';
import { BODIES_NAME, type BodyVector, type BodyVectors } from './body-vectors.ts';

/** What a reader asks of a body beside being true. */
export interface ReaderDemands {
  /** The request that it has to answer. */
  readonly expect?: string;
  /** Longest age of what was observed. */
  readonly max_age_ms?: number;
}

/** A body, its reader, and the verdict that he has to come to. */
export interface ReaderCase {
  readonly class: string;
  readonly about: string;
  readonly text: string;
  readonly want: BodyVector['verdict'];
  readonly reader?: ReaderDemands;
}

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
  return { rows, disputed: [...disputed, ...pythonDisputes(rows)] };
}

async function judged(
  { want, reader = {}, ...one }: ReaderCase,
  { did, now }: Reading,
  id: number,
): Promise<{ readonly row: BodyVector; readonly stated: readonly string[] }> {
  const { expect, max_age_ms: maxAgeMs } = reader;
  const demands = {
    ...(expect === undefined ? {} : { expect }),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  };
  const { verdict, checks } = verify(one.text, { issuer: did, now, ...demands });
  const readStdin = (): Uint8Array => Buffer.from(one.text);
  const command = await runVerify('-', { issuer: [did], now, readStdin, json: true, ...demands });
  const check = checks.find(({ status }) => status === 'fail')?.check ?? null;
  const row = { id, ...one, issuer: did, now: isoTime(now), ...reader, verdict: want, check };
  return { row, stated: [verdict, JSON.parse(command.text).verdict] };
}

/** What `verify_record.py` comes to, where it is another verdict. */
export function pythonDisputes(rows: readonly BodyVector[]): string[] {
  if (!hasPython) return [];
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-vectors-'));
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, BODIES_NAME),
      rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    );
    const { stdout, stderr } = spawnSync('python3', [VERIFY_RECORD, '--vectors', folder], {
      encoding: 'utf8',
    });
    const [head = '', ...off] = stdout.trimEnd().split('\n');
    return head.startsWith(`${rows.length} vectors`) ? off : [`Python: ${stderr}`];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
