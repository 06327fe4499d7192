import type { Cadence } from '../products/shapes/freshness.ts';
import { sayTime, shown } from '../products/shapes/say.ts';
import { hashedJson } from './hashed-json.ts';
import { textAt } from './page-data.ts';
import { el, failureNote, freshBadge, mount, svg, whenNear } from './page-parts.ts';
import { type LogStep, logPath, rangeText } from './shapes.ts';
import { type VerifyPanel, verifyPanel } from './verify-panel.ts';

// The program of the page of a reading. The page says everything by itself; this adds how old the reading is, the record with what
// its hash covers, the path through the log, the check, and the chart as PNG.

start(document.body.dataset);

function start(facts: DOMStringMap): void {
  const { hash, freeUrl, cadence, observedAt, hasValue, issuerDid } = facts;
  if (!hash || !freeUrl || !observedAt || !issuerDid) return;
  document.documentElement.dataset.program = 'on';
  const age = freshBadge({ cadence: cadence as Cadence }, observedAt, hasValue === 'true');
  mount('age').replaceChildren(age);
  const panel = verifyPanel(issuerDid);
  const png = document.getElementById('chart-png');
  const button = el(
    'button',
    { type: 'button', class: 'quiet', click: () => void savePng() },
    'PNG',
  );
  png?.append('· ', button);
  fillWhenNear(mount('tree'), () => logTree(hash));
  fillWhenNear(mount('json'), () => recordJson(freeUrl, panel));
}

/** Until it is filled, a place holds what needs no program. */
function fillWhenNear(place: HTMLElement, make: () => Promise<HTMLElement>): void {
  whenNear(place, () => {
    make().then(
      (one) => place.replaceChildren(one),
      (error: unknown) => place.append(failureNote(error)),
    );
  });
}

/** Pixels of the picture for one of the drawing. */
const PNG_SCALE = 2;

/** Saves the chart as a picture, drawn from the file that the shop gives. */
async function savePng(): Promise<void> {
  const link = document.getElementById('chart-svg');
  if (!(link instanceof HTMLAnchorElement)) return;
  const drawing = document.querySelector<SVGSVGElement>('svg.chart')?.viewBox.baseVal;
  const [width, height] = [drawing?.width ?? 640, drawing?.height ?? 260].map(
    (side) => side * PNG_SCALE,
  );
  const picture = new Image(width, height);
  picture.src = `data:image/svg+xml,${encodeURIComponent(await textAt(link.pathname))}`;
  await picture.decode();
  const canvas = el('canvas', { width: `${width}`, height: `${height}` });
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const { signal, entity } = document.body.dataset;
  const name = `${signal}-${entity}.png`;
  el('a', { href: canvas.toDataURL('image/png'), download: name }).click();
}

/** What the free body is, by the path that gives it. */
const NOTES: Readonly<Record<string, string>> = {
  '/gauge/sample': 'The whole record, signed; it is the free sample of this signal.',
  '/gauge/raw':
    'The bare record, free. A bought record adds the official class, statistics and a signature.',
  '/gauge/history-preview':
    'The free last seven. A bought record holds all hashed members of the newest one, and a signature.',
};

