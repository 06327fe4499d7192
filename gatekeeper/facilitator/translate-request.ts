import type { FacilitatorRequest, PaymentPayload } from '../money/facilitator.ts';
import { findNetwork, type Network } from '../money/networks.ts';
import { priceOf, type RequirementsV1, type RequirementsV2 } from '../money/requirements.ts';

/**
 * The same payment in the other version: what the payer signed names no version, so only the words around it change.
 * A payment of version 2 that does not say what it buys stays as it is, because version 1 must.
 */
export function translateRequest(request: FacilitatorRequest): FacilitatorRequest {
  const network = findNetwork(request.paymentRequirements.network);
  if (network === undefined) return request;
  const made = request.x402Version === 1 ? inV2(request, network) : inV1(request, network);
  const { trace } = request;
  return trace === undefined || made === request ? made : { ...made, trace };
}

function inV1(request: FacilitatorRequest, network: Network): FacilitatorRequest {
  const { paymentPayload, paymentRequirements } = request;
  if (paymentPayload.x402Version === 1 || paymentPayload.resource === undefined) return request;
  const { scheme, payTo, asset, maxTimeoutSeconds, extra } = paymentRequirements;
  const { url: resource, description, mimeType } = paymentPayload.resource;
  const { name } = network;
  const terms: RequirementsV1 = {
    scheme,
    network: name,
    maxAmountRequired: priceOf(paymentRequirements),
    resource,
    description,
    mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
    outputSchema: {},
  };
  const { payload } = paymentPayload;
  const paid: PaymentPayload = { x402Version: 1, scheme, network: name, payload };
  return { x402Version: 1, paymentPayload: paid, paymentRequirements: terms };
}

function inV2(request: FacilitatorRequest, { caip2 }: Network): FacilitatorRequest {
  const { paymentPayload, paymentRequirements } = request;
  if (!('resource' in paymentRequirements)) return request;
  const { scheme, payTo, asset, maxTimeoutSeconds, extra } = paymentRequirements;
  const { resource: url, description, mimeType } = paymentRequirements;
  const amount = priceOf(paymentRequirements);
  const terms: RequirementsV2 = {
    scheme,
    network: caip2,
    amount,
    asset,
    payTo,
    maxTimeoutSeconds,
    extra,
  };
  const { payload } = paymentPayload;
  const resource = { url, description, mimeType };
  const paid: PaymentPayload = { x402Version: 2, accepted: terms, payload, resource };
  return { x402Version: 2, paymentPayload: paid, paymentRequirements: terms };
}
