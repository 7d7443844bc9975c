// Draws docs/notebooks/pictures: of each notebook the cells with the tag "picture", as their files hold them, code and output.
// Usage, from web/: node test/notebook_pictures.mjs; needs Chromium (CHROMIUM names another than /usr/bin/chromium).
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { launched } from './look.mjs';

const folder = fileURLToPath(new URL('../../docs/notebooks/', import.meta.url));
const kLargest = 60_000;    // bytes of a picture
const kStyle = `
  body { margin: 0; background: #fff; font: 13px/1.4 "DejaVu Sans", sans-serif; color: #222; }
  main { width: 760px; padding: 12px; display: inline-block; }
  .code { background: #f5f5f5; border: 1px solid #ddd; padding: 6px 8px; margin: 10px 0 6px; }
  pre { font: 12px/1.35 "DejaVu Sans Mono", monospace; margin: 0; white-space: pre-wrap; }
  .output { padding: 0 8px; }
  p { margin: 6px 0; } ul { margin: 4px 0; padding-left: 20px; }
  table { border-collapse: collapse; font-size: 12px; margin: 6px 0; }
  td, th { padding: 2px 8px; text-align: right; } tr:nth-child(odd) { background: #f5f5f5; }`;

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

function outputOf({ data, text }) {
  if (text) return `<pre>${escaped(text.join(''))}</pre>`;
  const [form, lines] = Object.entries(data)[0];
  return form === 'text/plain' ? `<pre>${escaped(lines.join(''))}</pre>` : lines.join('');
}

function pageOf(notebook) {
  const shown = notebook.cells.filter((cell) => cell.metadata.tags?.includes('picture'));
  const cells = shown.map((cell) => `<div class="code"><pre>${escaped(cell.source.join(''))}</pre></div>
    <div class="output">${cell.outputs.map(outputOf).join('')}</div>`);
  return `<!doctype html><meta charset="utf-8"><style>${kStyle}</style><main>${cells.join('')}</main>`;
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]), length = Buffer.alloc(4), check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** The points of a PNG of 8 bits a colour, row by row, with its filters undone. */
function pointsOf(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20), of = { 2: 3, 6: 4 }[png[25]], stride = width * of;
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts)), out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; ++i) {
      const here = y * stride + i, left = i < of ? 0 : out[here - of], up = y ? out[here - stride] : 0, corner = y && i >= of ? out[here - stride - of] : 0;
      const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      out[here] = raw[y * (stride + 1) + 1 + i] + [0, left, up, (left + up) >> 1, paeth][filter];
    }
  }
  return { width, height, of, out };
}

/** A PNG of at most 256 colours, 16 steps a channel: text and charts need no more, and take a third of the bytes. */
function packed(png) {
  const { width, height, of, out } = pointsOf(png), colours = new Map(), rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; ++y) for (let x = 0; x < width; ++x) {
    const at = (y * width + x) * of, rgb = [0, 1, 2].map((k) => Math.round(out[at + k] / 17) * 17), key = rgb.join();
    if (!colours.has(key)) colours.set(key, [colours.size, rgb]);
    rows[y * (width + 1) + 1 + x] = colours.get(key)[0];
  }
  if (colours.size > 256) throw new Error(`${colours.size} colours`);
  const header = Buffer.from(png.subarray(16, 29));
  header[9] = 3;
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', header), chunk('PLTE', Buffer.from([...colours.values()].flatMap(([, rgb]) => rgb))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

mkdirSync(folder + 'pictures', { recursive: true });
const browser = await launched();
const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
for (const name of readdirSync(folder).filter((file) => file.endsWith('.ipynb'))) {
  await page.setContent(pageOf(JSON.parse(readFileSync(folder + name))));
  const path = `${folder}pictures/${name.replace('.ipynb', '.png')}`;
  const png = packed(await page.locator('main').screenshot());
  writeFileSync(path, png);
  const bytes = png.length;
  console.log(`${path}: ${bytes} bytes`);
  if (bytes > kLargest) throw new Error(`${path} has ${bytes} bytes, at most ${kLargest}: give fewer cells the tag "picture"`);
}
await browser.close();
