import { type Catalog, catalogOf } from '../../../compiler/catalog/catalog.ts';
import { describedParams } from '../../../compiler/catalog/route.ts';
import { catalogLink, ICON_URL } from '../../../compiler/catalog/static-files.ts';
import type { Release } from '../../../compiler/format/release.ts';
import { BASKET_USAGE, isBasket } from '../../../compiler/products/shapes/basket.ts';
import { priceOf } from '../../../compiler/products/shapes/price.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { payeeAddress } from '../../settle/address.ts';
import {
  declaredExtensions,
  type Extension,
  OFFER_RECEIPT,
  RECEIPT_DECLARATION,
  type ServiceSigner,
} from '../../settle/extensions.ts';
import { type Network, tokenAmount } from '../../settle/networks.ts';
import type {
  Listing,
  Requirements,
  RequirementsV1,
  RequirementsV2,
  X402Version,
} from '../../settle/payment.ts';
import { SIGN_IN, type SignInSource, signInDeclaration } from '../../settle/sign-in.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { type Header, JSON_TYPE, NO_STORE, type Reply } from '../../wire/reply.ts';
import type { Offers } from '../release/release-source.ts';
import { callExample, clientHint, listed, mediaTypeOf, type Shown, shownOf } from './shown.ts';

const MAX_TIMEOUT_SECONDS = 300;
/** Ready challenges kept, each a few KB. */
const CHALLENGE_CACHE_MAX = 1000;
const SALES_MAX = 1000;
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
  /** What v2 says beside its terms, and not in them: a facilitator compares these with what the payer accepted. */
  listing(endpoint: Endpoint, target: string): Listing;
  /** Of the release that is shown; an empty one before. */
  readonly catalog: () => Catalog;
  /** From now on challenges show what this release offers; before, they show nothing. */
  show(release: ShownRelease): void;
}

