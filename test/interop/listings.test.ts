import {
  sanitizeResourceServiceMetadata,
  validateDiscoveryExtension,
} from '@x402/extensions/bazaar';
import { expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { basketRange } from '../../compiler/products/shapes/basket.ts';
import { canonicalTarget } from '../../compiler/products/shapes/path.ts';
import { challenger } from '../../gatekeeper/heart/offer/challenge.ts';
import { TEST_PAYEE } from '../../gatekeeper/settings/settings.ts';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { tinyOffers } from '../gatekeeper/tiny-service.ts';

/** What the published package of a facilitator keeps of our listings. */
const BASE = 'https://readings.example';
const SUBJECTS = ['river level', 'flood', 'x'.repeat(33), 'süd', 'AQI', '8-K', 'SEC', 'tornado'];
const SOLD = BUILTIN.operations.filter(({ priceUsd, answer }) => priceUsd || answer === 'basket');

it.each(SOLD)('keeps tags, picture and name of $path, and catalogues its input', (row) => {
  const terms = { payTo: TEST_PAYEE, network: NETWORKS.base, serviceName: 'Readings' };
  const shop = challenger({ baseUrl: BASE, ...terms });
  // As a shop offers it: with an example of what it needs.
  const plain = tinyOffers(({ path, params }) => {
    const needed = Object.entries(params).filter(([, { required }]) => required);
    const values = needed.map(([name, { examples, enum: legal }]) => [
      name,
      (examples ?? legal)?.[0] ?? '',
    ]);
    return canonicalTarget(path as '/gauge', Object.fromEntries(values));
  });
  const told = [...plain].map(
    ([path, offer]) => [path, { ...offer, entry: { subjects: SUBJECTS } }] as const,
  );
  shop.show({ offers: new Map(told), catalog: BUILTIN });
  const priceUsd = row.priceUsd ?? basketRange(BUILTIN.operations).min;
  const { headers } = shop.challenge({ ...row, priceUsd }, row.path);
  const header = new Map(headers).get('payment-required') ?? '';
  const { resource, extensions } = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  const { serviceName, tags, iconUrl } = resource;
  expect(tags).toEqual(['river level', 'flood', 'AQI', '8-K', 'SEC']);
  expect(sanitizeResourceServiceMetadata(resource)).toEqual({ serviceName, tags, iconUrl });
  expect(
    sanitizeResourceServiceMetadata({ ...resource, iconUrl: 'https://127.0.0.1/og.png' }),
  ).toEqual({ serviceName, tags });
  expect(validateDiscoveryExtension(extensions.bazaar)).toEqual({ valid: true });
  const { info, schema } = extensions.bazaar;
  const wrong = { info: { ...info, input: { ...info.input, method: 'PUT' } }, schema };
  expect(validateDiscoveryExtension(wrong).valid).toBe(false);
});
