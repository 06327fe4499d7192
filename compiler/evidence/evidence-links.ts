import type { Provenance } from '../contract/record.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject } from '../contract/strict-json.ts';
import { memberPath, type ObjectNode, objectNodes } from '../verify/body-check.ts';

/** A link of lineage in a body, and who its reading is about, where the body says. */
export interface EvidenceLink {
  /** Where it stands, like `provenance.data_lineage.0`. */
  readonly where: string;
  readonly link: Provenance['data_lineage'][number];
  readonly entity: string | null;
}

/** Every reading that a body names in a lineage, once, with its place. */
export function evidenceLinks(body: JsonValue): EvidenceLink[] {
  const nodes = [...objectNodes(body)];
  const entities = entitiesByHash(nodes);
  const found = new Map<string, EvidenceLink>();
  for (const { path, value } of nodes) {
    const { provenance } = value;
    if (!isObject(provenance) || !Array.isArray(provenance.data_lineage)) continue;
    for (const [at, link] of provenance.data_lineage.entries()) {
      const where = memberPath(path, `provenance.data_lineage.${at}`);
      const key = JSON.stringify(link);
      if (!isObject(link) || found.has(key)) continue;
      const entity = entities.get(String(link.record_hash)) ?? null;
      found.set(key, { where, link: link as unknown as EvidenceLink['link'], entity });
    }
  }
  return [...found.values()];
}

function entitiesByHash(nodes: readonly ObjectNode[]): ReadonlyMap<string, string> {
  return new Map(
    nodes.flatMap(({ value: { record_hash, entity } }) =>
      typeof record_hash === 'string' && typeof entity === 'string'
        ? [[record_hash, entity] as const]
        : [],
    ),
  );
}
