import { verifyRelease } from '../../compiler/verify/verify-release.ts';

/** Says the first two faults of the release that is current in a data folder. */
export async function expectVerified(data: string, wrong: (what: string) => void): Promise<void> {
  const { faults } = await verifyRelease(data, { trust: 'any' });
  for (const { file, detail } of faults.slice(0, 2)) wrong(`${file} ${detail}`);
}
