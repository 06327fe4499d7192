/** What secp256k1 loads first; where it cannot, it goes on without a word in plain JavaScript. */
const NATIVE_PART: string = 'secp256k1/bindings.js';

/** What the operator should know where signatures are checked without native code; null where they are not. */
export async function slowSignatures(
  load: () => Promise<unknown> = () => import(NATIVE_PART),
): Promise<string | null> {
  try {
    await load();
    return null;
  } catch {
    const system = `${process.platform}-${process.arch}`;
    return (
      `Payments are checked 17 times slower than they could be: the package secp256k1 has no native part for ${system}. ` +
      'Install a C++ compiler and run "npm rebuild secp256k1"'
    );
  }
}
