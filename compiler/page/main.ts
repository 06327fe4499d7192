import type { SiteChange, SiteChanges } from '../catalog/site.ts';
import { recordUrl } from '../catalog/thing-urls.ts';
import { openNote } from '../format/checkpoint.ts';
import { HOUR_MS } from '../format/iso-time.ts';
import { ageText, say, sayTime, shown } from '../products/shapes/say.ts';
import { type Catalogue, catalogue } from './catalogue.ts';
import { makeRoom } from './make-room.ts';
import {
  mapOf,
  type PageShop,
  type PageSignal,
  type SignalIndex,
  shop,
  signalIndex,
  textAt,
} from './page-data.ts';
import { el, failureNote, mount, whenNear } from './page-parts.ts';
import { type PageRoute, parseRoute } from './page-route.ts';
import { type VerifyPanel, verifyPanel } from './verify-panel.ts';

// The program of the page for people: it fills what the compiled index leaves open. Without it the page still says
// everything that is needed to buy.

const LOG_URL = '/log/checkpoint';

interface Page {
  shop: PageShop;
  index: SignalIndex;
  panel: VerifyPanel;
  catalogue: Catalogue;
}

void start();

async function start(): Promise<void> {
  document.documentElement.dataset.program = 'on';
  const verifySection = mount('verify');
  const { issuerDid } = document.body.dataset;
  if (issuerDid === undefined) throw new TypeError('Cannot start the page: it names no issuer');
  const panel = verifyPanel(issuerDid);
  verifySection.hidden = false;
  mount('catalogue').hidden = false;
  void witnesses(mount('witnesses'));
  try {
    showAge(mount('age'));
    const changes = mount('changes');
    whenNear(changes, () => void fillChanges(changes));
    const sold = await shop();
    const index = signalIndex(sold.signals);
    const page: Page = { shop: sold, index, panel, catalogue: catalogue(sold, index) };
    // A first view keeps the place of the reader; a change of the address moves to what it opened.
    addEventListener('hashchange', () => void follow(page));
    await follow(page);
    const map = mount('map');
    whenNear(map, () => void fillMap(map, page));
  } catch (error) {
    mount('catalogue').prepend(failureNote(error));
  }
}

/** The map of home, unless one was asked for meanwhile. */
async function fillMap(map: HTMLElement, page: Page): Promise<void> {
  if (map.querySelector('canvas') !== null) return;
  map.replaceChildren(await mapOn(map.dataset.signal ?? null, page).catch(failureNote));
}

/** Says so where the release is older than its data should be. */
function showAge(place: HTMLElement): void {
  const { asOf = '', freshHours } = document.body.dataset;
  const hours = (Date.now() - Date.parse(asOf)) / HOUR_MS;
  if (hours > Number(freshHours)) place.textContent = `This release is ${ageText(hours)} old.`;
}

/** Who else signed the checkpoint of now: witnesses sign after the page was made. */
async function witnesses(place: HTMLElement): Promise<void> {
  const opened = await textAt(LOG_URL).then(openNote, () => null);
  if (opened === null) return;
  const { note, checkpoint } = opened;
  const names = note.signatures.flatMap(({ name }) => (name === checkpoint.origin ? [] : name));
  if (names.length === 0) return;
  const all = [...new Set(names)].map(shown).join(', ');
  place.textContent = `Cosigned by ${all}. Whom of them you trust is for you to say.`;
}

let followed = 0;

/** Shows what the address names. An address that is no route is a place of the page, which the browser finds itself. */
async function follow(page: Page): Promise<void> {
  const route = parseRoute(location.hash);
  if (route === null) return leaveTo(location.hash);
  if (route.view === 'moved') return location.replace(route.url);
  followed += 1;
  const own = followed;
  if (route.view === 'find') page.catalogue.find(route.query);
  if (route.view === 'hash') page.panel.judge(route.hash, 'the hash of the address');
  const section = makeRoom(route);
  if (section === null)
    return reveal(route.view === 'find' ? 'catalogue' : route.view === 'hash' ? 'verify' : null);
  const place = mount(section);
  reveal(section);
  const made = await viewOf(route, page).catch(failureNote);
  if (own !== followed) return;
  place.replaceChildren(made);
  place.removeAttribute('aria-busy');
  // While it was short, the page could not be scrolled as far.
  reveal(section);
  place.querySelector('h2')?.focus({ preventScroll: true });
}

/** The list of the catalogue is out of the way while something of it is open. */
function leaveTo(hash: string): void {
  if (hash !== '#catalogue') return;
  document.body.dataset.view = 'home';
  reveal('catalogue');
}

function reveal(id: string | null): void {
  if (id !== null) document.getElementById(id)?.scrollIntoView();
}

/** Views are loaded when they are first asked for. */
async function viewOf(route: PageRoute, page: Page): Promise<HTMLElement> {
  switch (route.view) {
    case 'signal': {
      const { signalView } = await import('./signal-view.ts');
      return signalView(signalOf(route.signal, page));
    }
    case 'map':
      return mapOn(route.signal, page);
    case 'bought': {
      const { boughtView } = await import('./purchase-view.ts');
      return boughtView();
    }
    default:
      return el('p');
  }
}

async function mapOn(id: string | null, { shop, index }: Page): Promise<HTMLElement> {
  const choices = shop.signals.filter(({ map }) => map !== null);
  const signal = id === null ? choices[0] : index.byId.get(id);
  if (signal === undefined || signal.map === null) {
    throw new RangeError(`Cannot show a map of "${id ?? 'anything'}": no entity has a position`);
  }
  const [{ mapView }, map] = await Promise.all([import('./map-view.ts'), mapOf(signal.map)]);
  return mapView({ signal, map, choices });
}

function signalOf(id: string, { index }: Page): PageSignal {
  const signal = index.byId.get(id);
  if (signal === undefined) {
    throw new RangeError(`Cannot show "${id}": nothing of this signal is stored; search above`);
  }
  return signal;
}

/** Changes that the page lists; the feed has more. */
const LISTED_MAX = 6;

const WORDS: Readonly<Record<SiteChange['change'], string>> = {
  new: 'first reading',
  newer: 'new reading',
  revised: 'revised by its source',
  older: 'its source went back to an older reading',
  gone: 'no longer published here',
};

/** Lists what this release brought. */
async function fillChanges(section: HTMLElement): Promise<void> {
  const list = section.querySelector('ul') ?? section.appendChild(el('ul'));
  try {
    const { changes } = JSON.parse(await textAt('/changes.json')) as SiteChanges;
    const { byId } = signalIndex((await shop()).signals);
    const items = changes.slice(0, LISTED_MAX).map((change) => {
      const { signal_id, entity, observed_at } = change;
      const signal = byId.get(signal_id);
      const zone = signal?.zones[entity];
      const topic =
        signal === undefined
          ? shown(change.entity_name ?? entity)
          : say(signal, { ...change, zone }).topic;
      const what = `, ${sayTime(observed_at, signal?.cadence, zone)}: ${WORDS[change.change]}`;
      const link = el('a', { href: recordUrl(signal_id, entity) }, el('bdi', {}, topic));
      return el('li', {}, change.change === 'gone' ? topic : link, what);
    });
    list.replaceChildren(
      ...(items.length === 0 ? [el('li', {}, 'Nothing new since the release before.')] : items),
    );
  } catch (error) {
    list.replaceChildren(el('li', {}, failureNote(error)));
  }
}
