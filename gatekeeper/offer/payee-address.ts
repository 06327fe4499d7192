import { checksumAddress } from '../payment/signature.ts';

/** One case throughout is converted; a mixed case that does not check is a typing error in somebody's address. */
export function payeeAddress(payTo: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(payTo)) {
    throw new RangeError(`Cannot be paid at "${payTo}": not an address of 40 hex digits`);
  }
  const checksummed = checksumAddress(payTo);
  const digits = payTo.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (oneCase || payTo === checksummed) return checksummed;
  throw new RangeError(`Cannot be paid at "${payTo}": checksum does not match; copy it again`);
}
