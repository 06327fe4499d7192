import { el } from './dom.ts';
import { hashedJson } from './hashed-json.ts';
import { addressOf, type PageSignal, previewUrl, textAt } from './page-data.ts';
import type { VerifyPanel } from './verify-panel.ts';

/** The free JSON that says most about an entity. */
interface FreeBody {
  readonly url: string;
  readonly note: string;
}

/** What may be shown: the sample where it is of this entity, the bare record of a gauge, else the free last seven. */
function freeBody({ signal_id, sample, raw }: PageSignal, entity: string): FreeBody {
  if (sample === entity) {
    const note = 'The whole record, signed; it is the free sample of this signal.';
    return { url: addressOf('/gauge/sample', { signal_id }), note };
  }
  if (raw) {
    const note =
      'The bare record, free. A bought record adds the official class, statistics and a signature.';
    return { url: addressOf('/gauge/raw', { signal_id, entity }), note };
  }
  const note =
    'The free last seven. A bought record holds all hashed members of the newest one, and a signature.';
  return { url: previewUrl(signal_id, entity), note };
}

/** The JSON with the hashed part marked, and a button that checks it. */
export async function recordJson(
  signal: PageSignal,
  entity: string,
  panel: VerifyPanel,
): Promise<HTMLElement> {
  const { url, note } = freeBody(signal, entity);
  const text = await textAt(url);
  const parts = hashedJson(JSON.parse(text) as unknown);
  const marked = parts.map(({ text: part, isHashed }) => (isHashed ? el('mark', {}, part) : part));
  const isMarked = parts.some(({ isHashed }) => isHashed);
  const check = (): void => {
    document.getElementById('verify')?.scrollIntoView();
    document.getElementById('verify-input')?.focus({ preventScroll: true });
    panel.judge(text, `${url}`);
  };
  const pre = el(
    'pre',
    { class: 'json', tabindex: '0', role: 'region', 'aria-label': 'JSON of this record' },
    ...marked,
  );
  // The newest of the last seven stands at the end.
  if (url.startsWith('/gauge/history-preview')) {
    requestAnimationFrame(() => {
      pre.scrollTop = pre.scrollHeight;
    });
  }
  return el(
    'div',
    {},
    el(
      'p',
      {},
      note,
      isMarked ? ' What the record hash covers is ' : null,
      isMarked ? el('mark', {}, 'marked') : null,
      isMarked ? '.' : null,
    ),
    pre,
    el(
      'p',
      { class: 'actions' },
      el('button', { type: 'button', click: check }, 'Check this body'),
      el('a', { href: url }, 'Open it'),
    ),
  );
}
