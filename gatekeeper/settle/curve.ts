import type Secp256k1 from 'secp256k1';

// The dearest step of a payment, done by native code where there is some for the system. Its package has an install script,
// which is needed only where it brings none that was built before, and `elliptic`, which has an open advisory and is never
// loaded. The best in WebAssembly takes 245 µs in place of 70, and a purchase then costs 1.24 to 1.31 times as much: more than
// the 1.15 that a library without both may cost.

/** The curve of Ethereum's keys, secp256k1. */
export interface Curve {
  readonly isNative: boolean;
  /** The public key (65 bytes) that signed a digest with r and s; throws where there is none. */
  recover(rs: Uint8Array, recovery: number, digest: Uint8Array): Uint8Array;
  isPrivateKey(key: Uint8Array): boolean;
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  sign(
    digest: Uint8Array,
    privateKey: Uint8Array,
  ): { readonly rs: Uint8Array; readonly recovery: number };
}

/** Its main file would go on with `elliptic` where the native part cannot be loaded. */
const NATIVE_PART: string = 'secp256k1/bindings.js';

type Native = { readonly default: typeof Secp256k1 };

export async function openCurve(
  load: () => Promise<Native> = () => import(NATIVE_PART),
): Promise<Curve> {
  const native = await load().then(
    (loaded) => loaded.default,
    () => null,
  );
  return native === null ? plainCurve() : nativeCurve(native);
}

function nativeCurve(native: Native['default']): Curve {
  return {
    isNative: true,
    recover: (rs, recovery, digest) => native.ecdsaRecover(rs, recovery, digest, false),
    isPrivateKey: (key) => native.privateKeyVerify(key),
    publicKeyOf: (key) => native.publicKeyCreate(key, false),
    sign(digest, key) {
      const { signature, recid } = native.ecdsaSign(digest, key);
      return { rs: signature, recovery: recid };
    },
  };
}

async function plainCurve(): Promise<Curve> {
  // Only where it is needed: viem loads it for those who need viem.
  const { secp256k1 } = await import('@noble/curves/secp256k1');
  return {
    isNative: false,
    recover: (rs, recovery, digest) =>
      secp256k1.Signature.fromCompact(rs)
        .addRecoveryBit(recovery)
        .recoverPublicKey(digest)
        .toRawBytes(false),
    isPrivateKey: (key) => secp256k1.utils.isValidPrivateKey(key),
    publicKeyOf: (key) => secp256k1.getPublicKey(key, false),
    sign(digest, key) {
      const signature = secp256k1.sign(digest, key);
      return { rs: signature.toCompactRawBytes(), recovery: signature.recovery };
    },
  };
}

export const CURVE = await openCurve();
