import { type GeoPermissibleObjects, type GeoProjection, geoNaturalEarth1, geoPath } from 'd3-geo';
import { select } from 'd3-selection';
import { type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { SiteMap, SiteMapRow, SitePoint } from '../catalog/site.ts';
import { recordUrl } from '../catalog/thing-urls.ts';
import { bandFor, classColour, sayTime, shadeOf, shown, valueIn } from '../products/shapes/say.ts';
import type { PageSignal } from './page-data.ts';
import { bandBadge, el, routeLink } from './page-parts.ts';
import { routeHash } from './page-route.ts';
import { frameDays, pointOn } from './shapes.ts';

const WIDTH = 960;
const HEIGHT = 500;
const RADIUS = 5;
/** Entities that are listed under the map; the search finds the others. */
const LISTED_MAX = 30;
/** Pixels around a point that count as the point. */
const REACH = 14;
const ZOOM_MAX = 40;
/** What a button of the map makes larger or smaller. */
const ZOOM_STEP = 2;
/** Points of a view up to which each shows its value. */
const LABELLED_MAX = 60;
const LABEL_PIXELS = 13;
/** Shades from this one on have a ring. */
const RINGED_SHADE = 4;

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

interface Outlines {
  land: GeoPermissibleObjects;
  borders: GeoPermissibleObjects;
  /** Borders of the states of the US, read once they are in view. */
  states: GeoPermissibleObjects | null;
}

interface MapState {
  asked: MapAsked;
  canvas: HTMLCanvasElement;
  outlines: Outlines;
  projection: GeoProjection;
  /** In pixels of the screen. */
  transform: ZoomTransform;
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
  const buttons = zoomable(state);
  state.canvas.addEventListener('click', (event) => {
    const row = nearest(state, event);
    if (row !== null) location.assign(recordUrl(signal.signal_id, row[0]));
  });
  state.canvas.addEventListener('mousemove', (event) => {
    const row = nearest(state, event);
    state.canvas.title = row === null ? '' : shown(row[1] ?? row[0]);
    state.canvas.classList.toggle('hot', row !== null);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => draw(state));
  // Colours and sizes are those of the page, so the canvas is drawn once it stands in it.
  requestAnimationFrame(() => showDay(state));
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
    el('figure', {}, state.canvas, buttons),
    slider,
    legend(signal),
    el('h3', {}, 'On the map'),
    state.list,
  );
}

async function stateOf(asked: MapAsked, day: string): Promise<MapState> {
  const atlas = await import('world-atlas/countries-110m.json');
  const topology = atlas.default as unknown as Topology;
  const { land, countries } = topology.objects;
  if (land === undefined || countries === undefined) {
    throw new RangeError('Cannot draw the map: its outlines have no land');
  }
  const outlines = {
    land: feature(topology, land),
    borders: bordersOf(topology, countries as GeometryCollection),
    states: null,
  };
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
  const transform = zoomIdentity;
  return { asked, canvas, outlines, projection, transform, placed, list, output, day };
}

/** What two areas share; a coast is no border. */
function bordersOf(topology: Topology, areas: GeometryCollection): GeoPermissibleObjects {
  return mesh(topology, areas, (one, other) => one !== other);
}

/** Wheel, fingers and buttons. A page that is scrolled goes on over the map: the wheel zooms once the map was pressed. */
function zoomable(state: MapState): HTMLElement {
  const { canvas } = state;
  let isHeld = false;
  canvas.addEventListener('pointerdown', () => {
    isHeld = true;
  });
  canvas.addEventListener('pointerleave', () => {
    isHeld = false;
  });
  const box = (): [[number, number], [number, number]] => [
    [0, 0],
    [canvas.clientWidth, canvas.clientHeight],
  ];
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([1, ZOOM_MAX])
    .extent(box)
    .filter((event: Event) => {
      if (event instanceof WheelEvent) return isHeld || event.ctrlKey;
      if (state.transform.k > 1) return true;
      return !('touches' in event) || (event as TouchEvent).touches.length > 1;
    })
    .on('zoom', ({ transform }: { transform: ZoomTransform }) => {
      state.transform = transform;
      canvas.classList.toggle('near', transform.k > 1);
      draw(state);
    });
  const drawn = select(canvas).call(behaviour);
  const fit = (): void => {
    behaviour.translateExtent(box());
    drawn.call(behaviour.transform, zoomIdentity);
  };
  new ResizeObserver(fit).observe(canvas);
  const button = (text: string, label: string, click: () => void): HTMLElement =>
    el('button', { type: 'button', class: 'quiet', 'aria-label': label, click }, text);
  return el(
    'div',
    { class: 'zoom', role: 'group', 'aria-label': 'Zoom' },
    button('+', 'Zoom in', () => drawn.call(behaviour.scaleBy, ZOOM_STEP)),
    button('−', 'Zoom out', () => drawn.call(behaviour.scaleBy, 1 / ZOOM_STEP)),
    button('Reset', 'Reset the map', fit),
  );
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

/** Pixels of the drawing for one of the screen. */
function drawnPixels({ canvas }: MapState): number {
  return WIDTH / (canvas.clientWidth || WIDTH);
}

/** Where a point stands in the drawing. */
function placeOf(state: MapState, { x, y }: MapPoint): readonly [x: number, y: number] {
  const { k, x: left, y: top } = state.transform;
  const pixels = drawnPixels(state);
  return [x * k + left * pixels, y * k + top * pixels];
}

function draw(state: MapState): void {
  const { canvas, placed } = state;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const colour = colours(canvas);
  const ratio = Math.min(2, devicePixelRatio);
  canvas.width = WIDTH * ratio;
  canvas.height = HEIGHT * ratio;
  context.scale(ratio, ratio);
  drawOutlines(state, context, colour);
  // The worst lie on top.
  const ranked = placed
    .map((point) => ({ point, shade: shadeOn(state, point.row) ?? -1, at: placeOf(state, point) }))
    .filter(({ at: [x, y] }) => x > 0 && x < WIDTH && y > 0 && y < HEIGHT)
    .sort((one, other) => one.shade - other.shade);
  for (const { point, shade, at } of ranked) {
    drawPoint(state, context, { row: point.row, shade, at, isMany: ranked.length > 2000, colour });
  }
  if (ranked.length <= LABELLED_MAX && state.transform.k > 1) {
    const labels = ranked.reverse().map(({ point, at }) => ({ row: point.row, at }));
    drawLabels(state, context, { labels, colour });
  }
}

function showDay(state: MapState): void {
  draw(state);
  state.output.textContent = state.day;
  showList(state);
}

function drawOutlines(
  state: MapState,
  context: CanvasRenderingContext2D,
  colour: (name: string) => string,
): void {
  const { projection, transform, outlines } = state;
  const { land, borders, states } = outlines;
  const path = geoPath(projection, context);
  const pixels = drawnPixels(state);
  context.fillStyle = colour('--sea');
  context.fillRect(0, 0, WIDTH, HEIGHT);
  context.save();
  context.translate(transform.x * pixels, transform.y * pixels);
  context.scale(transform.k, transform.k);
  context.beginPath();
  path(land);
  context.fillStyle = colour('--land');
  context.fill();
  context.strokeStyle = colour('--border');
  const isNear = showsStates(state);
  for (const lines of isNear && states !== null ? [borders, states] : [borders]) {
    context.lineWidth = (lines === borders ? 1 : 0.7) / transform.k;
    context.beginPath();
    path(lines);
    context.stroke();
  }
  context.restore();
  if (isNear && states === null) void readStates(state);
}

/** Pixels of a radian from which borders of states are told apart. */
const STATES_SCALE = 300;

/** Whether the view shows a part of the US, and near enough. */
function showsStates(state: MapState): boolean {
  const { projection, transform } = state;
  if (projection.scale() * transform.k < STATES_SCALE) return false;
  const [from, to] = [projection([-125, 50]), projection([-66, 24])];
  if (from === null || to === null) return false;
  const at = ([x, y]: [number, number]) => placeOf(state, { x, y } as MapPoint);
  const [[left, top], [right, bottom]] = [at(from), at(to)];
  return left < WIDTH && right > 0 && top < HEIGHT && bottom > 0;
}

let statesRead: Promise<GeoPermissibleObjects> | null = null;

async function readStates(state: MapState): Promise<void> {
  statesRead ??= import('us-atlas/states-10m.json').then((atlas) => {
    const topology = atlas.default as unknown as Topology;
    return bordersOf(topology, topology.objects.states as GeometryCollection);
  });
  state.outlines.states = await statesRead;
  draw(state);
}

interface DrawnPoint {
  readonly row: SiteMapRow;
  readonly shade: number;
  readonly at: readonly [x: number, y: number];
  readonly isMany: boolean;
  readonly colour: (name: string) => string;
}

/** A worse class is a larger point, and the worst have a ring: colour is not the only sign. */
function drawPoint(
  state: MapState,
  context: CanvasRenderingContext2D,
  { row, shade, at: [x, y], isMany, colour }: DrawnPoint,
): void {
  const band = bandOn(state, row);
  const own = band === null ? null : classColour(state.asked.signal, band);
  const pixels = drawnPixels(state);
  const radius = (isMany ? RADIUS / 2 : RADIUS + Math.max(0, shade) * 0.5) * Math.min(pixels, 1.8);
  context.globalAlpha = pointOn(row[4], state.day) === null ? 0.35 : 1;
  context.fillStyle = own ?? colour(shade < 0 ? '--shade-none' : `--shade-${shade}`);
  context.strokeStyle = colour('--rim');
  context.lineWidth = 1;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  if (!isMany) context.stroke();
  if (shade >= RINGED_SHADE) {
    context.strokeStyle = colour('--text');
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, radius + 3, 0, 2 * Math.PI);
    context.stroke();
  }
  context.globalAlpha = 1;
}

/** Values beside their points, the worst first; one that would lie on another is left out. */
function drawLabels(
  state: MapState,
  context: CanvasRenderingContext2D,
  {
    labels,
    colour,
  }: {
    readonly labels: readonly Pick<DrawnPoint, 'row' | 'at'>[];
    readonly colour: DrawnPoint['colour'];
  },
): void {
  const { signal, map } = state.asked;
  const size = LABEL_PIXELS * drawnPixels(state);
  const taken: (readonly [x: number, y: number, width: number])[] = [];
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = size / 4;
  context.strokeStyle = colour('--land');
  context.fillStyle = colour('--text');
  for (const { row, at } of labels) {
    const point = pointOn(row[4], state.day);
    if (point === null) continue;
    const text = valueIn(signal, { [map.metric]: point[1] }, map.metric);
    const [x, y] = [at[0] + size, at[1]];
    const { width } = context.measureText(text);
    const isFree = taken.every(
      ([left, top, wide]) => x > left + wide || x + width < left || Math.abs(y - top) > size,
    );
    if (!isFree) continue;
    taken.push([x, y, width]);
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
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
    '--border',
    '--rim',
    '--text',
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
    showDay(state);
  });
  return el('p', { class: 'slider' }, el('label', { for: 'map-day' }, 'Day'), slider, output);
}

