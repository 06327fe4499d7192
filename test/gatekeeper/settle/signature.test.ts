import { createRequire } from 'node:module';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { getAddress, hashTypedData, verifyTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { checksumAddress, keccak256 } from '../../../gatekeeper/settle/address.ts';
import { CURVE, openCurve } from '../../../gatekeeper/settle/curve.ts';
import { NETWORKS } from '../../../gatekeeper/settle/networks.ts';
import {
  type Authorization,
  parseSignedText,
  signedText,
} from '../../../gatekeeper/settle/payment.ts';
import {
  recoverPayer,
  recoverSigner,
  slowSignatures,
  transferDigest,
} from '../../../gatekeeper/settle/signature.ts';
import { payer, typedTransfer } from '../payer.ts';
import { alice as benchAlice, PAY_TO } from '../payment-bench.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const network = NETWORKS.base;
const alice = payer(network, 'alice');
const TO = '0x00000000000000000000000000000000000000aa';

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((b) => `0x${Buffer.from(b).toString('hex')}`);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const authorizations: fc.Arbitrary<Authorization> = fc.record({
  from: hex(20),
  to: hex(20),
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hex(32),
});

function split(signature: string) {
  return {
    r: BigInt(signature.slice(0, 66)),
    s: BigInt(`0x${signature.slice(66, 130)}`),
    v: Number.parseInt(signature.slice(130), 16),
  };
}
function join(r: bigint, s: bigint, v: number): string {
  const word = (value: bigint) => value.toString(16).padStart(64, '0');
  return `0x${word(r)}${word(s)}${v.toString(16).padStart(2, '0')}`;
}

describe('transferDigest()', () => {
  it('transferDigest() is what viem hashes, for any fields on every network', () => {
    for (const row of Object.values(NETWORKS)) {
      fc.assert(
        fc.property(authorizations, (authorization) => {
          const ours = `0x${Buffer.from(transferDigest(row, authorization)).toString('hex')}`;
          expect(ours).toBe(hashTypedData(typedTransfer(row, authorization)));
        }),
        { numRuns: 300, seed: 1 },
      );
    }
  });

  it('transferDigest() changes with every field, the chain, the token and its domain', async () => {
    const { authorization } = await alice.sign(TO, '5000');
    const digest = Buffer.from(transferDigest(network, authorization)).toString('hex');
    const others = [
      ...Object.keys(authorization).map((field) => {
        const old = authorization[field as keyof Authorization];
        const last = old.endsWith('1') ? '2' : '1';
        return transferDigest(network, { ...authorization, [field]: old.slice(0, -1) + last });
      }),
      transferDigest({ ...network, chainId: 1 }, authorization),
      transferDigest({ ...network, asset: TO }, authorization),
      transferDigest({ ...network, extra: { ...network.extra, name: 'USDC' } }, authorization),
      transferDigest({ ...network, extra: { ...network.extra, version: '1' } }, authorization),
    ].map((bytes) => Buffer.from(bytes).toString('hex'));
    expect(others).not.toContain(digest);
    expect(new Set(others).size).toBe(10);
  });
});

describe('recoverPayer()', () => {
  it('recoverPayer() finds the account that signed with viem', async () => {
    for (let at = 0; at < 60; at++) {
      const someone = payer(network, `payer ${at}`);
      const { authorization, signature } = await someone.sign(TO, String(at * 977));
      const found = recoverPayer(transferDigest(network, authorization), signature);
      expect(found).toBe(someone.address.toLowerCase());
    }
  });

  it('transferDigest() is what viem hashes for amounts of every length', () => {
    for (let digits = 0; digits < 78; digits++) {
      for (const first of ['1', '9']) {
        const value = first.padEnd(digits, '9').slice(0, 77);
        const terms = { from: TO, to: TO, value, validAfter: '0', validBefore: value };
        const authorization = { ...terms, nonce: `0x${'ab'.repeat(32)}` };
        const digest = Buffer.from(transferDigest(network, authorization)).toString('hex');
        expect(`0x${digest}`).toBe(hashTypedData(typedTransfer(network, authorization)));
      }
    }
  });

  it('recoverPayer() finds somebody else for a tampered field, another chain or another domain', async () => {
    const { authorization, signature } = await alice.sign(TO, '5000');
    const digests = [
      transferDigest(network, { ...authorization, value: '5001' }),
      transferDigest(network, { ...authorization, nonce: `0x${'1'.repeat(64)}` }),
      transferDigest(NETWORKS['base-sepolia'], authorization),
      transferDigest({ ...network, extra: { name: 'USDC', version: '2' } }, authorization),
    ];
    for (const digest of digests) {
      expect(recoverPayer(digest, signature)).not.toBe(alice.address.toLowerCase());
    }
  });

  it('recoverPayer() refuses the high-s twin and v 0 or 1, which viem accepts', async () => {
    const { authorization, signature } = await alice.sign(TO, '5000');
    const digest = transferDigest(network, authorization);
    const { r, s, v } = split(signature);
    const twins = [join(r, ORDER - s, v === 27 ? 28 : 27), join(r, s, v - 27)];
    for (const twin of twins) {
      const typed = typedTransfer(network, authorization);
      const accepted = { ...typed, address: alice.address, signature: twin as `0x${string}` };
      expect(await verifyTypedData(accepted)).toBe(true);
      expect(recoverPayer(digest, twin)).toBeNull();
    }
    expect(recoverPayer(digest, signature)).toBe(alice.address.toLowerCase());
  });

  it('recoverPayer() returns null for what no curve point signed', () => {
    const digest = new Uint8Array(32).fill(7);
    const odd = [join(0n, 1n, 27), join(1n, 0n, 27), join(ORDER, 1n, 27), join(5n, 1n, 27)];
    for (const signature of [...odd, '0x', `0x${'11'.repeat(64)}`, `0x${'11'.repeat(66)}`]) {
      expect(recoverPayer(digest, signature)).toBeNull();
    }
  });
});

describe('checksumAddress()', () => {
  it('checksumAddress() is what viem writes, whatever case comes in', () => {
    fc.assert(
      fc.property(hex(20), (address) => {
        expect(checksumAddress(address)).toBe(getAddress(address as `0x${string}`));
        expect(checksumAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(
          checksumAddress(address),
        );
      }),
      { numRuns: 300, seed: 2 },
    );
  });
});

describe('keccak256()', () => {
  it('is the hash of Ethereum', () => {
    const empty = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
    expect(Buffer.from(keccak256(new Uint8Array())).toString('hex')).toBe(empty);
  });

  it('is what another implementation computes, for every length around its block', () => {
    for (let length = 0; length < 300; length++) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 31 + length) & 255);
      expect(keccak256(bytes)).toEqual(keccak_256(bytes));
    }
  });
});

