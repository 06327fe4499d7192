import type { Verification, VerificationStep } from '../client/verify.ts';
import { messageOf } from '../format/errors.ts';
import { shown } from '../products/shapes/say.ts';
import { alteredDigit } from './hashed-json.ts';
import { textAt } from './page-data.ts';
import { el, mount } from './page-parts.ts';

// "Is this genuine?": what is dropped or pasted is judged in this page by the code of `signalpress verify`. Nothing is
// sent anywhere, except for a hash, whose proof is asked for.

const HASH = /^(?:sha256:)?([0-9a-f]{64})$/i;
/** Longest file that is judged here; the command line takes larger ones. */
const FILE_BYTES_MAX = 33_554_432;
/** Pause between the steps, so that a reader can follow them. */
const STEP_MS = 90;
const SAMPLE_URL = '/gauge/sample';
const KEYS_URL = '/.well-known/keys.json';

const STATUS = {
  pass: { mark: '✓', word: 'holds' },
  fail: { mark: '✗', word: 'does not hold' },
  not_applicable: { mark: '–', word: 'not shown' },
} as const;

/** Verified, failed or cannot be judged, as the command says it. */
export const VERDICT: Readonly<Record<Verification['verdict'], string>> = {
  verified: 'Verified: everything holds, and the issuer of this shop signed it.',
  partly_verified:
    'Verified, for a part only: its citation or its hash holds, and nothing else is shown.',
  issuer_unknown: 'Cannot be judged: everything holds, but nobody here can say who the signer is.',
  failed: 'Failed: at least one check does not hold.',
  unsigned: 'Cannot be judged: nothing contradicts itself, but not all of it is signed.',
  unproven:
    'Cannot be judged: everything holds, but nothing shows that it is in the log of the shop.',
};

const INVITATION =
  'Each check appears here as it is made: what it shows, and what it does not. Try a genuine one, then alter one digit.';

export interface VerifyPanel {
  /** Judges a text as if it had been pasted; `what` says what it is. */
  judge(text: string, what: string): void;
}

type PanelParts = ReturnType<typeof partsOf>;

/** Fills the hero; the judge, which weighs more than all else, is loaded when somebody comes near it. */
export function verifyPanel(issuer: string): VerifyPanel {
  const parts = partsOf();
  const panel = { judge: (text: string, what: string) => start(parts, { text, what, issuer }) };
  const read = (): void => panel.judge(parts.input.value, 'what you pasted');
  parts.input.addEventListener('paste', () => setTimeout(read));
  parts.alter.addEventListener('click', () => alter(parts, panel));
  mount('verify').append(layout(parts, { panel, read }));
  // Whoever comes near it will want it; from then on it works without a connection.
  const near = () => void Promise.allSettled([loadJudge(), textAt(KEYS_URL)]);
  for (const sign of ['focusin', 'pointerover', 'dragenter'])
    mount('verify').addEventListener(sign, near, { once: true, passive: true });
  return panel;
}

function partsOf() {
  const input = el('textarea', {
    id: 'verify-input',
    rows: '5',
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-describedby': 'verify-help',
    placeholder: '{"nature": …}   or   sha256:…',
  });
  const alter = el('button', { type: 'button', class: 'quiet', disabled: true }, 'Alter one digit');
  const verdict = el('p', { class: 'verdict', role: 'status' }, INVITATION);
  const steps = el('ol', { class: 'steps', 'aria-label': 'Checks' });
  return { input, alter, verdict, steps };
}

function layout(
  { input, alter, verdict, steps }: PanelParts,
  { panel, read }: { panel: VerifyPanel; read: () => void },
): HTMLElement {
  const file = el('input', {
    type: 'file',
    id: 'verify-file',
    accept: '.json,application/json',
    change: () => void readFile(file.files?.[0] ?? null, panel),
  });
  const zone = el(
    'div',
    { class: 'drop' },
    el(
      'label',
      { for: 'verify-input' },
      'Paste what you bought, or a record hash, or drop a file here',
    ),
    input,
    el(
      'div',
      { class: 'actions' },
      el('button', { type: 'button', id: 'verify-run', click: read }, 'Check it'),
      el(
        'button',
        { type: 'button', class: 'quiet', click: () => void sample(panel) },
        'Try a genuine one',
      ),
      alter,
      el('label', { class: 'file', for: 'verify-file' }, 'Choose a file'),
      file,
    ),
    el(
      'p',
      { id: 'verify-help', class: 'soft' },
      'Checked in this page, with the code of the command line. Nothing is sent anywhere; only for a hash, this shop is asked for its proof.',
    ),
  );
  acceptDrops(zone, panel);
  return el('div', { class: 'verify' }, zone, el('div', { class: 'outcome' }, verdict, steps));
}

function acceptDrops(zone: HTMLElement, panel: VerifyPanel): void {
  const over = (event: Event): void => {
    event.preventDefault();
    zone.classList.add('over');
  };
  zone.addEventListener('dragover', over);
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    zone.classList.remove('over');
    const { dataTransfer } = event;
    const file = dataTransfer?.files[0];
    if (file !== undefined) void readFile(file, panel);
    else panel.judge(dataTransfer?.getData('text') ?? '', 'what you dropped');
  });
}

