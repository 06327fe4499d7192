import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import { rotateKey } from '../../../compiler/publish/keys/key-command.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { check } from '../../../gatekeeper/rooms/check.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { smallSet } from '../../small-set.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../../snapshot-folder.ts';
import { compiledService, jsonOf, question } from '../tiny-service.ts';

// A body of a key that has ended, judged by the service that signs with the next one.

const [FIRST, SECOND] = [61, 62].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
];
const ROTATED = {
  from: '2026-11-21T00:00:00Z',
  now: '2026-11-20T13:00:00Z',
  overlapDays: 1,
} as const;
const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const PUBLISHED = '2026-11-21T12:00:00Z';
const LATER = '2026-11-23T12:00:00Z';

let data: string;
let old: Buffer;
beforeAll(async () => {
  const snapshots = writeSnapshots(smallSet());
  ({ data } = await compileFolder(snapshots, { seed: FIRST }));
  const service = await compiledService(data, ROTATED.now);
  const asked = question(TARGET);
  const answered = await answer(asked, service);
  if (answered.kind !== 'content') throw new Error('no answer');
  old = (await proven(answered.content, asked, service)).body;
  rotateKey({ data, old: FIRST, next: SECOND, ...ROTATED });
  await compileFolder(snapshots, { data, seed: SECOND, asOf: PUBLISHED });
});
afterAll(removeFolders);

async function judged(body: Buffer, folder = data) {
  const service = await compiledService(folder, LATER);
  return jsonOf(await check(question('/verify', 'application/json', body), service));
}

/** A copy of the shop. */
function copied(): string {
  const copy = join(makeFolder(), 'data');
  cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

describe('a body of a key that has ended', () => {
  it('I62: is led to the newest checkpoint by the log of the service', async () => {
    const report = await judged(old);
    expect(report).toMatchObject({ verdict: 'verified', is_issuer_record: true });
    expect(JSON.stringify(report.details)).toContain('which is in use, signed the log with it');
  });

  it('I62: cannot be judged where the log cannot be read', async () => {
    const copy = copied();
    writeFileSync(join(copy, CHECKPOINT_PATH), 'damaged');
    expect(await judged(old, copy)).toMatchObject({ verdict: 'unsigned' });
  });

  it('I62: fails where another entry stands in its place', async () => {
    const text = old.toString();
    const moved = text.replace(/\\nindex 0\\n/, '\\nindex 1\\n');
    expect(moved).not.toBe(text);
    expect(await judged(Buffer.from(moved))).toMatchObject({ verdict: 'failed' });
  });
});
