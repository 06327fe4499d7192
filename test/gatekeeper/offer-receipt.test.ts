import { describe, expect, it } from 'vitest';
import { formatKeyHistory, KEYS_PATH, type KeyHistory } from '../../compiler/format/key-history.ts';
import { startGatekeeper } from '../../gatekeeper/start.ts';
import { listingKeys, SIGNER_DID, SIGNER_SEED } from './payer.ts';
import { tinyConfig } from './tiny-gate.ts';
import { TINY_NOW, tinyDataDir, tinyFiles, writeTinyRelease } from './tiny-release.ts';

const RECORD = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const LISTED = listingKeys();
const UNLISTED: KeyHistory = { ...LISTED, receipt_keys: [] };

function release(dataDir: string, keys: KeyHistory, sequence = 1): void {
  const { receipt_keys = [], ...issuer } = keys;
  const list = receipt_keys.length === 0 ? issuer : keys;
  const files = new Map([...tinyFiles(), [KEYS_PATH, Buffer.from(formatKeyHistory(list))]]);
  writeTinyRelease(dataDir, { files, sequence });
}

async function opened(dataDir: string, offerReceiptKey: string | null = SIGNER_SEED) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const config = { ...tinyConfig(dataDir), offerReceiptKey };
  const log = (line: Readonly<Record<string, unknown>>) => lines.push(line);
  const gate = await startGatekeeper(config, { clock: () => TINY_NOW, log });
  const off = () => lines.filter(({ event }) => event === 'offer_receipt_off');
  return { gate, off };
}

interface Said {
  readonly extensions?: string[];
  readonly x402?: { readonly extensions?: string[] };
}

/** Where the extension is announced, by door. */
async function announced(url: string) {
  const json = async (path: string): Promise<Said> => {
    return (await (await fetch(url + path)).json()) as Said;
  };
  const { headers } = await fetch(url + RECORD);
  const challenge = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString();
  const named = (list: string[] | undefined) => list?.includes('offer-receipt') === true;
  return {
    challenge: 'offer-receipt' in JSON.parse(challenge).extensions,
    channels: named((await json('/gauge/channels')).x402?.extensions),
    manifest: named((await json('/.well-known/x402')).extensions),
  };
}

const everywhere = (is: boolean) => ({ challenge: is, channels: is, manifest: is });

describe('offer-receipt', () => {
  it('is announced where the release lists the key, by every door', async () => {
    const dataDir = tinyDataDir();
    release(dataDir, LISTED);
    const { gate, off } = await opened(dataDir);
    expect(await announced(gate.url)).toEqual(everywhere(true));
    expect(off()).toEqual([]);
    await gate.close();
  });

  it('is announced nowhere where it is off', async () => {
    const dataDir = tinyDataDir();
    release(dataDir, LISTED);
    const { gate, off } = await opened(dataDir, null);
    const { headers } = await fetch(gate.url + RECORD);
    expect(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()).not.toContain(
      'offer-receipt',
    );
    expect(off()).toEqual([]);
    await gate.close();
  });

  it('the start says why it is not announced, and the next release with the key turns it on', async () => {
    const dataDir = tinyDataDir();
    release(dataDir, UNLISTED);
    const { gate, off } = await opened(dataDir);
    expect(await announced(gate.url)).toEqual(everywhere(false));
    expect(off()).toEqual([
      {
        event: 'offer_receipt_off',
        error: expect.stringMatching(/not announced: .*does not list it.*signalpress key receipt/),
        key: SIGNER_DID,
        release: 1,
      },
    ]);
    release(dataDir, LISTED, 2);
    await gate.checkRelease();
    expect(await announced(gate.url)).toEqual(everywhere(true));
    expect(off()).toHaveLength(1);
    release(dataDir, listingKeys({}, { until: '2026-11-02T00:00:00Z' }), 3);
    await gate.checkRelease();
    expect(await announced(gate.url)).toEqual(everywhere(false));
    expect(off()).toHaveLength(2);
    await gate.close();
  });

  it('I49: a key that cannot be read stops the start, and is not repeated', async () => {
    const dataDir = tinyDataDir();
    release(dataDir, LISTED);
    const offerReceiptKey = `${SIGNER_SEED}0`;
    const config = tinyConfig(dataDir);
    const by = { clock: () => TINY_NOW, log: () => undefined };
    const error = await startGatekeeper({ ...config, offerReceiptKey }, by).catch(String);
    expect(error).toContain('Cannot read SIGNALPRESS_OFFER_RECEIPT_KEY: neither an existing file');
    expect(error).not.toContain(SIGNER_SEED);
  });
});
