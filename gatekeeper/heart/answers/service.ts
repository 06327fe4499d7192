import type { CanonicalRequest, Route } from '../../../compiler/catalog/route.ts';
import type { Answer, Endpoint } from '../../../compiler/products/shapes/product.ts';
import type { SettlerKind } from '../../settings/config.ts';
import type { Extension } from '../../settle/extensions.ts';
import type { SoldCitations } from '../../settle/journal.ts';
import type { Network } from '../../settle/networks.ts';
import type { TokenService } from '../../settle/token.ts';
import type { HeaderFacts } from '../../wire/header-facts.ts';
import { BoundedMap } from '../../wire/maps.ts';
import { type Header, JSON_MEDIA_TYPE, type Reply } from '../../wire/reply.ts';
import type { HttpRequest } from '../../wire/request.ts';
import type { Challenger } from '../offer/challenge.ts';
import type { PurchaseService } from '../purchase/purchase-service.ts';
import type { CodedFile } from '../release/coded-file.ts';
import type { ReleaseIndex } from '../release/release-index.ts';

/** Everything that answers are made from; the release changes as a whole. */
export interface Service {
  readonly release: ReleaseIndex;
  /** Public origin without a trailing slash. */
  readonly baseUrl: string;
  /** How the operator is paid, as far as strangers may know. */
  readonly operator: {
    readonly networks: readonly [Network, ...Network[]];
    readonly payTo: string;
    /** Null where no subscription secret is set. */
    readonly tokens: TokenService | null;
    /** Whether the receipts of a payment processor are taken. */
    readonly takesReceipts: boolean;
    /** What of x402 version 2 is on at this moment beside `bazaar`. */
    readonly extensions: () => readonly Extension[];
    /** With `test` the local facilitator stands in for a real one: no money moves. */
    readonly settlement: SettlerKind;
  };
  readonly challenger: Challenger;
  readonly purchases: Pick<PurchaseService, 'open' | 'openFormer' | 'transferOf'>;
  readonly sold: SoldCitations;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  /** What targets mean in this release: the next one may have another catalogue. */
  readonly targets: SoldTargets;
  /** Over all releases. */
  readonly baskets: BasketMemory;
  readonly rooms: Rooms;
}

/** What stands beside the way from a request to its file: `rooms.ts` names all of it. */
export interface Rooms {
  /** By the words of the table that are more than a stored file. */
  readonly answers: Readonly<Record<Exclude<Answer, 'file' | 'gone'>, AnswerRoom>>;
  /** What stands at a path beside the table; null at once where nothing does. */
  readonly staticFile: (
    request: HttpRequest,
    path: string,
    service: Service,
  ) => Promise<StaticFile> | null;
  /** What was paid for before a release took it away; null, at once for a request without a payment, for anything else. */
  readonly formerSale: (request: HttpRequest, service: Service) => Promise<Reply | null>;
  /** Why an operation stays closed to who has no token for it; null for every other one and with a token of ours. */
  readonly tokenGate: (endpoint: Endpoint, caller: Caller, service: Service) => Reply | null;
  /** The form of a stored file that a client likes best. */
  readonly codedFile: (path: string, acceptEncoding: string, release: ReleaseIndex) => CodedFile;
  /** What is signed whole, with the proof that it is in the log unless that was left out; throws when the log cannot be read. */
  readonly proven: (content: Content, question: Question, service: Service) => Promise<Content>;
  /** The 422 of a request that has no answer: what is wrong, and a request that works on this release. */
  readonly noCharge: (route: Route, release: ReleaseIndex) => Promise<Reply>;
  /** A 402 in words, for a browser. */
  readonly pricePage: (
    reply: Reply,
    asked: AskedPrice & Pick<HttpRequest, 'spend'>,
    service: Service,
  ) => Promise<Reply>;
  /** A refusal in words, for a browser. */
  readonly refusalPage: (reply: Reply, release: ReleaseIndex) => Reply;
}

