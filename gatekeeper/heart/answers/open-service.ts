import { randomBytes } from 'node:crypto';
import { messageOf } from '../../../compiler/format/errors.ts';
import { type Config, paidTokens, settlementOf, TEST_WARNING } from '../../settings/config.ts';
import type { Meters } from '../../settings/meters.ts';
import {
  BUYER_EXTENSIONS,
  type Extension,
  OFFER_RECEIPT,
  type ServiceSigner,
  serviceSigner,
} from '../../settle/extensions.ts';
import { tokenSecrets, tokenService } from '../../settle/token.ts';
import type { Log } from '../../wire/log/line-log.ts';
import { secretKey } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import { type Challenger, challenger, serviceNameOf } from '../offer/challenge.ts';
import type { PaymentServices } from '../payment/open-payment-services.ts';
import type { SignaturePool } from '../payment/signature-pool.ts';
import { meteredPurchases, purchaseService } from '../purchase/purchase-service.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { basketMemory, type Rooms, type Service, soldTargets } from './service.ts';

const OFFER_RECEIPT_KEY = 'SIGNALPRESS_OFFER_RECEIPT_KEY';

export interface ServiceOptions {
  readonly clock: () => number;
  readonly log: Log;
  /** Recovers signers in another thread; without it the serving thread does. */
  readonly signatures?: SignaturePool;
  readonly meters?: Meters;
}

/** The first service, whose purchases all later ones share. */
export interface FirstService extends Service {
  readonly purchases: ReturnType<typeof purchaseService>;
  /** Signs receipts, while a release lists its key; null where the extension is off. */
  readonly signer: ServiceSigner | null;
  /** From now on this release is offered. */
  readonly show: (release: ReleaseIndex) => void;
}

/** The service at its start; later releases take the place of the first, the purchases stay. Throws a StartError. */
export function openService(
  config: Config,
  { clock, log, signatures, meters }: ServiceOptions,
  opened: { release: ReleaseIndex; payments: PaymentServices; rooms: Rooms },
): FirstService {
  const { release, payments, rooms } = opened;
  const { payTo, tokenSecret, offerReceiptKey, verifyFirst, receiptKey: processor } = config;
  const baseUrl = config.baseUrl ?? release.head.base_url;
  const settlement = settlementOf(config);
  const signer =
    offerReceiptKey === null
      ? null
      : serviceSigner({ seed: secretKey(offerReceiptKey, OFFER_RECEIPT_KEY), clock });
  const [{ network }, ...further] = paidTokens(config);
  let challenges: Challenger;
  try {
    challenges = challenger({
      baseUrl,
      payTo,
      network,
      furtherNetworks: further.map((one) => one.network),
      extensions: extensionsOf(signer !== null),
      serviceName: serviceNameOf(release.head.issuer_name),
      signIn: { clock, random: randomBytes },
      ...(signer === null ? {} : { signer }),
      ...(settlement === 'test' ? { warning: TEST_WARNING } : {}),
    });
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause });
  }
  const show = (next: ReleaseIndex): void => {
    signer?.show(next.keys);
    challenges.show(next);
  };
  show(release);
  const secrets = tokenSecret === null ? null : tokenSecrets(tokenSecret);
  const tokenOptions = { days: config.tokenDays, clock, random: randomBytes };
  const operator = {
    networks: challenges.networks,
    payTo,
    tokens: secrets === null ? null : tokenService({ secrets, ...tokenOptions }),
    takesReceipts: processor !== null,
    settlement,
    extensions: () => extensionsOf(signer?.fault() === null),
  };
  const isSimulated = settlement === 'test';
  const plain = purchaseService({
    ...payments,
    ...(signatures === undefined ? {} : { signatures }),
    ...(signer === null ? {} : { receipts: { signer, baseUrl, isSimulated } }),
    ...(meters === undefined ? {} : { limited: meters.refused }),
    verifyFirst,
    processor,
    challenger: challenges,
    clock,
    report: (error, id) => log({ event: 'payment_failed', id, error: messageOf(error) }),
  });
  const purchases = meters === undefined ? plain : meteredPurchases(plain, meters);
  const memory = { targets: soldTargets(), baskets: basketMemory() };
  const shared = { ...memory, rooms, sold: payments.journal, clock, log };
  return { release, baseUrl, operator, challenger: challenges, purchases, signer, show, ...shared };
}

/** Nothing is announced that a client could not check. */
function extensionsOf(signs: boolean): readonly Extension[] {
  return signs ? [...BUYER_EXTENSIONS, OFFER_RECEIPT] : BUYER_EXTENSIONS;
}
