import { hash } from 'node:crypto';
import { ICON_URL, SKILL_NAME, SKILL_URL } from '../catalog/static-files.ts';
import type { Issuer } from '../system/sealer.ts';

// What agents read before they use the service: how to do it (Agent Skills), and what it is (ERC-8004).

const SKILLS_SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const SKILL_DESCRIPTION =
  'Finds, prices, purchases and verifies signed records of official readings through x402. Use it where a question needs an official ' +
  'figure with its source and a proof, and the user has set the most that it may cost.';

/** How to buy one reading and to check it: every line works with this service, and none of them names what is sold. */
export function skillText({ baseUrl, did }: Issuer): string {
  return `---
name: ${SKILL_NAME}
description: ${JSON.stringify(SKILL_DESCRIPTION)}
---

# Buy an official reading and verify it

Every step but the third is free. Descriptive only: no forecast, no advice.

1. **Search** in your own words: \`GET ${baseUrl}/gauge/search?q=WORDS\`. Read in each result of whom and what it is. If none is
   what was asked, say that this shop does not have it, and buy nothing: a reading of another place is no answer.
2. **Quote**: GET the request of the result without a payment. A 402 names the price in \`accepts[0].maxAmountRequired\`, in
   millionths of a dollar. A 422 is never charged: do what its \`error\` says.
3. **Buy with a cap**, the most that the user allows, and keep the answer:

   \`\`\`sh
   npx signalpress buy '${baseUrl}/gauge?signal_id=SIGNAL&entity=ENTITY' --issuer ${did} \\
     --max-usd 0.05 --wallet wallet.key > answer.json
   \`\`\`

   Any client of x402 does it too: send the same request again with the signed payment. Only a 200 is charged. After a lost
   answer or a 503 send the same payment again; never sign a second one.
4. **Verify** the answer for the issuer whom you trust, without asking anybody:

   \`\`\`sh
   npx signalpress verify answer.json --issuer ${did}
   \`\`\`

   Exit code 0 is verified, 1 is not, 2 cannot be judged. Compare the issuer with a source that is not this page. Tell the
   user the value, its unit, when it was observed, its source and the record hash.

All parameters: ${baseUrl}/llms.txt. Tools for search, quote and checks, without payments: ${baseUrl}/mcp.
`;
}

/** `/.well-known/agent-skills/index.json` (Agent Skills discovery 0.2.0), with the hash of the skill's bytes. */
export function skillIndex(skill: string): object {
  const digest = `sha256:${hash('sha256', skill, 'hex')}`;
  const named = { name: SKILL_NAME, type: 'skill-md', description: SKILL_DESCRIPTION };
  return { $schema: SKILLS_SCHEMA, skills: [{ ...named, url: SKILL_URL, digest }] };
}

/**
 * `/.well-known/agent-registration.json` (ERC-8004). It names no registration: who enters the service into a registry tells
 * it there, and nothing here claims one.
 */
export function agentRegistration({ baseUrl, name, did }: Issuer, description: string): object {
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name,
    description,
    image: baseUrl + ICON_URL,
    services: [
      { name: 'web', endpoint: `${baseUrl}/` },
      { name: 'MCP', endpoint: `${baseUrl}/mcp` },
      { name: 'DID', endpoint: did, version: 'v1' },
      { name: 'x402', endpoint: `${baseUrl}/.well-known/x402` },
    ],
    x402Support: true,
    active: true,
    registrations: [],
  };
}
