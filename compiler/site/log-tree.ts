import { el, svg } from './dom.ts';
import { type LogStep, logPath, rangeText } from './log-path.ts';
import { textAt } from './page-data.ts';
import { shown, timeText } from './page-words.ts';

/** What `/proof/<hash>` says of the place in the log. */
interface Proof {
  readonly inclusion?: {
    readonly index: number;
    readonly size: number;
    readonly root: string;
    readonly leaf_hash: string;
    readonly inclusion_proof: readonly string[];
  } | null;
  readonly anchor?: {
    readonly ots_state: string;
    readonly stamped_at: string | null;
    readonly bitcoin_height: number | null;
    readonly ots_note: string | null;
  } | null;
}

/** The place of a record hash in the log, from its leaf to the root and its time stamp. */
export async function logTree(hash: string): Promise<HTMLElement> {
  const { inclusion, anchor } = JSON.parse(await textAt(`/proof/${hash}`)) as Proof;
  if (!inclusion) return el('p', {}, 'The log does not hold this hash yet.');
  const { index, size, root, leaf_hash, inclusion_proof } = inclusion;
  const steps = logPath(index, size, inclusion_proof);
  const summary = `Entry ${index.toLocaleString('en')} of ${size.toLocaleString('en')}. ${steps.length} hashes lead from it to the root.`;
  return el(
    'div',
    { class: 'tree' },
    el('p', {}, summary),
    drawn(steps),
    el(
      'dl',
      { class: 'facts' },
      ...fact('Leaf', el('code', {}, leaf_hash)),
      ...fact('Root', el('code', {}, root)),
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
    return `Bitcoin block ${bitcoin_height}${stamped_at === null ? '' : `, ${timeText(stamped_at)}`}`;
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
      'root, signed',
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