const RINGS = 'The worst classes have a ring.';

function legend(signal: PageSignal): HTMLElement {
  const unclassed = 'No agency classes this signal, so all points have one colour.';
  if (signal.bands.length === 0) return el('p', { class: 'soft' }, unclassed);
  const hasRings = signal.bands.some((band) => (shadeOf(signal, band) ?? 0) >= RINGED_SHADE);
  return el(
    'div',
    {},
    el(
      'ul',
      { class: 'legend', 'aria-label': 'Classes, the mildest first' },
      ...signal.bands.map((band) => el('li', {}, bandBadge(signal, band))),
    ),
    el('p', { class: 'soft' }, `The larger a point, the worse. ${hasRings ? RINGS : ''}`),
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
    el('a', { href: recordUrl(signal.signal_id, entity) }, el('bdi', {}, shown(name ?? entity))),
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
  const pixels = drawnPixels(state);
  const [left, top] = [(event.clientX - box.left) * pixels, (event.clientY - box.top) * pixels];
  let best: { row: SiteMapRow; far: number } | null = null;
  for (const point of placed) {
    const [x, y] = placeOf(state, point);
    const far = Math.hypot(x - left, y - top);
    if (far < REACH * Math.max(1, pixels) && (best === null || far < best.far))
      best = { row: point.row, far };
  }
  return best?.row ?? null;
}