/** A file that anybody may have. */
export interface StaticFile {
  readonly reply: Reply;
  /** Strong validator; null for what has none. */
  readonly etag: string | null;
}

/** A request as far as a token may be in it. */
export interface Caller {
  readonly facts: HeaderFacts;
  readonly request: CanonicalRequest;
}

/** Computes the answers of one word of the table. */
export interface AnswerRoom {
  /** If it throws, nobody is charged. */
  readonly answer: (question: Question, service: Service) => Promise<Answered>;
  /** One release has one answer to a target, so it is computed once. */
  readonly isKept?: true;
  /** Why the headers of a request are refused before its body is read; null when they fit. */
  readonly refusal?: (facts: HeaderFacts, service: Service) => Reply | null;
  /** What a request without its parameters is answered. */
  readonly usage?: () => Reply;
}

/** What was asked: the row of the table, and the canonical target, the path alone for a price question. */
export type AskedPrice = Pick<Route, 'endpoint' | 'target'>;

/** A request after routing, with what else an answer may depend on. */
export interface Question
  extends Pick<HttpRequest, 'spend' | 'trace'>,
    Pick<HeaderFacts, 'accept' | 'acceptEncoding' | 'rpc' | 'paymentHeaders'> {
  readonly route: Route;
  /** The whole body of a POST; null for every other method. */
  readonly body: Buffer | null;
  /** Whether there is an answer is all that is asked: its bytes are sold and would be thrown away. */
  readonly isProbe?: boolean;
}

/** A complete 200 body. */
export interface Content {
  readonly body: Buffer;
  readonly contentType: string;
  /** Milliseconds that the same bytes may be given to the next one who asks; 0 for never. */
  readonly keepMs: number;
  /** Hash of the body, hex, where it is known already. */
  readonly sha256?: string;
  readonly headers?: readonly Header[];
  /** It answers, but has nothing of what was asked for. */
  readonly isEmpty?: boolean;
  /** Other clients get it under another content coding. */
  readonly isCoded?: true;
}

export interface ContentAnswer {
  readonly kind: 'content';
  readonly content: Content;
}

/** What came of a question: a body, nothing stored, or another reply than 200. */
export type Answered =
  | ContentAnswer
  | { readonly kind: 'miss' }
  | { readonly kind: 'reply'; readonly reply: Reply };

/** For content that changes with the release alone. */
export const KEEP_FOR_RELEASE = Number.POSITIVE_INFINITY;

/** Tells a probe that there is an answer, for as long as it is kept. */
export const IS_THERE: ContentAnswer = {
  kind: 'content',
  content: { body: Buffer.alloc(0), contentType: JSON_MEDIA_TYPE, keepMs: KEEP_FOR_RELEASE },
};

export const MISS = { kind: 'miss' } as const;

export const FREE_CACHE: Header = ['cache-control', 'public, max-age=60'];

/** Targets that are kept; the oldest make room, so that strangers cannot fill the memory. */
const SOLD_TARGETS_MAX = 2048;

/** Raw targets of what is sold: the same few are asked again and again, and are read once. */
export type SoldTargets = ReturnType<typeof soldTargets>;

export function soldTargets() {
  return new BoundedMap<string, { readonly request: CanonicalRequest; readonly routed: Route }>(
    SOLD_TARGETS_MAX,
  );
}

/** Quotes that are remembered; of a forgotten one only the sum is known, by what was signed. */
const QUOTES_MAX = 10_000;

/** What a service remembers of baskets. */
export type BasketMemory = ReturnType<typeof basketMemory>;

export function basketMemory() {
  return {
    /** Paid ones whose answers are being gathered. */
    gathering: 0,
    /** Which requests of a basket were for sale when it was quoted last, by target: an equal sum may be of others. */
    sales: new BoundedMap<string, string>(QUOTES_MAX),
  };
}
