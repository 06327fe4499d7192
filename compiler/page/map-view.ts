import { type GeoPermissibleObjects, type GeoProjection, geoNaturalEarth1, geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { Topology } from 'topojson-specification';
import type { SiteMap, SiteMapRow, SitePoint } from '../catalog/site.ts';
import { recordUrl } from '../catalog/thing-urls.ts';
import { bandFor, classColour, sayTime, shadeOf, shown, valueIn } from '../products/shapes/say.ts';
import type { PageSignal } from './page-data.ts';
import { bandBadge, el, entityLink, routeLink } from './page-parts.ts';
import { routeHash } from './page-route.ts';
import { frameDays, pointOn } from './shapes.ts';

const WIDTH = 960;
const HEIGHT = 500;
const RADIUS = 5;
/** Entities that are listed under the map; the search finds the others. */
const LISTED_MAX = 30;
/** Pixels around a point that count as the point. */
const REACH = 14;

interface MapAsked {
  readonly signal: PageSignal;
  readonly map: SiteMap;
  readonly choices: readonly PageSignal[];
}

interface MapPoint {
  row: SiteMapRow;
  x: number;
  y: number;
}

interface MapState {
  asked: MapAsked;
  canvas: HTMLCanvasElement;
  land: GeoPermissibleObjects;
  projection: GeoProjection;
  placed: readonly MapPoint[];
  list: HTMLElement;
  output: HTMLOutputElement;
  day: string;
}

/** All entities of a signal that have a position, coloured by class, with a slider over the free last seven. */
export async function mapView(asked: MapAsked): Promise<HTMLElement> {
  const { signal, map } = asked;
  const days = frameDays(map.rows);
  const state = await stateOf(asked, days.at(-1) ?? '');
  const slider = sliderOf(state, days);
  state.canvas.addEventListener('click', (event) => {
    const row = nearest(state, event);
    if (row === null) return;
    location.assign(recordUrl(signal.signal_id, row[0]));
  });
  state.canvas.addEventListener('mousemove', (event) => {
    const row = nearest(state, event);
    state.canvas.title = row === null ? '' : shown(row[1] ?? row[0]);
    state.canvas.classList.toggle('hot', row !== null);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw(state));
  // Colours and sizes are those of the page, so the canvas is drawn once it stands in it.
  requestAnimationFrame(() => draw(state));
  return el(
    'article',
    { class: 'map' },
    el(
      'p',
      { class: 'crumbs' },
      routeLink({ view: 'home' }, 'Catalogue'),
      ' › ',
      routeLink({ view: 'signal', signal: signal.signal_id }, signal.signal_id),
    ),
    el('h2', { tabindex: '-1' }, `Map: ${signal.title}`),
    chooser(asked),
    state.canvas,
    slider,
    legend(signal),
    el('h3', {}, 'On the map'),
    state.list,
  );
}

async function stateOf(asked: MapAsked, day: string): Promise<MapState> {
  const atlas = await import('world-atlas/land-110m.json');
  const topology = atlas.default as unknown as Topology;
  const shape = topology.objects.land;
  if (shape === undefined) throw new RangeError('Cannot draw the map: its outlines have no land');
  const land: GeoPermissibleObjects = feature(topology, shape);
  const projection = fitted(asked.map.rows);
  const canvas = el('canvas', {
    width: `${WIDTH}`,
    height: `${HEIGHT}`,
    role: 'img',
    'aria-label': `Map of ${asked.map.rows.length} entities; the list below names them`,
  });
  const list = el('ul', { class: 'hits' });
  const output = el('output', { for: 'map-day' });
  const placed = asked.map.rows.flatMap((row): MapPoint[] => {
    const at = projection([row[3], row[2]]);
    return at === null ? [] : [{ row, x: at[0], y: at[1] }];
  });
  return { asked, canvas, land, projection, placed, list, output, day };
}

const ROOM = 40;
/** Wider than this in degrees is the whole world. */
const REGION_DEGREES = 130;

/** The whole world, or the region of the points with room around them. */
function fitted(rows: readonly SiteMapRow[]): GeoProjection {
  const projection = geoNaturalEarth1();
  const within = (room: number): [[number, number], [number, number]] => [
    [room, room],
    [WIDTH - room, HEIGHT - room],
  ];
  const longitudes = rows.map((row) => row[3]);
  const span =
    longitudes.reduce((most, one) => Math.max(most, one), -180) -
    longitudes.reduce((least, one) => Math.min(least, one), 180);
  if (rows.length === 0 || span > REGION_DEGREES) {
    return projection.fitExtent(within(4), { type: 'Sphere' });
  }
  const coordinates = rows.map((row): [number, number] => [row[3], row[2]]);
  projection.fitExtent(within(ROOM), { type: 'MultiPoint', coordinates });
  // One point, or a few close ones, would fill the world.
  const [scale, most] = [projection.scale(), 1400];
  if (scale <= most && Number.isFinite(scale)) return projection;
  const [longitude, latitude] = coordinates[0] ?? [0, 0];
  return projection
    .scale(most)
    .translate([WIDTH / 2, HEIGHT / 2])
    .center([longitude, latitude]);
}

function draw(state: MapState): void {
  const { canvas, land, projection, placed } = state;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const colour = colours(canvas);
  const ratio = Math.min(2, devicePixelRatio);
  canvas.width = WIDTH * ratio;
  canvas.height = HEIGHT * ratio;
  context.scale(ratio, ratio);
  const path = geoPath(projection, context);
  context.fillStyle = colour('--sea');
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.beginPath();
  path(land);
  context.fillStyle = colour('--land');
  context.fill();
  context.strokeStyle = colour('--card');
  context.lineWidth = 1;
  for (const { row, x, y } of placed) {
    const band = bandOn(state, row);
    const shade = shadeOf(state.asked.signal, band);
    const own = band === null ? null : classColour(state.asked.signal, band);
    context.globalAlpha = pointOn(row[4], state.day) === null ? 0.35 : 1;
    context.fillStyle = own ?? colour(shade === null ? '--shade-none' : `--shade-${shade}`);
    context.beginPath();
    context.arc(x, y, placed.length > 2000 ? RADIUS / 2 : RADIUS, 0, 2 * Math.PI);
    context.fill();
    if (placed.length <= 2000) context.stroke();
  }
  context.globalAlpha = 1;
  state.output.textContent = state.day;
  showList(state);
}

/** Colours of the page, each read once for a drawing. */
function colours(element: Element): (name: string) => string {
  const known = new Map<string, string>();
  const probe = el('span');
  element.parentElement?.append(probe);
  const read = (name: string): string => {
    probe.style.setProperty('color', `var(${name})`);
    return getComputedStyle(probe).color;
  };
  const names = [
    '--sea',
    '--land',
    '--card',
    '--shade-none',
    ...[0, 1, 2, 3, 4, 5].map((at) => `--shade-${at}`),
  ];
  for (const name of names) known.set(name, read(name));
  probe.remove();
  return (name) => known.get(name) ?? 'currentcolor';
}

function bandOn({ asked, day }: MapState, row: SiteMapRow): string | null {
  const point = pointOn(row[4], day);
  if (point === null) return null;
  const [observed_at, value, band] = point;
  const current = {
    ...(value === null ? {} : { [asked.map.metric]: value }),
    ...(band == null ? {} : { band }),
  };
  return bandFor(asked.signal, { observed_at, current });
}

function shadeOn(state: MapState, row: SiteMapRow): number | null {
  return shadeOf(state.asked.signal, bandOn(state, row));
}

function sliderOf(state: MapState, days: readonly string[]): HTMLElement {
  const { output } = state;
  const slider = el('input', {
    type: 'range',
    id: 'map-day',
    min: '0',
    max: `${Math.max(0, days.length - 1)}`,
    value: `${Math.max(0, days.length - 1)}`,
    disabled: days.length < 2,
    'aria-valuetext': state.day,
  });
  slider.addEventListener('input', () => {
    state.day = days[Number(slider.value)] ?? state.day;
    slider.setAttribute('aria-valuetext', state.day);
    draw(state);
  });
  return el('p', { class: 'slider' }, el('label', { for: 'map-day' }, 'Day'), slider, output);
}

function legend(signal: PageSignal): HTMLElement | null {
  const unclassed = 'No agency classes this signal, so all points have one colour.';
  if (signal.bands.length === 0) return el('p', { class: 'soft' }, unclassed);
  return el(
    'ul',
    { class: 'legend', 'aria-label': 'Classes' },
    ...signal.bands.map((band) => el('li', {}, bandBadge(signal, band))),
  );
}

function chooser({ signal, choices }: MapAsked): HTMLElement {
  const select = el('select', {
    id: 'map-signal',
    change: () => {
      location.hash = routeHash({ view: 'map', signal: select.value });
    },
  });
  const options = choices.map(({ signal_id, title, line_title }) =>
    el(
      'option',
      { value: signal_id, selected: signal_id === signal.signal_id },
      `${title} (${line_title})`,
    ),
  );
  select.append(...options);
  return el('p', { class: 'actions' }, el('label', { for: 'map-signal' }, 'Signal'), select);
}

/** The worst classes first, as links: what a pointer does on the map, keys do here. */
function showList(state: MapState): void {
  const { list, placed } = state;
  const { signal } = state.asked;
  const ranked = placed.map(({ row }) => ({ row, shade: shadeOn(state, row) ?? -1 }));
  ranked.sort((one, other) => other.shade - one.shade);
  list.replaceChildren(...ranked.slice(0, LISTED_MAX).map(({ row }) => listItem(state, row)));
  if (ranked.length > LISTED_MAX) {
    const all = `all ${ranked.length.toLocaleString('en')}`;
    list.append(el('li', {}, routeLink({ view: 'signal', signal: signal.signal_id }, all)));
  }
}

function listItem(state: MapState, row: SiteMapRow): HTMLElement {
  const { signal } = state.asked;
  const [entity, name, , , points] = row;
  const point = pointOn(points, state.day);
  const band = bandOn(state, row);
  return el(
    'li',
    {},
    entityLink(signal.signal_id, entity, name),
    ` ${point === null ? 'nothing free so early' : pointText(state, point, entity)} `,
    band === null ? null : bandBadge(signal, band),
  );
}

function pointText({ asked }: MapState, [observed_at, value]: SitePoint, entity: string): string {
  const { signal, map } = asked;
  const text = valueIn(signal, { [map.metric]: value }, map.metric);
  return `${text}, ${sayTime(observed_at, signal.cadence, signal.zones[entity])}`;
}

function nearest(state: MapState, event: MouseEvent): SiteMapRow | null {
  const { canvas, placed } = state;
  const box = canvas.getBoundingClientRect();
  const zoom = WIDTH / box.width;
  const [x, y] = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
  let best: { row: SiteMapRow; far: number } | null = null;
  for (const one of placed) {
    const far = Math.hypot(one.x - x, one.y - y);
    if (far < REACH * Math.max(1, zoom) && (best === null || far < best.far))
      best = { row: one.row, far };
  }
  return best?.row ?? null;
}
