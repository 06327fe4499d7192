import { howToBuy } from '../contract/how-to-buy.ts';
import { el } from './dom.ts';

/** What is on screen, as it is bought. */
interface OnScreen {
  /** Canonical `path?query`. */
  readonly target: string;
  readonly pair: { readonly signal_id: string; readonly entity: string } | null;
}

/** Fills the examples of how to buy with what is on screen; the chosen language stays chosen. */
export function fillBuyTabs(onScreen: OnScreen): void {
  const tabs = document.querySelector('#buy .tabs');
  if (tabs === null) return;
  const baseUrl = document.body.dataset.baseUrl ?? location.origin;
  const chosen = tabs.querySelector('input:checked')?.id;
  const template = el('template');
  // Markup of the compiler, by the same function, which escapes what it is given.
  template.innerHTML = howToBuy({ baseUrl, ...onScreen }).toString();
  const made = template.content.firstElementChild;
  if (made === null) return;
  tabs.replaceWith(made);
  const again = chosen === undefined ? null : document.getElementById(chosen);
  if (again instanceof HTMLInputElement) again.checked = true;
}