async function recordJson(url: string, panel: VerifyPanel): Promise<HTMLElement> {
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
      NOTES[url.split('?')[0] ?? ''] ?? null,
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

/** What `/proof/<hash>` says of the place in the log. */
interface Proof {
  inclusion?: {
    index: number;
    inclusion_proof: readonly string[];
    root: string;
    entry: { sequence: number; as_of: string; new: { count: number } };
    entry_index: number;
    log_root: string;
  } | null;
  anchor?: {
    ots_state: string;
    stamped_at: string | null;
    bitcoin_height: number | null;
    ots_note: string | null;
  } | null;
}

async function logTree(hash: string): Promise<HTMLElement> {
  const { inclusion, anchor } = JSON.parse(await textAt(`/proof/${hash}`)) as Proof;
  if (!inclusion) return el('p', {}, 'The log does not hold this hash yet.');
  const { index, inclusion_proof, root, entry, entry_index, log_root } = inclusion;
  const { sequence, as_of } = entry;
  const { count } = entry.new;
  const steps = logPath(index, count, inclusion_proof);
  const [place, all] = [index + 1, count].map((number) => number.toLocaleString('en'));
  const summary = `Release ${sequence} of ${sayTime(as_of)} stated this hash: number ${place} of the ${all} that it took in. ${steps.length} hashes lead from it to the root that the release states. The release is entry ${entry_index + 1} of the log.`;
  return el(
    'div',
    { class: 'tree' },
    el('p', {}, summary),
    drawn(steps),
    el(
      'dl',
      { class: 'facts' },
      ...fact('Root of the release', el('code', {}, root)),
      ...fact('Root of the log', el('code', {}, log_root)),
      ...fact('Time stamp', stampText(anchor ?? null)),
    ),
    steps.length === 0 ? null : asList(steps),
  );
}

function fact(name: string, value: Node | string): HTMLElement[] {
  return [el('dt', {}, name), el('dd', {}, value)];
}

function stampText(anchor: NonNullable<Proof['anchor']> | null): string {
  if (anchor === null) return 'none';
  const { stamped_at, bitcoin_height, ots_note, ots_state } = anchor;
  if (bitcoin_height !== null) {
    return `Bitcoin block ${bitcoin_height}${stamped_at === null ? '' : `, ${sayTime(stamped_at)}`}`;
  }
  return shown(ots_note ?? ots_state);
}

const STEP = 22;
const ARM = 46;
const MIDDLE = 150;
const LABEL = 165;

/** The path from the leaf below to the root above; what the proof brings stands beside it. */
function drawn(steps: readonly LogStep[]): SVGElement {
  const height = (steps.length + 1) * STEP;
  const y = (at: number): number => height - (at + 0.5) * STEP;
  const arms = steps.map(({ side, sibling }, at) => {
    const x = MIDDLE + (side === 'left' ? -ARM : ARM);
    const anchorSide = side === 'left' ? 'end' : 'start';
    return svg(
      'g',
      {},
      svg('path', { class: 'arm', d: `M${x} ${y(at)} L${MIDDLE} ${y(at + 1)}` }),
      svg('path', { class: 'trunk', d: `M${MIDDLE} ${y(at)} L${MIDDLE} ${y(at + 1)}` }),
      svg('rect', { class: 'sibling', x: x - 5, y: y(at) - 5, width: 10, height: 10 }),
      svg(
        'text',
        {
          class: 'node-name',
          x: x + (side === 'left' ? -9 : 9),
          y: y(at) + 4,
          'text-anchor': anchorSide,
        },
        rangeText(sibling),
      ),
    );
  });
  const nodes = [...steps.keys(), steps.length].map((at) =>
    svg('circle', {
      class: at === 0 ? 'leaf' : at === steps.length ? 'root' : 'node',
      cx: MIDDLE,
      cy: y(at),
      r: at === 0 || at === steps.length ? 6 : 4,
    }),
  );
  const names = [
    svg(
      'text',
      { class: 'node-name strong', x: MIDDLE + 12, y: y(steps.length) + 4 },
      'root of the release',
    ),
    svg(
      'text',
      { class: 'node-name strong', x: MIDDLE, y: y(0) + 17, 'text-anchor': 'middle' },
      'this reading',
    ),
  ];
  const view = `${MIDDLE - ARM - LABEL} 0 ${2 * (ARM + LABEL)} ${height + 10}`;
  return svg(
    'svg',
    { viewBox: view, class: 'tree-drawing', 'aria-hidden': 'true' },
    ...arms,
    ...nodes,
    ...names,
  );
}

function asList(steps: readonly LogStep[]): HTMLElement {
  const items = steps.map(({ side, sibling, siblingHash, joined }) =>
    el(
      'li',
      {},
      `With ${rangeText(sibling)} on the ${side}: `,
      el('code', {}, siblingHash),
      `, to ${rangeText(joined)}`,
    ),
  );
  return el('details', {}, el('summary', {}, 'The hashes of the proof'), el('ol', {}, ...items));
}
