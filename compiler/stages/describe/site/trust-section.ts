import { type Html, html } from '../../../contract/html.ts';
import type { IssuerKey } from '../../../contract/key-history.ts';
import { KEYS_URL, LOG_URL } from '../../../contract/static-files.ts';
import type { IndexMaterial, LogFacts } from './index-page.ts';

/** Time stamps that the index shows. */
const SHOWN_ANCHORS = 5;

/** Who signs, with which keys, and what keeps the signer honest. */
export function trustSection({ issuer, asOf, keys, log }: IndexMaterial): Html {
  const { name, did, baseUrl } = issuer;
  return html`<section id="trust" aria-labelledby="trust-title"><h2 id="trust-title">Trust</h2>
<div class="cards"><div class="card"><h3>Issuer</h3><p><bdi>${name}</bdi></p><p><code>${did}</code></p>
<p class="soft">Anybody can make a key. Compare this one with a source that you trust and that is not this page.</p></div>
<div class="card"><h3>Release</h3><p id="release">As of <time datetime="${asOf}">${asOf}</time></p>
<p class="soft">The number of the release, and whether it is served in time, say <a href="/healthz">/healthz</a>.</p></div>
<div class="card"><h3>Transparency log</h3>${logFacts(log)}</div></div>
<h3>Keys</h3><div class="scroll" tabindex="0" role="region" aria-label="Keys"><table><thead><tr><th scope="col">Key</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">Revoked from</th></tr></thead>
<tbody>${keys.keys.map(keyRow)}</tbody></table></div><p>Signed history of the keys: <a href="${KEYS_URL}">${KEYS_URL}</a></p>
<h3>Check everything yourself</h3>
<pre tabindex="0"><code>curl -s '${baseUrl}/gauge/sample' &gt; answer.json
npx signalpress verify answer.json --issuer ${did}</code></pre>
<p class="soft">Nothing is asked of this shop after the download. A body can be sent to <code>POST /verify</code> too, and a hash looked up at <code>/v/</code>.</p></section>`;
}

function keyRow({ did, valid_from, valid_until, revoked_from }: IssuerKey): Html {
  return html`<tr><th scope="row"><code>${did}</code></th><td>${valid_from ?? 'the first key'}</td><td>${valid_until ?? 'in use'}</td><td>${revoked_from ?? 'never'}</td></tr>
`;
}

function logFacts({ checkpoint, anchors }: LogFacts): Html {
  if (checkpoint === null) return html`<p>Nothing is logged yet.</p>`;
  const root = Buffer.from(checkpoint.root).toString('hex');
  const stamps = anchors.slice(-SHOWN_ANCHORS).reverse();
  return html`<p>${checkpoint.size.toLocaleString('en')} entries. Newest root:</p><p><code>${root}</code></p>
<p><a href="${LOG_URL}">Signed checkpoint</a>. Nothing that is in the log can be taken out or changed unnoticed.</p>
${
  stamps.length === 0
    ? html`<p class="soft">No root has a public time stamp yet.</p>`
    : html`<ul>${stamps.map(
        ({ root: stamped, ots_state, stamped_at, bitcoin_height }) =>
          html`<li><a href="/log/anchor/${stamped}.json">${stamped_at}</a>: ${ots_state}${bitcoin_height === null ? null : html`, Bitcoin block ${bitcoin_height}`}</li>`,
      )}</ul>`
}`;
}
