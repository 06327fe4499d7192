import type { z } from 'zod';
import type { Endpoint, EndpointPath } from './endpoints.ts';
import {
  bundleSchema,
  calibratedBodySchema,
  historyBodySchema,
  readingsBodySchema,
  recordSchema,
  rulerBodySchema,
  strataBodySchema,
} from './record.ts';

/** Strict schema of the 200 body by operation; bundles share one. */
const BODIES: Partial<Record<EndpointPath, z.ZodType>> = {
  '/gauge': recordSchema,
  '/gauge/ruler': rulerBodySchema,
  '/gauge/calibrated': calibratedBodySchema,
  '/gauge/strata': strataBodySchema,
  '/gauge/history': historyBodySchema,
  '/gauge/air': readingsBodySchema,
  '/gauge/precip': readingsBodySchema,
};

/** The strict schema of an operation's JSON body as it is delivered, or null where none is declared. */
export function bodySchemaOf(endpoint: Endpoint): z.ZodType | null {
  const own = BODIES[endpoint.path as EndpointPath];
  if (own !== undefined) return own;
  return endpoint.file?.startsWith('bundle/') ? bundleSchema : null;
}
