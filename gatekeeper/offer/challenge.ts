import { BASKET_USAGE, isBasket } from '../../compiler/contract/basket.ts';
import { type Catalog, catalogOf } from '../../compiler/contract/catalog/catalog.ts';
import { priceOf } from '../../compiler/contract/price.ts';
import type { Release } from '../../compiler/contract/release.ts';
import { describedParams } from '../../compiler/contract/route.ts';
import { catalogLink } from '../../compiler/contract/static-files.ts';
import type { Endpoint } from '../../compiler/products/product.ts';
import { type Header, JSON_TYPE, NO_STORE, type Reply } from '../http/reply.ts';
import { payeeAddress } from '../money/address.ts';
import {
  declaredExtensions,
  type Extension,
  OFFER_RECEIPT,
  RECEIPT_DECLARATION,
  type ServiceSigner,
} from '../money/extensions.ts';
import { type Network, tokenAmount } from '../money/networks.ts';
import type {
  Listing,
  Requirements,
  RequirementsV1,
  RequirementsV2,
  X402Version,
} from '../money/payment.ts';
import { SIGN_IN, type SignInSource, signInDeclaration } from '../money/sign-in.ts';
import type { Offers } from '../release/release-source.ts';
import { BoundedMap } from '../system/bounded-map.ts';
import { anyRequest, bazaar, clientHint, mediaTypeOf, type Shown, shownOf } from './shown.ts';

const MAX_TIMEOUT_SECONDS = 300;
/** Ready challenges kept, each a few KB. */
const CHALLENGE_CACHE_MAX = 1000;
const TEMPLATES_MAX = 1000;
/** Longest `path?query` that is kept ready and that the v2 header repeats; headers stay well under 16 KB. */
const CHALLENGE_TARGET_CHARS_MAX = 1024;
/**
 * Longest one whose challenge holds a message to sign in with. The message repeats it twice, and clients that pay repeat it in
 * their header, which is refused beyond 8 KB.
 */
const OWN_TARGET_CHARS_MAX = 256;

/** A 402 in both versions: the body is that of v1, the header `PAYMENT-REQUIRED` is that of v2, in base64. */
interface Challenge extends Reply {
  readonly status: 402;
  readonly body: Buffer;
  /** It holds a message that one client signs: nobody else gets it. */
  readonly isOnce?: true;
}

interface ChallengerOptions {
  readonly baseUrl: string;
  readonly payTo: string;
  readonly network: Network;
  /** Where else the same may be paid, offered after the first. */
  readonly furtherNetworks?: readonly Network[];
  readonly extensions?: readonly Extension[];
  /** Makes the messages by which accounts sign in, where they may. */
  readonly signIn?: SignInSource;
  /** Signs receipts, while its key counts. */
  readonly signer?: Pick<ServiceSigner, 'fault'>;
  readonly serviceName: string;
  /** What every challenge says beside its terms, in both versions; clients ignore keys that they do not know. */
  readonly warning?: string;
}

interface ShownRelease {
  /** Named in every challenge, so that a buyer sees before it signs whether a newer one is due. */
  readonly head?: Pick<Release, 'sequence' | 'as_of' | 'valid_until'>;
  readonly offers: Offers;
  readonly catalog: Catalog;
}

/** Makes challenges, and the requirements that a facilitator is sent for them. */
export interface Challenger {
  readonly baseUrl: string;
  /** In the order in which they are offered. */
  readonly networks: readonly [Network, ...Network[]];
  /** `target` is the canonical `path?query` of the request, the path alone for a price question. */
  challenge(endpoint: Endpoint, target: string, error?: string): Challenge;
  /** What was challenged, in the shape of one version, for each network in their order. */
  terms(
    endpoint: Endpoint,
    target: string,
    version: X402Version,
  ): readonly [Requirements, ...Requirements[]];
  /** Of the release that is shown; an empty one before. */
  readonly catalog: () => Catalog;
  /** From now on challenges show what this release offers; before, they show nothing. */
  show(release: ShownRelease): void;
}