describe('signedText()', () => {
  it('is one text for every case of the same payment, and another for every other field', async () => {
    const { authorization, signature } = await benchAlice.sign(PAY_TO, '10000');
    const text = signedText({ authorization, signature });
    const from = authorization.from.toUpperCase().replace('0X', '0x');
    expect(signedText({ authorization: { ...authorization, from }, signature })).toBe(text);
    for (const name of Object.keys(authorization) as (keyof typeof authorization)[]) {
      const other = { ...authorization, [name]: `${authorization[name]}1` };
      expect(signedText({ authorization: other, signature }), name).not.toBe(text);
    }
    expect(signedText({ authorization, signature: `${signature}0` })).not.toBe(text);
  });
});

describe('parseSignedText()', () => {
  it('returns what was written, in lower case', async () => {
    const { authorization, signature } = await benchAlice.sign(PAY_TO, '10000');
    expect(parseSignedText(signedText({ authorization, signature }))).toEqual({
      authorization: { ...authorization, from: authorization.from.toLowerCase() },
      signature,
    });
  });

  it('refuses a text with fields too few, too many or empty', () => {
    for (const text of ['', 'a|b|c|d|e|f', 'a|b|c|d|e|f|g|h', 'a|b|c|d|e||g', '|b|c|d|e|f|g']) {
      expect(() => parseSignedText(text), text).toThrow(/damaged/);
    }
  });
});

