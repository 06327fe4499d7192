type ElementChild = Node | string | null;
type Attribute = string | boolean | ((event: Event) => void);
type Attributes = Readonly<Record<string, Attribute>>;

/** Makes an element. Text becomes text, never markup; a function is a listener; `false` leaves an attribute out. */
export function el<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly ElementChild[]
): HTMLElementTagNameMap[Name] {
  return filled(document.createElement(name), attributes, children);
}

const SVG = 'http://www.w3.org/2000/svg';

/** The same for drawings. */
export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
  ...children: readonly ElementChild[]
): SVGElement {
  const texts = Object.entries(attributes).map(([key, value]) => [key, String(value)]);
  return filled(document.createElementNS(SVG, name), Object.fromEntries(texts), children);
}

function filled<Made extends Element>(
  made: Made,
  attributes: Attributes,
  children: readonly ElementChild[],
): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value !== false) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** An element of the compiled index; a page without it was compiled by another release. */
export function mount(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new RangeError(`Cannot fill the page: it has no element "${id}"`);
  return found;
}
