import type { Rooms } from './heart/answers/service.ts';
import { noCharge } from './heart/offer/no-charge.ts';
import { codedFile } from './heart/release/coded-file.ts';
import { challengePage, refusalPage } from './rooms/atlas/pages.ts';
import { basket, formerSale } from './rooms/basket.ts';
import { catalog } from './rooms/catalog.ts';
import { channels, paymentManifest } from './rooms/channels.ts';
import { check } from './rooms/check.ts';
import { coverage } from './rooms/coverage.ts';
import { mcpRefusal } from './rooms/mcp/json-rpc.ts';
import { mcp } from './rooms/mcp/mcp.ts';
import { preview, previewSearch } from './rooms/preview.ts';
import { anchor, proof } from './rooms/proof.ts';
import { proven } from './rooms/proven.ts';
import { resolve } from './rooms/resolve.ts';
import { search } from './rooms/search.ts';
import { series } from './rooms/series.ts';
import { staticFile } from './rooms/static-file.ts';
import { mint, tokenGate, watch } from './rooms/subscription.ts';
import { verify, verifyUsage } from './rooms/verify.ts';

/**
 * Everything that stands beside the way from a request to its file and its price. That way (wire/server.ts,
 * heart/answers/respond.ts and what they load) imports nothing of it and gets it from here.
 *
 * What every release offers is loaded with the program: a program that is replaced on disk while it runs must not mix
 * two versions at a request. The rest is loaded at the start by who asks for it.
 */
export const ROOMS: Rooms = {
  answers: {
    anchor: { answer: anchor, isKept: true },
    basket: { answer: basket },
    catalog: { answer: (question, { release }) => catalog(question, release), isKept: true },
    channels: { answer: (_, service) => channels(service) },
    check: { answer: check },
    coverage: { answer: coverage },
    manifest: { answer: async (_, service) => paymentManifest(service), isKept: true },
    mint: { answer: (_, service) => mint(service) },
    preview: { answer: (_, service) => preview(service), isKept: true },
    proof: { answer: proof, isKept: true },
    resolve: { answer: resolve },
    rpc: { answer: mcp, refusal: (facts, { baseUrl }) => mcpRefusal(facts, baseUrl) },
    'preview-search': { answer: previewSearch },
    search: { answer: search },
    series: { answer: series },
    verify: { answer: verify, usage: verifyUsage },
    watch: { answer: watch },
  },
  staticFile,
  formerSale,
  tokenGate,
  codedFile,
  proven,
  noCharge,
  pricePage: challengePage,
  refusalPage,
};

/** Commands beside serving, by their first argument. */
export const COMMANDS = {
  ledger: () => import('./heart/journal/ledger-command.ts'),
  books: () => import('./operate/books/books-command.ts'),
  dashboard: () => import('./rooms/dashboard/dashboard-command.ts'),
  doctor: () => import('./operate/doctor/doctor-command.ts'),
} as const;

/** What only some settings need: `metrics` its library, `workers` node:cluster. */
export const ON_DEMAND = {
  metrics: () => import('./settings/open-metrics.ts'),
  workers: () => import('./fleet/workers/workers.ts'),
} as const;