const ERROR_V1 = 'X-PAYMENT header is required';
const ERROR_V2 = 'PAYMENT-SIGNATURE header is required';
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
  const networks: Challenger['networks'] = [options.network, ...(options.furtherNetworks ?? [])];
  // What describes the service, for whoever meets it here first.
  const link: Header = ['link', catalogLink(baseUrl)];
  const seller = { ...options, payTo: payeeAddress(payTo), networks, link };
  const sales = new BoundedMap<string, Sale>(SALES_MAX);
  const cache = new BoundedMap<string, Challenge>(CHALLENGE_CACHE_MAX);
  let shown: ShownRelease = { offers: new Map(), catalog: catalogOf([]) };
  const saleOf = (endpoint: Endpoint, target: string): Sale => {
    const form = `${mediaTypeOf(endpoint, target)} ${signsIn(endpoint, target, seller)}`;
    // What a release took away may have the path and the price of what is sold.
    const key = `${endpoint.path} ${endpoint.priceUsd} ${form} ${endpoint.summary}`;
    const known = sales.get(key);
    if (known !== undefined) return known;
    const made = sale(shownOf(endpoint, target, shown.offers), target, {
      seller,
      head: shown.head,
    });
    // A basket has a price of its own each time: kept ones would push out all others.
    if (!isBasket(endpoint)) sales.set(key, made);
    return made;
  };
  return {
    baseUrl,
    networks,
    challenge(endpoint, target, error) {
      if (error !== undefined || isBasket(endpoint)) {
        return challengeOf(saleOf(endpoint, target), { target, error }, seller);
      }
      const key = `${endpoint.path} ${target}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const made = challengeOf(saleOf(endpoint, target), { target, error }, seller);
      if (!isLong(target) && made.isOnce !== true) cache.set(key, made);
      return made;
    },
    terms(endpoint, target, version) {
      const { v1, v2 } = saleOf(endpoint, target);
      return version === 2 ? v2 : mapAll(v1, (one) => ({ ...one, resource: baseUrl + target }));
    },
    listing(endpoint, target) {
      const { described, discovery } = saleOf(endpoint, target);
      const resource = { url: shownUrl(endpoint, target, baseUrl), ...described };
      return 'bazaar' in discovery ? { resource, extensions: discovery } : { resource };
    },
    catalog: () => shown.catalog,
    show(next) {
      shown = next;
      sales.clear();
      cache.clear();
    },
  };
}

/** The terms of the operator, checked. */
interface Seller extends ChallengerOptions {
  readonly networks: Challenger['networks'];
  readonly link: Header;
}

function mapAll<In, Out>(
  [first, ...others]: readonly [In, ...In[]],
  make: (one: In, at: number) => Out,
): readonly [Out, ...Out[]] {
  return [make(first, 0), ...others.map((one, at) => make(one, at + 1))];
}

/** The body of a basket is no part of a message, so nobody signs in for one. */
function signsIn(endpoint: Endpoint, target: string, { signIn }: Seller): boolean {
  return signIn !== undefined && target.length <= OWN_TARGET_CHARS_MAX && !isBasket(endpoint);
}

type Sale = ReturnType<typeof sale>;

/**
 * What the challenges of an operation say alike, whatever is asked of it: as values, and as JSON that is printed once. A
 * challenge that is printed anew as a whole takes more than twice as long, and nearly each is made anew for its message.
 */
function sale(
  shown: Shown,
  target: string,
  { seller, head }: { readonly seller: Seller; readonly head: ShownRelease['head'] | undefined },
) {
  const { endpoint, mimeType } = shown;
  const { networks, baseUrl, serviceName, warning, extensions = [] } = seller;
  const takesSignIn = signsIn(endpoint, target, seller);
  const v1 = mapAll(networks, (network, at) =>
    requirementsV1(shown, { ...seller, network, isFirst: at === 0 }),
  );
  const v2 = mapAll(networks, (network) => requirementsV2(endpoint, { ...seller, network }));
  const iconUrl = baseUrl + ICON_URL;
  const taken = iconUrl.length + (takesSignIn ? SIGN_IN_CHARS : 0);
  const { tags, words, discovery } = listed(shown, taken);
  const described = {
    description: descriptionOf(endpoint, words),
    mimeType,
    serviceName,
    ...(tags.length === 0 ? {} : { tags }),
    iconUrl,
  };
  const { sequence, as_of, valid_until = null } = head ?? {};
  return {
    endpoint,
    takesSignIn,
    v1,
    v2,
    described,
    discovery,
    texts: {
      warned: furtherText(warning === undefined ? {} : { warning }),
      v1: v1.map(({ scheme, network, maxAmountRequired, resource, ...others }) => {
        const price = JSON.stringify({ scheme, network, maxAmountRequired });
        return { price: price.slice(0, -1), others: furtherText(others) };
      }),
      released: furtherText(
        head === undefined ? {} : { release: { sequence, as_of, valid_until } },
      ),
      hint: hintTexts(shown, baseUrl),
      described: furtherText(described),
      v2: furtherText({ accepts: v2 }),
      extensions: furtherText({ ...discovery, ...declaredExtensions(extensions) }),
    },
  };
}

function hintTexts(shown: Shown, baseUrl: string) {
  const hint = clientHint(shown, baseUrl);
  if (hint === null) return null;
  const { example, within_your_budget, ...others } = hint;
  return {
    others: JSON.stringify(others).slice(0, -1),
    example,
    exampleOf: callExample(shown.endpoint),
    budget: furtherText({ within_your_budget }),
  };
}

/** The members of an object as JSON, each with the comma that parts it from the one before. */
function furtherText(members: object): string {
  const text = JSON.stringify(members).slice(1, -1);
  return text === '' ? '' : `,${text}`;
}

/** The 402 of one request: its body as v1 has it, its header `PAYMENT-REQUIRED` as v2 has it. */
function challengeOf(
  { endpoint, takesSignIn, texts }: Sale,
  { target, error }: { readonly target: string; readonly error: string | undefined },
  { baseUrl, networks, signIn, signer, link }: Seller,
): Challenge {
  const resource = JSON.stringify(baseUrl + target);
  const accepts = texts.v1.map(({ price, others }) => `${price},"resource":${resource}${others}}`);
  let hint = '';
  if (texts.hint !== null) {
    const { others, example: stored, exampleOf, budget } = texts.hint;
    // The hint of a price question calls a request of the release, any other one what was asked.
    const example = target === endpoint.path ? stored : exampleOf(baseUrl + target);
    hint = `,"client_hint":${others},"example":${JSON.stringify(example)}${budget}}`;
  }
  const body =
    `{"x402Version":1,"error":${JSON.stringify(error ?? ERROR_V1)}${texts.warned},` +
    `"accepts":[${accepts}]${texts.released}${hint}}`;
  const url = shownUrl(endpoint, target, baseUrl);
  let extensions = texts.extensions;
  if (takesSignIn && signIn !== undefined) {
    extensions += furtherText({ [SIGN_IN]: signInDeclaration(url, { networks, ...signIn }) });
  }
  if (signer?.fault() === null) extensions += furtherText({ [OFFER_RECEIPT]: RECEIPT_DECLARATION });
  const announced = extensions === '' ? '' : `,"extensions":{${extensions.slice(1)}}`;
  const required =
    `{"x402Version":2,"error":${JSON.stringify(error ?? ERROR_V2)}${texts.warned},` +
    `"resource":{"url":${JSON.stringify(url)}${texts.described}}${texts.v2}${announced}}`;
  const paymentRequired = Buffer.from(required, 'utf8').toString('base64');
  return {
    status: 402,
    headers: [JSON_TYPE, NO_STORE, link, ['payment-required', paymentRequired]],
    body: Buffer.from(body, 'utf8'),
    ...(takesSignIn ? { isOnce: true } : {}),
  };
}

/** The resource as v2 names it: without its query where that would make the header too long. */
function shownUrl({ path }: Endpoint, target: string, baseUrl: string): string {
  return baseUrl + (isLong(target) ? path : target);
}

function isLong(target: string): boolean {
  return target.length > CHALLENGE_TARGET_CHARS_MAX;
}

function descriptionOf({ tag, summary }: Endpoint, words: readonly string[]): string {
  return `${tag} ${summary}${words.length === 0 ? '' : `: ${words.join(', ')}`}`;
}

/** The example of the answer stands in the first entry alone: it is long, and the same for all. */
function requirementsV1(
  shown: Shown,
  { baseUrl, network, payTo, isFirst }: Seller & { readonly isFirst: boolean },
): RequirementsV1 {
  const { endpoint, example, mimeType, output, subjects } = shown;
  return {
    scheme: 'exact',
    network: network.name,
    maxAmountRequired: tokenAmount(priceOf(endpoint), network),
    resource: baseUrl + endpoint.path,
    description: descriptionOf(endpoint, subjects),
    mimeType,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    asset: network.asset,
    extra: network.extra,
    outputSchema: {
      input: {
        type: 'http',
        method: endpoint.method,
        discoverable: example !== null,
        ...(isBasket(endpoint) ? BASKET_INPUT : {}),
        queryParams: Object.fromEntries(
          Object.entries(describedParams(endpoint)).map(([name, param]) => {
            const { type, required, description, enum: legal } = param;
            const values = legal === undefined ? {} : { enum: legal };
            return [name, { type, required, description, ...values, ...examplesOf(name, shown) }];
          }),
        ),
      },
      ...(isFirst ? { output, note: OUTPUT_NOTE } : {}),
    },
  };
}

const OUTPUT_NOTE = 'output is an example of an answer, maybe about another subject';

const BASKET_INPUT = {
  bodyType: 'json',
  bodyFields: { requests: { type: 'array', required: true, description: BASKET_USAGE } },
};

function requirementsV2(endpoint: Endpoint, { network, payTo }: Seller): RequirementsV2 {
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
