import { canonicalTarget } from '../../compiler/contract/canonical-request.ts';
import { type Answer, type Endpoint, endpointAt } from '../../compiler/contract/endpoints.ts';
import { FILINGS_FOLDER } from '../../compiler/contract/filing-index.ts';
import { lineOf } from '../../compiler/contract/lines.ts';
import { decodeSegment, parseFilePath, type Values } from '../../compiler/contract/path.ts';
import { oncePerRelease } from '../release/per-release.ts';
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
  const { byForm, first } = filings(release);
  const filing = byForm.get(given.form ?? '') ?? first;
  return filing === null ? null : { ...filing, cutoff: release.head.as_of.slice(0, 10) };
}

interface Filing {
  readonly entity: string;
  readonly form: string;
}

/** Stored files that suggestions look at. */
const FILES_MAX = 1000;

/** The first filing that is stored, and the first of each form. */
const filings = oncePerRelease((release: ReleaseIndex) => {
  const byForm = new Map<string, Filing>();
  let first: Filing | null = null;
  for (const path of release.pathsUnder(FILINGS_FOLDER, FILES_MAX)) {
    const [, entity = '', segment = '', file] = path.split('/');
    if (file === undefined) continue;
    const filing = { entity, form: decodeSegment(segment) };
    first ??= filing;
    if (!byForm.has(filing.form)) byForm.set(filing.form, filing);
  }
  return { byForm, first };
});
