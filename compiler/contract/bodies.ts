import { z } from 'zod';
import { basketSchema } from './basket.ts';
import { documentSchemaOf, isDocument } from './document-bodies.ts';
import type { Endpoint, TablePath } from './endpoints.ts';
import {
  agentCardSchema,
  anchorSchema,
  catalogSchema,
  channelsSchema,
  checkSchema,
  coverageSchema,
  historyPreviewSchema,
  lifecycleBodySchema,
  manifestSchema,
  merkleSpecSchema,
  paymentManifestSchema,
  previewSchema,
  proofSchema,
  rawSchema,
  sampleSchema,
  searchSchema,
  toolListSchema,
  verificationSchema,
} from './free-body-schemas.ts';
import {
  bundleSchema,
  calibratedBodySchema,
  censusBodySchema,
  historyBodySchema,
  readingsBodySchema,
  recordSchema,
  rulerBodySchema,
  strataBodySchema,
  thinBundleSchema,
  thinCalibratedSchema,
  thinRecordSchema,
} from './record.ts';
import { proposerBodySchema, resolveBodySchema, resolvePreviewSchema } from './resolve-bodies.ts';
import {
  coinSchema,
  deathsPreviewSchema,
  deathsSchema,
  graveyardSchema,
  mcpCensusSchema,
  precheckSchema,
  rosterPreviewSchema,
  rosterSearchSchema,
  scorecardSchema,
  serverSchema,
  stableCensusSchema,
} from './roster-bodies.ts';
import { seriesSchema } from './series.ts';
import {
  subscriptionSchema,
  sweepSchema,
  watchChangesSchema,
  watchSchema,
} from './watch-bodies.ts';

/** Strict schema of the 200 body by operation; bundles share one. */
const BODIES: Partial<Record<TablePath, z.ZodType>> = {
  '/gauge': recordSchema,
  '/gauge/ruler': rulerBodySchema,
  '/gauge/calibrated': calibratedBodySchema,
  '/gauge/strata': strataBodySchema,
  '/gauge/history': historyBodySchema,
  '/gauge/history-series': seriesSchema,
  '/gauge/census': censusBodySchema,
  '/gauge/lifecycle': lifecycleBodySchema,
  '/gauge/air': readingsBodySchema,
  '/gauge/precip': readingsBodySchema,
  '/stablecoin-deaths': deathsSchema,
  '/trust/scorecard': scorecardSchema,
  '/trust/graveyard': graveyardSchema,
  '/mcp/census': mcpCensusSchema,
  '/mcp/graveyard': graveyardSchema,
  '/stable/census': stableCensusSchema,
  '/stable/graveyard': graveyardSchema,
  '/trust/precheck': precheckSchema,
  '/mcp/server': serverSchema,
  '/stable/coin': coinSchema,
  '/gauge/coverage': coverageSchema,
  '/gauge/catalog': catalogSchema,
  '/gauge/search': searchSchema,
  '/gauge/preview': previewSchema,
  '/gauge/sample': sampleSchema,
  '/gauge/history-preview': historyPreviewSchema,
  '/gauge/raw': rawSchema,
  '/stablecoin-deaths/preview': deathsPreviewSchema,
  '/trust/preview': z.union([rosterPreviewSchema, rosterSearchSchema]),
  '/stable/preview': rosterPreviewSchema,
  '/mcp/preview': rosterPreviewSchema,
  '/resolve': resolveBodySchema,
  '/resolve/proposer': proposerBodySchema,
  '/resolve/preview': resolvePreviewSchema,
  '/resolve/proposer/preview': resolvePreviewSchema,
  '/verify': checkSchema,
  '/gauge/basket': basketSchema,
  '/gauge/subscribe': subscriptionSchema,
  '/gauge/watch': watchSchema,
  '/gauge/watch-changes': watchChangesSchema,
  '/gauge/manifest-sweep': sweepSchema,
  '/gauge/verify': verificationSchema,
  '/v/:record_hash': verificationSchema,
  '/gauge/anchor': anchorSchema,
  '/proof/:record_hash': proofSchema,
  '/gauge/channels': channelsSchema,
  '/manifest': manifestSchema,
  '/.well-known/x402': paymentManifestSchema,
  '/merkle/spec': merkleSpecSchema,
};

/** Strict schema of the `format=thin` body by operation; bundles share one. */
const THIN_BODIES: Partial<Record<TablePath, z.ZodType>> = {
  '/gauge': thinRecordSchema,
  '/gauge/calibrated': thinCalibratedSchema,
};

/** The strict schema of an operation's JSON body as it is delivered, or null where none is declared. */
export function bodySchemaOf(endpoint: Endpoint): z.ZodType | null {
  const own = BODIES[endpoint.path as TablePath];
  if (own !== undefined) return own;
  if (isDocument(endpoint)) return documentSchemaOf(endpoint);
  return endpoint.file?.startsWith('bundle/') ? bundleSchema : null;
}

/** The strict schema of an operation's body with `format=thin`, or null where it has no thin form. */
function thinSchemaOf(endpoint: Endpoint): z.ZodType | null {
  const own = THIN_BODIES[endpoint.path as TablePath];
  if (own !== undefined) return own;
  return endpoint.file?.startsWith('bundle/') ? thinBundleSchema : null;
}

/** Schema of `/manifest?platform=` by platform. */
const PLATFORM_BODIES: Readonly<Record<string, z.ZodType>> = {
  mcp: toolListSchema,
  a2a: agentCardSchema,
};

/** The schema of the body that a variant of a parameter chooses, or null where it is that of the plain form. */
export function variantSchemaOf(endpoint: Endpoint, variant: string): z.ZodType | null {
  if (variant === 'thin') return thinSchemaOf(endpoint);
  return PLATFORM_BODIES[variant] ?? null;
}
