import { expect, it } from 'vitest';
import { slowSignatures } from '../../../gatekeeper/money/signature.ts';

it('is silent where the native part of secp256k1 loads, as it does here', async () => {
  expect(await slowSignatures()).toBeNull();
});

it('names the system and what to do where it does not load', async () => {
  const missing = (): Promise<never> => Promise.reject(new Error('No native build was found'));
  const warning = await slowSignatures(missing);
  expect(warning).toContain(`no native part for ${process.platform}-${process.arch}`);
  expect(warning).toContain('npm rebuild secp256k1');
});
