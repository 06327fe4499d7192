import { randomBytes } from 'node:crypto';
import { type Config, paidTokens, settlementOf } from '../config/config.ts';
import { TEST_WARNING } from '../config/test-payments.ts';
import type { Log } from '../log/line-log.ts';
import type { Meters } from '../metrics/meters.ts';
import {
  type Extension,
  OFFER_RECEIPT,
  type ServiceSigner,
  serviceSigner,
} from '../money/extensions.ts';
import { type TokenService, tokenSecrets, tokenService } from '../money/token.ts';
import { type Challenger, challenger, serviceNameOf } from '../offer/challenge.ts';
import type { PaymentServices } from '../payment/open-payment-services.ts';
import type { SignaturePool } from '../payment/signature-pool.ts';
import { meteredPurchases, purchaseService } from '../purchase/purchase-service.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { messageOf } from '../system/message-of.ts';
import { secretKey } from '../system/secret-key.ts';
import { StartError } from '../system/start-error.ts';
import type { Rooms, Service } from './service.ts';
import { SoldTargets } from './sold-targets.ts';

const OFFER_RECEIPT_KEY = 'SIGNALPRESS_OFFER_RECEIPT_KEY';

/** What a service gets besides its settings. */
export interface ServiceOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Recovers signers in another thread; without it the serving thread does. */
  readonly signatures?: SignaturePool;
  readonly meters?: Meters;
}

/** What a service is made of. */
interface ServiceParts {
  readonly release: ReleaseIndex;
  readonly payments: PaymentServices;
  readonly rooms: Rooms;
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
  { release, payments, rooms }: ServiceParts,
): FirstService {
  const baseUrl = config.baseUrl ?? release.head.base_url;
  const names = { baseUrl, issuerName: release.head.issuer_name };
  const signer = signerOf(config, clock);
  const asked = challengerOrRefuse(config, names, { clock, signer });
  const show = (next: ReleaseIndex): void => {
    signer?.show(next.keys);
    asked.show(next);
  };
  show(release);
  const report = (error: unknown, id?: string): void =>
    log({ event: 'payment_failed', id, error: messageOf(error) });
  const operator = {
    networks: asked.networks,
    payTo: config.payTo,
    tokens: tokensOf(config, clock),
    takesReceipts: config.receiptKey !== null,
    settlement: settlementOf(config),
    extensions: () => announced(config.extensions, signer),
  };
  const { verifyFirst, receiptKey: processor } = config;
  const beside = signatures === undefined ? {} : { signatures };
  const isSimulated = operator.settlement === 'test';
  const receipts = signer === null ? {} : { receipts: { signer, baseUrl, isSimulated } };
  const own = { ...beside, ...receipts, verifyFirst, processor };
  const terms = { ...own, challenger: asked, clock, report };
  const limited = meters === undefined ? {} : { limited: meters.refused };
  const plain = purchaseService({ ...payments, ...terms, ...limited });
  const purchases = meters === undefined ? plain : meteredPurchases(plain, meters);
  const targets = new SoldTargets();
  const shared = { targets, rooms, sold: payments.journal, clock, log };
  return { release, baseUrl, operator, challenger: asked, purchases, signer, show, ...shared };
}

/** Throws a StartError for a key that cannot be used. */
function signerOf(
  { extensions, offerReceiptKey }: Config,
  clock: ServiceOptions['clock'],
): ServiceSigner | null {
  if (offerReceiptKey === null || !extensions.includes(OFFER_RECEIPT)) return null;
  return serviceSigner({ seed: secretKey(offerReceiptKey, OFFER_RECEIPT_KEY), clock });
}

/** Nothing is announced that a client could not check. */
function announced(
  extensions: readonly Extension[],
  signer: ServiceSigner | null,
): readonly Extension[] {
  const isSigned = signer?.fault() === null;
  return extensions.filter((one) => one !== OFFER_RECEIPT || isSigned);
}

function tokensOf(
  { tokenSecret, tokenDays }: Config,
  clock: ServiceOptions['clock'],
): TokenService | null {
  if (tokenSecret === null) return null;
  const secrets = tokenSecrets(tokenSecret);
  return tokenService({ secrets, days: tokenDays, clock, random: randomBytes });
}

function challengerOrRefuse(
  config: Config,
  { baseUrl, issuerName }: { readonly baseUrl: string; readonly issuerName: string },
  { clock, signer }: Pick<ServiceOptions, 'clock'> & Pick<FirstService, 'signer'>,
): Challenger {
  const { payTo, network, extensions } = config;
  const furtherNetworks = paidTokens(config)
    .slice(1)
    .map((one) => one.network);
  const warned = settlementOf(config) === 'test' ? { warning: TEST_WARNING } : {};
  const receipts = signer === null ? {} : { signer };
  try {
    const serviceName = serviceNameOf(issuerName);
    return challenger({
      baseUrl,
      payTo,
      network,
      furtherNetworks,
      extensions,
      serviceName,
      signIn: { clock, random: randomBytes },
      ...receipts,
      ...warned,
    });
  } catch (cause) {
    throw new StartError(messageOf(cause), { cause });
  }
}