const missing = (): Promise<never> => Promise.reject(new Error('No native build was found'));

it('is silent where the native part of secp256k1 loads, as it does here', () => {
  expect(slowSignatures()).toBeNull();
});

it('names the system and what to do where it does not load', async () => {
  const warning = slowSignatures(await openCurve(missing));
  expect(warning).toContain(`no native part for ${process.platform}-${process.arch}`);
  expect(warning).toContain('npm rebuild secp256k1');
});

describe('openCurve()', () => {
  const bytes32 = (value: bigint): Buffer =>
    Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const key = Buffer.alloc(32, 7);
  const digest = Uint8Array.from(keccak256(Buffer.from('a transfer')));
  const { rs, recovery } = CURVE.sign(digest, key);
  const [r, s] = [Buffer.from(rs.subarray(0, 32)), Buffer.from(rs.subarray(32))];
  const high = bytes32(ORDER - BigInt(`0x${s.toString('hex')}`));
  const signer = (): string =>
    `0x${Buffer.from(keccak256(CURVE.publicKeyOf(key).subarray(1)).slice(12)).toString('hex')}`;
  const v = 27 + recovery;

  it.each<[string, readonly [Buffer, Buffer, number], boolean]>([
    ['a good one', [r, s, v], true],
    ['s in the upper half', [r, high, 55 - recovery - 1], false],
    ['s in the upper half, v as it was', [r, high, v], false],
    ['v 0', [r, s, recovery], false],
    ['v 29', [r, s, v + 2], false],
    ['r zero', [bytes32(0n), s, v], false],
    ['s zero', [r, bytes32(0n), v], false],
    ['both zero', [bytes32(0n), bytes32(0n), v], false],
    ['r the order', [bytes32(ORDER), s, v], false],
    ['r on no point', [bytes32(5n), s, v], false],
    ['r beyond the field', [bytes32(2n ** 256n - 1n), s, v], false],
  ])('I14: both give one verdict on %s', async (_, [one, two, three], isGood) => {
    const plain = await openCurve(missing);
    expect([CURVE.isNative, plain.isNative]).toEqual([true, false]);
    const signature = Buffer.concat([one, two, Buffer.from([three])]);
    const verdicts = [CURVE, plain].map((curve) => recoverSigner(digest, signature, curve));
    expect(verdicts).toEqual(isGood ? [signer(), signer()] : [null, null]);
  });

  it('both agree on any signature, and on any key', async () => {
    const plain = await openCurve(missing);
    const word = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      fc.constantFrom(ORDER - 1n, 1n),
    );
    fc.assert(
      fc.property(word, word, fc.constantFrom(27, 28), (one, two, three) => {
        const signature = Buffer.concat([bytes32(one), bytes32(two), Buffer.from([three])]);
        expect(recoverSigner(digest, signature, plain)).toBe(recoverSigner(digest, signature));
        const given = bytes32(one);
        expect(plain.isPrivateKey(given)).toBe(CURVE.isPrivateKey(given));
        if (!plain.isPrivateKey(given)) return;
        expect([...plain.publicKeyOf(given)]).toEqual([...CURVE.publicKeyOf(given)]);
        const [own, other] = [plain.sign(digest, given), CURVE.sign(digest, given)];
        expect([[...own.rs], own.recovery]).toEqual([[...other.rs], other.recovery]);
      }),
    );
  });

  it('never loads what has an open advisory', async () => {
    await openCurve(missing);
    // What is only parsed for the names of its exports stands in the cache too.
    const cached = Object.entries(createRequire(import.meta.url).cache);
    const loaded = cached.flatMap(([path, module]) => (module?.loaded === true ? [path] : []));
    expect(loaded.some((path) => path.includes('/secp256k1/bindings.js'))).toBe(true);
    expect(loaded.filter((path) => /\/elliptic(\/|\.js$)/.test(path))).toEqual([]);
  });
});
