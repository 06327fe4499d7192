import { type Html, html } from '../format/html.ts';

interface AskedToBuy {
  readonly baseUrl: string;
  /** Canonical `path?query`. */
  readonly target: string;
  /** Arguments of the tool call that asks the same price; null where no tool does. */
  readonly pair: { readonly signal_id: string; readonly entity: string } | null;
}

/** The ways to buy as tabs that need no program: radio buttons and styles. */
export function howToBuy(asked: AskedToBuy): Html {
  const tabs = [
    {
      name: 'curl',
      note: 'This asks the price: 402 with what to sign. A wallet signs it: the clients for JavaScript and Python do that for you.',
      code: `curl -s ${shellQuoted(asked.baseUrl + asked.target)}`,
    },
    {
      name: 'JavaScript',
      note: 'First: npm install x402-fetch. WALLET_KEY is the key of a wallet with USDC; a test shop takes any key, 0x and 64 hex digits. Run it as a module (.mjs).',
      code: [
        "import { createSigner, wrapFetchWithPayment } from 'x402-fetch';",
        `const url = ${JSON.stringify(asked.baseUrl + asked.target)};`,
        'const { accepts } = await (await fetch(url)).json();',
        'const signer = await createSigner(accepts[0].network, process.env.WALLET_KEY);',
        'const most = BigInt(accepts[0].maxAmountRequired);',
        'const answer = await wrapFetchWithPayment(fetch, signer, most)(url);',
        'console.log(answer.status, await answer.json());',
      ].join('\n'),
    },
    {
      name: 'Python',
      note: "First: pip install 'x402[evm]' requests eth-account. WALLET_KEY is the key of a wallet with USDC.",
      code: [
        'import os',
        'from eth_account import Account',
        'from x402 import x402ClientSync',
        'from x402.http.clients import x402_requests',
        'from x402.mechanisms.evm import EthAccountSigner',
        'from x402.mechanisms.evm.exact.register import register_exact_evm_client',
        '',
        'client = x402ClientSync()',
        'signer = EthAccountSigner(Account.from_key(os.environ["WALLET_KEY"]))',
        'register_exact_evm_client(client, signer)',
        'with x402_requests(client) as session:',
        `    answer = session.get(${JSON.stringify(asked.baseUrl + asked.target)})`,
        '    print(answer.status_code, answer.json())',
      ].join('\n'),
    },
    toolTab(asked),
  ];
  return html`<fieldset class="tabs"><legend>In the language of your program</legend>
${tabs.map(
  (
    { name, note, code },
    at,
  ) => html`<input type="radio" name="buy" id="buy-${at}"${at === 0 ? checked : null}>
<label for="buy-${at}">${name}</label>
<div class="panel"><pre tabindex="0"><code>${lines(code)}</code></pre><p class="soft">${note}</p></div>
`,
)}</fieldset>`;
}

const checked = html` checked`;

/** Lines stay lines, for a line end would be shown as its number. */
function lines(code: string): Html {
  return html`${code.split('\n').map((line, at) => html`${at === 0 ? null : newline}${line}`)}`;
}

const newline = html`\n`;

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** All tools are free: this one says what a record costs and where it is bought. */
function toolTab({ baseUrl, pair }: AskedToBuy) {
  const server = { mcpServers: { signalpress: { type: 'http', url: `${baseUrl}/mcp` } } };
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'get_official_record', arguments: pair },
  };
  const asked = [
    `curl -s ${shellQuoted(`${baseUrl}/mcp`)} -H 'content-type: application/json' \\`,
    "  -H 'accept: application/json, text/event-stream' \\",
    `  -d ${shellQuoted(JSON.stringify(call))}`,
  ];
  return {
    name: 'MCP',
    note: 'Put the first block into the settings of your agent. Tools are free: they find a record and its price, and its paid URL is bought as above.',
    code: [JSON.stringify(server, null, 1), ...(pair === null ? [] : ['', ...asked])].join('\n'),
  };
}
