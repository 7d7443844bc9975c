// Opens pages that the program wrote from file:// in Chromium, and looks at what a reader would see.
// Usage: node test/run.mjs FORETRAIN [FOLDER for screenshots]; needs Chromium (CHROMIUM names another than /usr/bin/chromium).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const program = process.argv[2] ?? '../../build/release/foretrain';
const shots = process.argv[3] ?? 'screenshots';
const folder = mkdtempSync(join(tmpdir(), 'foretrain-page-'));
mkdirSync(shots, { recursive: true });
const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

const hostile = `</script><script>window.hit=1</script>"'evil<img src=x onerror=window.hit=1>`;
const kPages = {
  prediction: ['predict', 'mahti-resnet50-ddp', '--recommend'],
  comparison: ['compare', 'puhti-resnet50-ddp', '--gpus', '4,8'],
  study: ['predict', 'workshop-mnist-study'],
  several: ['predict', 'puhti-resnet50-ddp', 'mahti-resnet50-ddp', '--gpus', '1,4'],
  collective: ['collective', '--cluster', 'dgx-a100', '--op', 'all_reduce', '--gpus', '8'],
  validation: ['validate', '../../docs/measured/puhti.csv'],
  strategies: ['compare', '--models', 'resnet50,mnist_net', '--clusters', 'puhti,mahti', '--gpus', '4'],
};

