import { crc32, deflateSync } from 'node:zlib';

const WIDTH = 1200;
const HEIGHT = 630;
const PALETTE = ['#12324a', '#f4f1e8', '#f2b134', '#8fb2c9'] as const;
const [CREAM, GOLD, BLUE] = [1, 2, 3];
const LEFT = 80;

/** Seven rows of five dots each, as numbers of base 32, by letter. */
const GLYPHS: Readonly<Record<string, string>> = {
  A: 'EHHVHHH',
  B: 'UHHUHHU',
  C: 'EHGGGHE',
  D: 'UHHHHHU',
  E: 'VGGUGGV',
  F: 'VGGUGGG',
  G: 'EHGNHHF',
  H: 'HHHVHHH',
  I: 'E44444E',
  J: '72222IC',
  K: 'HIKOKIH',
  L: 'GGGGGGV',
  M: 'HRLLHHH',
  N: 'HHPLJHH',
  O: 'EHHHHHE',
  P: 'UHHUGGG',
  Q: 'EHHHLID',
  R: 'UHHUKIH',
  S: 'FGGE11U',
  T: 'V444444',
  U: 'HHHHHHE',
  V: 'HHHHHA4',
  W: 'HHHLLLA',
  X: 'HHA4AHH',
  Y: 'HHA4444',
  Z: 'V1248GV',
  '0': 'EHJLPHE',
  '1': '4C4444E',
  '2': 'EH1248V',
  '3': 'V2421HE',
  '4': '26AIV22',
  '5': 'VGU11HE',
  '6': '68GUHHE',
  '7': 'V124888',
  '8': 'EHHEHHE',
  '9': 'EHHF12C',
  '.': '00000CC',
  ',': '0000C48',
  '-': '000V000',
  ':': '0CC0CC0',
  "'": 'C480000',
  '&': 'CIK8LID',
  '/': '01248G0',
  '(': '2488842',
  ')': '8422248',
  '+': '044V440',
};
const BLANK = '0000000';
const GLYPH_WIDTH = 6;

interface ImageLine {
  readonly text: string;
  readonly top: number;
  /** Pixels of a dot. */
  readonly size: number;
  readonly colour: number;
}

/** The picture of a shared link: a gauge, what is sold and whose it is. Letters that the face lacks are left out. */
export function ogImage(issuerName: string): Buffer {
  const pixels = new Uint8Array(WIDTH * HEIGHT);
  const picture: Picture = { width: WIDTH, height: HEIGHT, pixels, palette: PALETTE };
  gauge(picture);
  const lines: ImageLine[] = [
    { text: 'OFFICIAL', top: 90, size: 12, colour: CREAM },
    { text: 'READINGS,', top: 196, size: 12, colour: CREAM },
    { text: 'SIGNED.', top: 302, size: 12, colour: GOLD },
    { text: 'CHECK THEM YOURSELF', top: 430, size: 6, colour: CREAM },
    { text: nameLine(issuerName), top: 530, size: 4, colour: BLUE },
  ];
  for (const line of lines) write(picture, line);
  return png(picture);
}

const NAME_CHARS_MAX = 42;

function nameLine(name: string): string {
  const known = [...name.toUpperCase()].filter(
    (char) => char === ' ' || GLYPHS[char] !== undefined,
  );
  return known.join('').trim().slice(0, NAME_CHARS_MAX);
}

function write(picture: Picture, { text, top, size, colour }: ImageLine): void {
  for (const [at, char] of [...text].entries()) {
    const glyph = GLYPHS[char] ?? BLANK;
    for (const [row, dots] of [...glyph].entries()) {
      const bits = Number.parseInt(dots, 32);
      for (let column = 0; column < GLYPH_WIDTH - 1; column += 1) {
        const isSet = (bits >> (GLYPH_WIDTH - 2 - column)) & 1;
        const left = LEFT + (at * GLYPH_WIDTH + column) * size;
        if (isSet === 1) square(picture, { left, top: top + row * size, size, colour });
      }
    }
  }
}

function square(
  { width, pixels }: Picture,
  { left, top, size, colour }: { left: number; top: number; size: number; colour: number },
): void {
  for (let y = top; y < top + size; y += 1) {
    pixels.fill(colour, y * width + left, y * width + left + size);
  }
}

/** Centre, and the two radii of the arc. */
const GAUGE = { x: 980, y: 300, outer: 150, inner: 120 } as const;
const NEEDLE = { dx: 0.45, dy: -0.9, width: 9 } as const;

/** An upper half ring, a needle and its hub, pixel by pixel. */
function gauge({ width, pixels }: Picture): void {
  const { x, y, outer, inner } = GAUGE;
  for (let dy = -outer; dy <= 30; dy += 1) {
    for (let dx = -outer; dx <= outer; dx += 1) {
      const colour = gaugeColour(dx, dy, { outer, inner });
      if (colour !== 0) pixels[(y + dy) * width + x + dx] = colour;
    }
  }
}

function gaugeColour(
  dx: number,
  dy: number,
  { outer, inner }: { outer: number; inner: number },
): number {
  const far = Math.hypot(dx, dy);
  const along = dx * NEEDLE.dx + dy * NEEDLE.dy;
  const beside = Math.abs(dx * NEEDLE.dy - dy * NEEDLE.dx);
  if (far <= 24 || (along > 0 && along < inner - 12 && beside <= NEEDLE.width)) return GOLD;
  return dy <= 0 && far <= outer && far >= inner ? CREAM : 0;
}

/** A picture of few colours, one byte a pixel: which colour of the palette. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
  /** Colours as `#rrggbb`. */
  readonly palette: readonly string[];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS = 8;
const BY_PALETTE = 3;

/** The picture as a PNG file (RFC 2083). */
function png({ width, height, pixels, palette }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = BITS;
  header[9] = BY_PALETTE;
  // Each row begins with the number of its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  const colours = Buffer.from(palette.map((colour) => colour.slice(1)).join(''), 'hex');
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
