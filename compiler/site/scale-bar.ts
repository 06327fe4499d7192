import { el } from './dom.ts';
import type { PageSignal, PreviewRow } from './page-data.ts';
import { figure, words } from './page-words.ts';
import { scaleFor, scalePlace, shadeOf } from './scale-place.ts';

/** A reading on its official scale; null where no agency publishes one for it. */
export function scaleBar(signal: PageSignal, row: PreviewRow): HTMLElement | null {
  const scale = scaleFor(signal, row);
  const place = scale === null ? null : scalePlace(scale, row);
  if (scale === null || place === null) return null;
  const cells = place.cells.map(({ band, at }, index) => {
    const marker = el('span', { class: 'marker', 'aria-hidden': 'true' });
    marker.style.setProperty('--at', `${place.inside * 100}%`);
    const isHere = index === place.cell;
    return el(
      'li',
      {
        class: `cell shade-${shadeOf(signal, band) ?? 0}`,
        ...(isHere ? { 'aria-current': 'true' } : {}),
      },
      isHere ? marker : null,
      el('span', { class: 'cell-name' }, words(band)),
      el(
        'span',
        { class: 'cell-from' },
        at === null || index === 0 ? '' : fromText(scale.direction, at),
      ),
    );
  });
  const note = `${scale.scale}; ${scale.provenance}. Classes are drawn equally wide.`;
  return el(
    'figure',
    { class: 'scale' },
    el('ol', { class: 'scale-cells', 'aria-label': scale.scale }, ...cells),
    el('figcaption', { class: 'soft' }, note),
  );
}

function fromText(direction: 'up' | 'down', at: number): string {
  return `${direction === 'up' ? 'from' : 'up to'} ${figure(at)}`;
}
