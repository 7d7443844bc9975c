// Opens pages that the program wrote from file:// in Chromium, and looks at what a reader would see.
// Usage, from web/: node report/test/run.mjs FORETRAIN [FOLDER for screenshots]; needs Chromium (CHROMIUM names another than /usr/bin/chromium).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessible, launched, legible, near, pointsOf, run } from '../../test/look.mjs';

const program = process.argv[2] ?? '../build/release/foretrain';
const shots = process.argv[3] ?? 'screenshots';
const folder = mkdtempSync(join(tmpdir(), 'foretrain-page-'));
mkdirSync(shots, { recursive: true });

const hostile = `</script><script>window.hit=1</script>"'evil<img src=x onerror=window.hit=1>`;
const kPages = {
  prediction: ['predict', 'mahti-resnet50-ddp', '--recommend'],
  comparison: ['compare', 'puhti-resnet50-ddp', '--gpus', '4,8'],
  study: ['predict', 'workshop-mnist-study'],
  several: ['predict', 'puhti-resnet50-ddp', 'mahti-resnet50-ddp', '--gpus', '1,4'],
  // Four GPUs do not fit, and nobody says how many samples there are.
  shortage: ['predict', '--model', 'llama3_8b', '--cluster', 'mahti', '--strategy', 'fsdp', '--precision', 'bf16', '--batch', '1', '--gpus', '4,8,16',
    '--set', 'model.half_weights=true', '--set', 'model.recompute=true', '--sensitivity'],
  too_large: ['compare', '--model', 'llama2_7b', '--cluster', 'mahti', '--gpus', '4'],
  collective: ['collective', '--cluster', 'dgx-a100', '--op', 'all_reduce', '--gpus', '8'],
  validation: ['validate', '../docs/measured/puhti.csv'],
  plan: ['plan', '--model', 'llama3_8b', '--cluster', 'hgx-h100-400g', '--gpus', '16'],
  plans: ['plan', '--model', 'llama3_8b', '--cluster', 'hgx-h100-400g', '--gpus', '8,16'],
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

const browser = await launched();

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

const sound = await run(tests);
await browser.close();
rmSync(folder, { recursive: true });
process.exit(sound ? 0 : 1);
