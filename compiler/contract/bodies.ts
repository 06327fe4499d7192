import { z } from 'zod';
import { basketSchema } from './basket.ts';
import { documentSchemaOf, isDocument } from './document-bodies.ts';
import type { Endpoint, TablePath } from './endpoints.ts';
import * as free from './free-body-schemas.ts';
import * as record from './record.ts';
import * as resolve from './resolve-bodies.ts';
import * as roster from './roster-bodies.ts';
import { seriesSchema } from './series.ts';
import * as watch from './watch-bodies.ts';

/** Strict schema of the 200 body by operation; bundles share one. */
const BODIES: Partial<Record<TablePath, z.ZodType>> = {
  '/gauge': record.recordSchema,
  '/gauge/ruler': record.rulerBodySchema,
  '/gauge/calibrated': record.calibratedBodySchema,
  '/gauge/strata': record.strataBodySchema,
  '/gauge/history': record.historyBodySchema,
  '/gauge/history-series': seriesSchema,
  '/gauge/census': record.censusBodySchema,
  '/gauge/lifecycle': free.lifecycleBodySchema,
  '/gauge/air': record.readingsBodySchema,
  '/gauge/precip': record.readingsBodySchema,
  '/stablecoin-deaths': roster.deathsSchema,
  '/trust/scorecard': roster.scorecardSchema,
  '/trust/graveyard': roster.graveyardSchema,
  '/mcp/census': roster.mcpCensusSchema,
  '/mcp/graveyard': roster.graveyardSchema,
  '/stable/census': roster.stableCensusSchema,
  '/stable/graveyard': roster.graveyardSchema,
  '/trust/precheck': roster.precheckSchema,
  '/mcp/server': roster.serverSchema,
  '/stable/coin': roster.coinSchema,
  '/gauge/coverage': free.coverageSchema,
  '/gauge/catalog': free.catalogSchema,
  '/gauge/search': free.searchSchema,
  '/gauge/preview': free.previewSchema,
  '/gauge/sample': free.sampleSchema,
  '/gauge/history-preview': free.historyPreviewSchema,
  '/gauge/raw': free.rawSchema,
  '/stablecoin-deaths/preview': roster.deathsPreviewSchema,
  '/trust/preview': z.union([roster.rosterPreviewSchema, roster.rosterSearchSchema]),
  '/stable/preview': roster.rosterPreviewSchema,
  '/mcp/preview': roster.rosterPreviewSchema,
  '/resolve': resolve.resolveBodySchema,
  '/resolve/proposer': resolve.proposerBodySchema,
  '/resolve/preview': resolve.resolvePreviewSchema,
  '/resolve/proposer/preview': resolve.resolvePreviewSchema,
  '/verify': free.checkSchema,
  '/gauge/basket': basketSchema,
  '/gauge/subscribe': watch.subscriptionSchema,
  '/gauge/watch': watch.watchSchema,
  '/gauge/watch-changes': watch.watchChangesSchema,
  '/gauge/manifest-sweep': watch.sweepSchema,
  '/gauge/verify': free.verificationSchema,
  '/v/:record_hash': free.verificationSchema,
  '/gauge/anchor': free.anchorSchema,
  '/proof/:record_hash': free.proofSchema,
  '/gauge/channels': free.channelsSchema,
  '/manifest': free.manifestSchema,
  '/.well-known/x402': free.paymentManifestSchema,
  '/merkle/spec': free.merkleSpecSchema,
};

/** The strict schema of an operation's JSON body as it is delivered, or null where none is declared. */
export function bodySchemaOf(endpoint: Endpoint): z.ZodType | null {
  const own = BODIES[endpoint.path as TablePath];
  if (own !== undefined) return own;
  if (isDocument(endpoint)) return documentSchemaOf(endpoint);
  return endpoint.file?.startsWith('bundle/') ? record.bundleSchema : null;
}

const VARIANT_BODIES: Readonly<Record<string, z.ZodType>> = {
  mcp: free.toolListSchema,
  a2a: free.agentCardSchema,
  'thin /gauge': record.thinRecordSchema,
  'thin /gauge/calibrated': record.thinCalibratedSchema,
};

/** The schema of the body that a variant of a parameter chooses, or null where it is that of the plain form. */
export function variantSchemaOf({ path, file }: Endpoint, variant: string): z.ZodType | null {
  if (variant !== 'thin') return VARIANT_BODIES[variant] ?? null;
  const bundle = file?.startsWith('bundle/') ? record.thinBundleSchema : null;
  return VARIANT_BODIES[`thin ${path}`] ?? bundle;
}
