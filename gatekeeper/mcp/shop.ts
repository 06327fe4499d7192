import type { Catalog } from '../../compiler/contract/catalog/catalog.ts';
import { findStaticFile } from '../../compiler/contract/static-files.ts';
import { respond } from '../answers/respond.ts';
import type { Question, Service } from '../answers/service.ts';
import { headerFacts } from '../http/header-facts.ts';
import type { Reply } from '../http/reply.ts';
import type { Offers } from '../release/offers.ts';

/** What tools and resources work with: a service that is asked, and what it can sell. */
export interface Shop {
  /** What this service answers to a GET of a target without any payment. */
  readonly ask: (target: string) => Promise<Reply>;
  readonly catalog: Catalog;
  readonly offers: Offers;
  /** Whether a file of the release stands at a path beside the operations. */
  readonly hasFile: (path: string) => boolean;
  /** Public origin without a trailing slash. */
  readonly baseUrl: string;
  /** Charges the caller units of the rate limit, beside what is asked. */
  readonly spend: Question['spend'];
}

/** The unpaid GET of a program that sends no header. */
const PLAIN_FACTS = headerFacts(['host', 'localhost', 'accept', 'application/json']);

/** A service that is asked in plain GETs, which the caller pays the cost of. */
export function shopOf({ spend, trace }: Question, service: Service): Shop {
  const readBody = (): Promise<Buffer> => Promise.resolve(Buffer.alloc(0));
  const { release, baseUrl } = service;
  const ask: Shop['ask'] = async (target) => {
    const asked = { method: 'GET', target, facts: PLAIN_FACTS, spend, readBody, trace };
    return (await respond(asked, service)).reply;
  };
  const hasFile = (path: string): boolean => {
    const found = findStaticFile(path);
    return found !== null && release.has(found.path);
  };
  return { ask, catalog: release.catalog, offers: release.offers, hasFile, baseUrl, spend };
}
