import { defined } from '../../compiler/contract/defined.ts';
import { endpointAt } from '../../compiler/contract/endpoints.ts';
import { parseFilePath } from '../../compiler/contract/path.ts';
import { canonicalTarget } from '../../compiler/contract/route.ts';
import { storedFile } from '../answers/answers.ts';
import {
  type Answered,
  KEEP_FOR_RELEASE,
  type Question,
  type Service,
} from '../answers/service.ts';
import { perRelease } from '../release/per-release.ts';
import type { ReleaseIndex } from '../release/release-index.ts';
import { jsonContent } from './json-content.ts';

/** Services that one search names. */
const SEARCH_MATCHES_MAX = 50;
/** Longest text that is searched for; a service id is no longer. */
const SEARCH_CHARS_MAX = 190;
/** Services that a search looks through. */
const SERVICES_MAX = 500_000;

/** Ids that are looked through for the cost of a plain answer. */
const IDS_A_UNIT = 1000;

const PRECHECK = endpointAt('/trust/precheck');
const PREVIEW = '/trust/preview';

/** Ids of all stored services, in their order. */
const serviceIds = perRelease(async (release: ReleaseIndex): Promise<readonly string[]> => {
  const file = defined(PRECHECK.file, 'the file of a service');
  const folder = file.slice(0, file.indexOf('{'));
  const paths = release.files.pathsUnder(folder, SERVICES_MAX);
  return paths.flatMap((path) => parseFilePath(PRECHECK, path)?.service ?? []);
});

/**
 * `/trust/preview`: the stored list, or with `q=` the services whose id holds the text; always a 200, also for no match.
 * Computed, because the text is the caller's.
 */
export function previewSearch(question: Question, service: Service): Promise<Answered> {
  const { q } = question.route.values;
  return q === undefined ? storedFile(question, service) : found(q, question, service);
}

async function found(q: string, { spend }: Question, { release }: Service): Promise<Answered> {
  const wanted = idText(q);
  const ids = wanted === '' ? [] : await serviceIds(release);
  spend(ids.length / IDS_A_UNIT);
  const matches = ids.filter((id) => id.includes(wanted));
  const [first] = matches;
  const body = {
    nature: 'ids of stored services; descriptive only, not a recommendation of any of them',
    q: q.slice(0, SEARCH_CHARS_MAX).toWellFormed(),
    count: matches.length,
    matches: matches.slice(0, SEARCH_MATCHES_MAX),
    more: matches.length > SEARCH_MATCHES_MAX,
    example_request:
      first === undefined ? null : canonicalTarget(PRECHECK.path, { service: first }),
    preview: PREVIEW,
  };
  return jsonContent(body, KEEP_FOR_RELEASE);
}

/** A host, a part of one or an id, as ids spell it: lower case, hyphens for dots and spaces. */
function idText(q: string): string {
  return q
    .trim()
    .slice(0, SEARCH_CHARS_MAX)
    .toLowerCase()
    .replaceAll(/[.\s]+/g, '-');
}
