import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { startGate } from '../gate.ts';
import { writeFreshSample } from '../sample-folder.ts';
import { compileFolder } from '../snapshot-folder.ts';
import { type StrictFacilitator, strictFacilitator } from './strict-facilitator.ts';

export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const CLI = resolve('build/compiler/cli/cli.js');

/** The real gatekeeper over a release of the sample, on loopback. */
export interface Shop {
  readonly url: string;
  readonly facilitator: StrictFacilitator;
  /** Issuer of the sample. */
  readonly did: string;
  /** Runs the offline verifier of the build over a delivered body; its exit code and words. */
  verify(body: string): Promise<{ readonly status: number | null; readonly text: string }>;
  close(): Promise<void>;
}

export async function openShop(): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-interop-'));
  const facilitator = await strictFacilitator();
  const snapshots = join(folder, 'snapshots');
  const asOf = writeFreshSample(snapshots);
  const baseUrl = 'http://127.0.0.1:4021';
  const data = join(folder, 'data');
  const { release } = await compileFolder(snapshots, { data, asOf, baseUrl });
  const did = release.issuer_did;
  const gatekeeper = await startGate({
    data,
    state: join(folder, 'state'),
    network: 'base',
    pay_to: PAYEE,
    facilitator_url: facilitator.url,
    token_secret: randomBytes(32).toString('hex'),
  });
  return {
    url: gatekeeper.url,
    facilitator,
    did,
    verify: (body) => runVerify(body, did),
    async close() {
      await gatekeeper.close();
      await facilitator.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Not spawnSync: connections to the shop end while this process waits, and its clients would not see that. */
async function runVerify(body: string, did: string): ReturnType<Shop['verify']> {
  const child = spawn(process.execPath, [CLI, 'verify', '-', '--issuer', did]);
  child.stdin.end(body);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const texts = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, text: texts.join('') };
}