const ERROR_V1 = 'X-PAYMENT header is required';
const ERROR_V2 = 'PAYMENT-SIGNATURE header is required';
const ERROR_SLOT = '../../error@@';
const RESOURCE_SLOT = '../../resource@@';
/** Inside of a text, unlike the others. */
const REQUEST_SLOT = '../../request@@';
const SIGN_IN_SLOT = '../../sign-in@@';
const SLOTS = new RegExp(`"(?:${ERROR_SLOT}|${RESOURCE_SLOT}|${SIGN_IN_SLOT})"|${REQUEST_SLOT}`);
/** Beside the terms and not in them: a facilitator compares these with what the payer accepted. */
const listings = new WeakMap<Requirements, Listing>();
/** Characters that what knows a buyer again takes, beyond what is left without it. */
const SIGN_IN_CHARS = 450;
const SERVICE_NAME = /^[\x20-\x7e]{1,32}$/;

/** Checks the operator's terms once and makes everything that no request changes ready; throws a RangeError. */
export function challenger(options: ChallengerOptions): Challenger {
  const { baseUrl, payTo, serviceName } = options;
  if (!/^https?:\/\/[^\s/?#]+(\/[^\s?#]*[^\s/?#])?$/.test(baseUrl)) {
    throw new RangeError(
      `Cannot challenge under "${baseUrl}": not a base URL; give scheme and host without a trailing slash`,
    );
  }
  if (!SERVICE_NAME.test(serviceName)) {
    throw new RangeError(
      `Cannot challenge as "${serviceName}": not 1 to 32 printable ASCII characters; shorten the service name`,
    );
  }
  const checked = { ...options, payTo: payeeAddress(payTo) };
  const templates = new BoundedMap<string, Template>(TEMPLATES_MAX);
  const cache = new BoundedMap<string, Challenge>(CHALLENGE_CACHE_MAX);
  let shown: ShownRelease = { offers: new Map(), catalog: catalogOf([]) };
  const templateOf = (endpoint: Endpoint, target: string): Template => {
    const isShort = target.length <= OWN_TARGET_CHARS_MAX;
    const isSigned = checked.signer?.fault() === null;
    const form = `${mediaTypeOf(endpoint, target)} ${isShort} ${isSigned}`;
    // What a release took away may have the path and the price of what is sold.
    const key = `${endpoint.path} ${endpoint.priceUsd} ${form} ${endpoint.summary}`;
    const known = templates.get(key);
    if (known !== undefined) return known;
    const { signIn, ...others } = checked;
    // The body of a basket is no part of a message, so nobody signs in for one.
    const message = isShort && !isBasket(endpoint) && signIn !== undefined ? { signIn } : {};
    const made = template(shownOf(endpoint, target, shown.offers), {
      ...others,
      ...message,
      isSigned,
      head: shown.head,
    });
    // A basket has a price of its own each time: kept ones would push out all others.
    if (!isBasket(endpoint)) templates.set(key, made);
    return made;
  };
  const terms: Challenger['terms'] = (endpoint, target, version) => {
    const ready = templateOf(endpoint, target);
    if (version === 2) {
      const { v2, listing } = ready;
      const resource = { ...listing.resource, url: shownUrl(ready, target) };
      return mapAll(v2, (one) => {
        const own = { ...one };
        listings.set(own, { ...listing, resource });
        return own;
      });
    }
    const resource = checked.baseUrl + target;
    return mapAll(ready.v1, (one) => ({ ...one, resource }));
  };
  return {
    baseUrl: checked.baseUrl,
    networks: networksOf(checked),
    challenge(endpoint, target, error) {
      if (error !== undefined || isBasket(endpoint)) {
        return fill(templateOf(endpoint, target), target, error);
      }
      const key = `${endpoint.path} ${target}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const made = fill(templateOf(endpoint, target), target);
      if (!isLong(target) && made.isOnce !== true) cache.set(key, made);
      return made;
    },
    terms,
    catalog: () => shown.catalog,
    show(next) {
      shown = next;
      templates.clear();
      cache.clear();
    },
  };
}

/** How the challenge of these v2 terms describes what is sold; absent for v1, whose terms say it themselves. */
export function listingOf(requirements: Requirements): Listing | undefined {
  return listings.get(requirements);
}

function networksOf(options: ChallengerOptions): Challenger['networks'] {
  return [options.network, ...(options.furtherNetworks ?? [])];
}

function mapAll<In, Out>(
  [first, ...others]: readonly [In, ...In[]],
  make: (one: In, at: number) => Out,
): readonly [Out, ...Out[]] {
  return [make(first, 0), ...others.map((one, at) => make(one, at + 1))];
}

type Template = ReturnType<typeof template>;

/** What a template is made with, and whether receipts are signed now. */
interface TemplateOptions extends ChallengerOptions {
  readonly isSigned: boolean;
  readonly head: ShownRelease['head'] | undefined;
}

/** JSON texts of both versions, cut where the error, the resource and the request of the hint go. */
function template(shown: Shown, options: TemplateOptions) {
  const { endpoint, mimeType } = shown;
  const { baseUrl, serviceName, warning, signIn, isSigned, head } = options;
  const networks = networksOf(options);
  const warned = warning === undefined ? {} : { warning };
  const v1 = mapAll(networks, (network, at) =>
    requirementsV1(shown, { ...options, network, isFirst: at === 0 }),
  );
  const v2 = mapAll(networks, (network) => requirementsV2(endpoint, { ...options, network }));
  const { sequence, as_of, valid_until = null } = head ?? {};
  const hint = clientHint(shown, baseUrl, REQUEST_SLOT);
  const body = {
    x402Version: 1,
    error: ERROR_SLOT,
    ...warned,
    accepts: v1,
    ...(head === undefined ? {} : { release: { sequence, as_of, valid_until } }),
    ...(hint === null ? {} : { client_hint: hint }),
  };
  const [{ description }] = v1;
  const resource = { url: RESOURCE_SLOT, description, mimeType, serviceName };
  // Discovery lists what can be bought by its address, so it omits an operation that has no answer now, and baskets.
  const isListed = shown.example !== null && !isBasket(endpoint);
  const taken = signIn === undefined ? 0 : SIGN_IN_CHARS;
  const more = isListed ? { extensions: { bazaar: bazaar(shown, shown.example, taken) } } : {};
  const declared = {
    ...more.extensions,
    ...declaredExtensions(options.extensions ?? []),
    // The message is made for each request.
    ...(signIn === undefined ? {} : { [SIGN_IN]: SIGN_IN_SLOT }),
    ...(isSigned ? { [OFFER_RECEIPT]: RECEIPT_DECLARATION } : {}),
  };
  const announced = Object.keys(declared).length === 0 ? {} : { extensions: declared };
  const terms = { resource, accepts: v2, ...announced };
  const header = { x402Version: 2, error: ERROR_SLOT, ...warned, ...terms };
  const { path } = endpoint;
  const listing: Listing = { resource, ...more };
  // What describes the service, for whoever meets it here first.
  const link: Header = ['link', catalogLink(baseUrl)];
  // Makes the message for a request of this URL, of one use; null where nobody signs in.
  const message =
    signIn === undefined
      ? null
      : (url: string): object => signInDeclaration(url, { networks, ...signIn });
  return {
    baseUrl,
    path,
    /** What the hint calls where only the price was asked for. */
    anyRequest: anyRequest(shown),
    v1,
    v2,
    listing,
    body: cut(body),
    header: cut(header),
    signIn: message,
    link,
  };
}

function cut(value: object): string[] {
  return JSON.stringify(value).split(SLOTS);
}

function fill(ready: Template, target: string, error?: string): Challenge {
  const resource = JSON.stringify(ready.baseUrl + target);
  const resources = ready.v1.map(() => resource);
  // What the hint calls, for the inside of a JSON text that holds it between single quotes.
  const called = (target === ready.path ? ready.anyRequest : target).replaceAll("'", '%27');
  const hinted = JSON.stringify(called).slice(1, -1);
  const texts = [JSON.stringify(error ?? ERROR_V1), ...resources, hinted];
  const shown = shownUrl(ready, target);
  const message = ready.signIn === null ? [] : [JSON.stringify(ready.signIn(shown))];
  const headerTexts = [JSON.stringify(error ?? ERROR_V2), JSON.stringify(shown), ...message];
  const header = joined(ready.header, headerTexts);
  const paymentRequired = Buffer.from(header, 'utf8').toString('base64');
  return {
    status: 402,
    headers: [JSON_TYPE, NO_STORE, ready.link, ['payment-required', paymentRequired]],
    body: Buffer.from(joined(ready.body, texts), 'utf8'),
    ...(ready.signIn === null ? {} : { isOnce: true }),
  };
}

/** The resource as v2 names it: without its query where that would make the header too long. */
function shownUrl({ baseUrl, path }: Template, target: string): string {
  return baseUrl + (isLong(target) ? path : target);
}

function isLong(target: string): boolean {
  return target.length > CHALLENGE_TARGET_CHARS_MAX;
}

function joined(parts: readonly string[], texts: readonly string[]): string {
  if (texts.length < parts.length - 1) {
    throw new RangeError(`Cannot fill a challenge: ${texts.length} texts for more slots`);
  }
  return parts.map((part, at) => (at === 0 ? part : `${texts[at - 1]}${part}`)).join('');
}

/** The example of the answer stands in the first entry alone: it is long, and the same for all. */
function requirementsV1(
  shown: Shown,
  { network, payTo, isFirst }: ChallengerOptions & { readonly isFirst: boolean },
): RequirementsV1 {
  const { endpoint, example, mimeType, output } = shown;
  return {
    scheme: 'exact',
    network: network.name,
    maxAmountRequired: tokenAmount(priceOf(endpoint), network),
    resource: RESOURCE_SLOT,
    description: `${endpoint.tag} ${endpoint.summary}`,
    mimeType,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    asset: network.asset,
    extra: network.extra,
    outputSchema: {
      input: {
        type: 'http',
        method: endpoint.method,
        discoverable: example !== null && !isBasket(endpoint),
        ...(isBasket(endpoint) ? BASKET_INPUT : {}),
        queryParams: Object.fromEntries(
          Object.entries(describedParams(endpoint)).map(([name, param]) => {
            const { type, required, description, enum: legal } = param;
            const values = legal === undefined ? {} : { enum: legal };
            return [name, { type, required, description, ...values, ...examplesOf(name, shown) }];
          }),
        ),
      },
      ...(isFirst ? { output } : {}),
    },
  };
}

const BASKET_INPUT = {
  bodyType: 'json',
  bodyFields: { requests: { type: 'array', required: true, description: BASKET_USAGE } },
};

function requirementsV2(endpoint: Endpoint, options: ChallengerOptions): RequirementsV2 {
  const { network, payTo } = options;
  return {
    scheme: 'exact',
    network: network.caip2,
    amount: tokenAmount(priceOf(endpoint), network),
    asset: network.asset,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: network.extra,
  };
}

/** Values of a parameter that this release answers beside those of the example. */
function examplesOf(name: string, { endpoint, example }: Shown): { examples?: readonly string[] } {
  const param = endpoint.params[name];
  if (example === null || param === undefined) return {};
  const isOpen = param.type === 'string' && param.enum === undefined;
  const chosen = example[name];
  if (!param.required && !isOpen) return { examples: param.examples };
  return chosen === undefined ? {} : { examples: [chosen] };
}

/** Longest service name that v2 catalogues show. */
const SERVICE_NAME_CHARS_MAX = 32;

/** As much of an issuer's name as a v2 challenge can say. */
export function serviceNameOf(issuerName: string): string {
  const ascii = issuerName.replace(/[^\x20-\x7e]/g, '');
  const cut = ascii.slice(0, SERVICE_NAME_CHARS_MAX);
  // A bracket without its end is useless.
  return cut.replace(/\([^)]*$/, '').trim() || 'x402';
}
