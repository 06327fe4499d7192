import { anchor } from './answers/anchor.ts';
import { catalog } from './answers/catalog.ts';
import { challengePage } from './answers/challenge-page.ts';
import { channels } from './answers/channels.ts';
import { check } from './answers/check.ts';
import { coverage } from './answers/coverage.ts';
import { paymentManifest } from './answers/manifest.ts';
import { mint } from './answers/mint.ts';
import { preview } from './answers/preview.ts';
import { previewSearch } from './answers/preview-search.ts';
import { proof } from './answers/proof.ts';
import { resolve } from './answers/resolve.ts';
import { series } from './answers/series.ts';
import type { Rooms } from './answers/service.ts';
import { staticFile } from './answers/static-file.ts';
import { tokenGate } from './answers/token-gate.ts';
import { verify, verifyUsage } from './answers/verify.ts';
import { watch } from './answers/watch.ts';
import { mcp } from './mcp/mcp.ts';
import { mcpRefusal } from './mcp/mcp-refusal.ts';
import { noCharge } from './offer/no-charge.ts';
import { codedFile } from './release/coded-file.ts';

/**
 * Everything that stands beside the way from a request to its file and its sale. That way (http/, answers/respond.ts,
 * release/, payment/) imports nothing of it and gets it from here.
 *
 * What every release offers is loaded with the program: a program that is replaced on disk while it runs must not mix
 * two versions at a request. The rest is loaded at the start by who asks for it.
 */
export const ROOMS: Rooms = {
  answers: {
    anchor: { answer: anchor, isKept: true },
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
    search: { answer: previewSearch },
    series: { answer: series },
    verify: { answer: verify, usage: verifyUsage },
    watch: { answer: watch },
  },
  staticFile,
  tokenGate,
  codedFile,
  noCharge,
  pricePage: challengePage,
};

/** Commands beside serving, by their first argument. */
export const COMMANDS = {
  ledger: () => import('./journal/ledger-command.ts'),
  dashboard: () => import('./dashboard/dashboard-command.ts'),
  doctor: () => import('./doctor/doctor-command.ts'),
} as const;

/** What only some settings need: `metrics` its library, `workers` node:cluster. */
export const ON_DEMAND = {
  metrics: () => import('./metrics/open-metrics.ts'),
  workers: () => import('./workers/forked-workers.ts'),
} as const;