async function readFile(file: File | null, panel: VerifyPanel): Promise<void> {
  if (file === null) return;
  const isLong = file.size > FILE_BYTES_MAX;
  panel.judge(isLong ? '' : await file.text(), isLong ? TOO_LONG : shown(file.name));
}

const TOO_LONG = 'a file that is too long for a page; use signalpress verify';

async function sample(panel: VerifyPanel): Promise<void> {
  const text = await textAt(SAMPLE_URL).catch((error: unknown) => messageOf(error));
  panel.judge(text, 'the free sample of this shop');
}

function alter({ input }: PanelParts, panel: VerifyPanel): void {
  const altered = alteredDigit(input.value);
  if (altered === null) return;
  const { text, at, was, is, before } = altered;
  panel.judge(text, `the same body, with ${before}${was} changed to ${before}${is}`);
  input.setSelectionRange(at, at + 1);
  // A field does not scroll to what is selected in it.
  input.scrollTop = (at / text.length) * input.scrollHeight - input.clientHeight / 2;
}

interface PanelInput {
  text: string;
  what: string;
  issuer: string;
}

/** Counts the runs: a newer one ends the showing of an older one. */
let run = 0;

function start(parts: PanelParts, judged: PanelInput): void {
  run += 1;
  const { text, what } = judged;
  parts.input.value = text;
  parts.alter.disabled = alteredDigit(text) === null;
  parts.steps.replaceChildren();
  parts.verdict.className = 'verdict';
  parts.verdict.textContent = text.trim() === '' ? `Nothing to check in ${what}.` : 'Checking …';
  if (text.trim() !== '') void show(parts, judged, run);
}

async function show(parts: PanelParts, judged: PanelInput, own: number): Promise<void> {
  try {
    const { text, note } = await bodyOf(judged);
    const outcome = await outcomeOf(text, judged.issuer);
    for (const step of outcome.steps) {
      if (own !== run) return;
      parts.steps.append(stepItem(step));
      await pause();
    }
    if (own === run) {
      const { verdict, issuer, steps } = outcome;
      const failed = steps.find(({ status }) => status === 'fail');
      parts.verdict.className = `verdict ${verdict}`;
      const found = failed?.findings.find(({ status }) => status === 'fail');
      const where = found?.where ?? '';
      parts.verdict.replaceChildren(
        el('strong', {}, VERDICT[verdict]),
        ` ${note}`,
        ...(found === undefined
          ? []
          : [` First fault${where === '' ? '' : `, at ${shown(where)}`}: ${shown(found.detail)}.`]),
        ...(issuer === null ? [] : [el('br'), 'Signed by ', el('code', {}, shown(issuer))]),
      );
    }
  } catch (error) {
    if (own === run) parts.verdict.textContent = messageOf(error);
  }
}

/** A hash is judged by the proof that the shop gives for it. */
async function bodyOf({ text, what }: PanelInput): Promise<{ text: string; note: string }> {
  const hash = HASH.exec(text.trim())?.[1]?.toLowerCase();
  if (hash === undefined) return { text, note: `Checked: ${what}.` };
  const proof = await textAt(`/proof/sha256:${hash}`);
  const { found } = JSON.parse(proof) as { found?: unknown };
  if (found !== true) throw new RangeError('The log of this shop does not hold this hash.');
  const note = `Checked: the proof of the log for ${hash.slice(0, 12)}…. It shows that the hash was published, not what it stands for.`;
  return { text: proof, note };
}

/** Judges a text for the issuer of the page, with its announced keys. */
export async function outcomeOf(text: string, issuer: string): Promise<Verification> {
  const { verify } = await loadJudge();
  const keys = await textAt(KEYS_URL).then(
    (list) => JSON.parse(list) as unknown,
    () => undefined,
  );
  const now = Date.now();
  const own = verify(text, { issuer, now, ...(keys === undefined ? {} : { keys }) });
  // Of another issuer everything but the signer may hold: that is worth saying.
  const isOther = own.steps.some(({ id, status }) => id === 'issuer' && status === 'fail');
  return isOther ? verify(text, { now }) : own;
}

const loadJudge = () => import('../client/verify.ts');

export function stepItem(step: VerificationStep): HTMLElement {
  const { mark, word } = STATUS[step.status];
  const unproven = step.doesNotProve.slice(0, 1).toLowerCase() + step.doesNotProve.slice(1);
  const details = step.findings.map(({ where, status, detail }) =>
    el('li', { class: status }, `${where === '' ? 'the body' : shown(where)}: ${shown(detail)}`),
  );
  return el(
    'li',
    { class: step.status, 'data-step': step.id },
    el('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    el('strong', {}, step.title),
    el('span', { class: 'word' }, word),
    el('p', {}, step.proves, ' ', el('span', { class: 'soft' }, `Does not show: ${unproven}`)),
    details.length === 0
      ? null
      : el(
          'details',
          {},
          el('summary', {}, `${details.length} ${details.length === 1 ? 'check' : 'checks'}`),
          el('ul', {}, ...details),
        ),
  );
}

function pause(): Promise<void> {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  return new Promise((done) => setTimeout(done, isStill ? 0 : STEP_MS));
}