function written(name, line) {
  const file = join(folder, `${name}.html`);
  execFileSync(program, [...line, '--html', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  assert.ok(statSync(file).size < 1.5e6, `${name}: ${statSync(file).size} bytes`);
  return file;
}

function hostileFile() {
  const text = execFileSync(program, ['list', 'scenarios', '--names']).toString();
  assert.ok(text.includes('mahti-resnet50-ddp'));
  const name = JSON.stringify(hostile + 'x'.repeat(10000));
  const file = join(folder, `<b onclick=hit>\u202Eevil'"&.toml`);
  writeFileSync(file, `note = ${name}\n[model]\nname = "resnet50"\nbatch_per_gpu = 32\n[cluster]\nname = "mahti"\n[run]\ngpus = [1, 2]\n`);
  return file;
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

async function opened(file, { width = 1440, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light' });
  const page = await context.newPage();
  const said = [], asked = [];
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') said.push(m.text()); });
  page.on('pageerror', (e) => said.push(String(e)));
  page.on('request', (r) => { if (!/^(file|data|blob):/.test(r.url())) asked.push(r.url()); });
  await page.goto('file://' + file);
  await page.waitForSelector('html[data-ready=yes]');
  await page.waitForTimeout(400);
  return { page, context, check: () => { assert.deepEqual(said, []); assert.deepEqual(asked, []); } };
}

/** Texts of pictures must not lie over one another, nothing is smaller than 11 px, and nothing hangs out of the page. */
async function legible(page, name) {
  const faults = await page.evaluate(() => {
    const out = [];
    for (const e of document.querySelectorAll('body *')) {
      const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (own && e.getClientRects().length && parseFloat(getComputedStyle(e).fontSize) < 11) out.push('small: ' + e.textContent.slice(0, 40));
    }
    for (const svg of document.querySelectorAll('.chart svg')) {
      const boxes = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim()).map((t) => ({ t: t.textContent, b: t.getBoundingClientRect() }));
      for (let i = 0; i < boxes.length; ++i) for (let k = 0; k < i; ++k) {
        const a = boxes[i].b, b = boxes[k].b;
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) out.push(`over one another: "${boxes[i].t}" and "${boxes[k].t}"`);
      }
      const room = svg.getBoundingClientRect();
      for (const { t, b } of boxes) if (b.left < room.left - 2 || b.right > room.right + 2) out.push(`cut off: "${t}"`);
    }
    if (document.documentElement.scrollWidth > innerWidth) out.push(`wider than the window: ${document.documentElement.scrollWidth}`);
    return out;
  });
  assert.deepEqual(faults, [], name);
}

async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  const serious = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`), [], name);
}

/** Points of a curve as the picture has them, by the scales of its axes. */
const pointsOf = (page, name) => page.evaluate((chart) => {
  const svg = document.querySelector(`[data-chart=${chart}] svg`);
  const x = svg.scale('x'), y = svg.scale('y');
  return [...svg.querySelectorAll('g[data-mark=dot]')][0].querySelectorAll('circle, path').length
    ? [...[...svg.querySelectorAll('g[data-mark=dot]')][0].children].map((c) => {
      const at = c.getAttribute('cx') !== null ? [c.getAttribute('cx'), c.getAttribute('cy')] : c.getAttribute('transform').match(/[-\d.e]+/g);
      return [x.invert(Number(at[0])), y.invert(Number(at[1]))];
    }) : [];
}, name);

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-3 * Math.abs(b) + 1e-9, `${what}: ${a} is not ${b}`);

const tests = {
  ...Object.fromEntries(Object.entries(kPages).map(([name, line]) => [`the page of a ${name} opens without requests and errors, in both widths and colours`, async () => {
    {
      const file = written(name, line);
      for (const [width, dark] of [[1440, false], [375, false], [1440, true], [375, true]]) {
        const { page, context, check } = await opened(file, { width, dark });
        await page.screenshot({ path: join(shots, `${name}-${width}${dark ? '-dark' : ''}.png`), fullPage: true });
        await legible(page, `${name} at ${width}`);
        if (width === 1440 || name === 'prediction') await accessible(page, `${name} at ${width}${dark ? ', dark' : ''}`);
        check();
        await context.close();
      }
    }
  }])),
  async 'points of the curves are those of the JSON'() {
    const { page, context } = await opened(written('prediction', kPages.prediction));
    const points = JSON.parse(execFileSync(program, ['predict', 'mahti-resnet50-ddp', '--format', 'json'])).points;
    for (const [chart, value] of [['speedup', (p) => p.speedup], ['efficiency', (p) => 100 * p.efficiency]]) {
      const drawn = await pointsOf(page, chart);
      assert.equal(drawn.length, points.length);
      drawn.forEach(([x, y], i) => { near(x, points[i].gpus, chart); near(y, value(points[i]), chart); });
    }
    await context.close();
  },
  async 'the timeline zooms with buttons and keys, and shows names'() {
    const { page, context, check } = await opened(written('prediction', kPages.prediction));
    const span = () => page.$eval('.timeline', (e) => Number(e.dataset.to) - Number(e.dataset.from));
    const whole = await span();
    await page.click('button[aria-label="Zoom in"]');
    near(await span(), whole / 2, 'half of it');
    await page.focus('.timeline');
    for (let i = 0; i < 5; ++i) await page.keyboard.press('+');
    near(await span(), whole / 64, 'a 64th');
    assert.ok(await page.$$eval('[data-chart=timeline] text', (all) => all.some((t) => /forward|backward|conv|ncclAllReduce|launch|bn/i.test(t.textContent))));
    await page.locator('#timeline').screenshot({ path: join(shots, 'timeline-zoomed.png') });
    await page.keyboard.press('0');
    near(await span(), whole, 'the whole');
    check();
    await context.close();
  },
  async 'tables sort, the theme switches, and paper has two pages'() {
    const { page, context, check } = await opened(written('prediction', kPages.prediction));
    const first = () => page.$eval('#numbers tbody tr', (r) => r.textContent);
    const before = await first();
    await page.click('#numbers thead th:nth-child(1) button');
    if ((await first()) === before) await page.click('#numbers thead th:nth-child(1) button');
    assert.notEqual(await first(), before);
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.click('#theme');
    assert.notEqual(await paper(), light);
    await page.click('#theme');
    const pdf = (await page.pdf({ format: 'A4', path: join(shots, 'prediction.pdf') })).toString('latin1');
    assert.equal((pdf.match(/\/Type\s*\/Page\b/g) ?? []).length, 2);
    check();
    await context.close();
  },
  async 'hostile names are text'() {
    const file = written('hostile', ['predict', hostileFile()]);
    const { page, context, check } = await opened(file, { width: 375 });
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.$('#page img'), null);
    assert.ok(!(await page.textContent('#page')).includes('\u202E'));
    await legible(page, 'hostile');
    check();
    await context.close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try { await test(); console.log('passed: ' + name); } catch (error) { failed += 1; console.log(`FAILED: ${name}\n${error.stack ?? error}`); }
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(failed ? 1 : 0);
