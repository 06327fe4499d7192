import { canonicalTarget } from '../../compiler/contract/canonical-request.ts';
import { type Answer, type Endpoint, endpointAt } from '../../compiler/contract/endpoints.ts';
import { FILINGS_FOLDER } from '../../compiler/contract/filing-index.ts';
import { lineOf } from '../../compiler/contract/lines.ts';
import { decodeSegment, parseFilePath, type Values } from '../../compiler/contract/path.ts';
import type { ReleaseIndex } from '../release/release-index.ts';

type Example = (given: Values, release: ReleaseIndex, endpoint: Endpoint) => Values | null;

/** Values that an operation without a file of its own answers, by its word. */
const EXAMPLES: Partial<Readonly<Record<Answer, Example>>> = {
  anchor: () => ({}),
  coverage: () => ({}),
  resolve: filingExample,
  mint: () => ({}),
  watch: watchExample,
};

/** A request that an operation without a file answers on this release; null when there is none. */
export function computedRequest(
  endpoint: Endpoint,
  given: Values,
  release: ReleaseIndex,
): string | null {
  const values = EXAMPLES[endpoint.answer]?.(given, release, endpoint) ?? null;
  return values === null ? null : canonicalTarget(endpoint.path, values);
}

/** The first pair of the catalog; a sweep needs none. */
function watchExample(_given: Values, release: ReleaseIndex, endpoint: Endpoint): Values | null {
  if (endpoint.params.items === undefined) return {};
  const [file] = release.pathsUnder('record/', 1);
  const found = file === undefined ? null : parseFilePath(endpointAt('/gauge'), file);
  const industry = lineOf(found?.signal_id ?? '')?.industry;
  return industry === undefined ? null : { items: `${industry}:${found?.entity ?? ''}` };
}

/** The first filing that is stored, of the given form if there is one, until the day of the release. */
function filingExample(given: Values, release: ReleaseIndex): Values | null {
  const files = release.pathsUnder(FILINGS_FOLDER, FILES_MAX).map((path) => path.split('/'));
  const filings = files.filter((parts) => parts.length === 4);
  const pairs = filings.map(([, cik = '', form = '']) => [cik, decodeSegment(form)] as const);
  const [entity, form] = pairs.find((pair) => pair[1] === given.form) ?? pairs[0] ?? [];
  if (entity === undefined || form === undefined) return null;
  return { entity, form, cutoff: release.head.as_of.slice(0, 10) };
}

/** Stored files that one suggestion looks at. */
const FILES_MAX = 1000;
