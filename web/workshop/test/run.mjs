// Opens the workshop page in Chromium, before `foretrain serve` and, where it was built, on a plain web server with WebAssembly.
// Usage, from web/: node workshop/test/run.mjs FORETRAIN [FOLDER for screenshots] [FOLDER of `make page`]
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultTests } from './faults.mjs';
import { randomTests } from './random.mjs';
import { accessible, launched, legible, near, pointsOf, run } from '../../test/look.mjs';

const program = process.argv[2] ?? '../build/release/foretrain';
const shots = process.argv[3] ?? 'screenshots';
const built = process.argv[4] ?? '../build/page';
const folder = mkdtempSync(join(tmpdir(), 'foretrain-workshop-'));
mkdirSync(shots, { recursive: true });

// WORKSHOP: the address of a page that runs already, say of one in the making.
const server = process.env.WORKSHOP ? null : spawn(program, ['serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const native = process.env.WORKSHOP ?? await new Promise((found) => server.stdout.on('data', (text) => { const at = /http:\S+/.exec(String(text)); if (at) found(at[0]); }));

/** Files of a folder, as any web space gives them out. */
const kTypes = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm', json: 'application/json', data: 'application/octet-stream' };
const space = createServer((request, response) => {
  const name = request.url.split('?')[0].slice(1) || 'index.html', file = join(built, name);
  if (!/^[\w.]+$/.test(name) || !existsSync(file)) { response.writeHead(404).end(); return; }
  response.writeHead(200, { 'Content-Type': kTypes[name.split('.').pop()] ?? 'text/plain' });
  createReadStream(file).pipe(response);
});
await new Promise((ready) => space.listen(0, '127.0.0.1', ready));
const hosts = { native };
if (existsSync(join(built, 'engine.wasm'))) hosts.wasm = `http://127.0.0.1:${space.address().port}/`;
else console.log('skipped: WebAssembly, which tools/build_wasm and `make page` build');

const browser = await launched();

async function opened(host, { hash = '', width = 1440, dark = false, before = async () => undefined } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light', acceptDownloads: true });
  const page = await context.newPage();
  const said = [], asked = [];
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') said.push(m.text()); });
  page.on('pageerror', (e) => said.push(String(e)));
  page.on('request', (r) => { if (new URL(r.url()).origin !== new URL(host).origin && !/^(data|blob):/.test(r.url())) asked.push(r.url()); });
  await before(page);
  await page.goto(host + hash);
  await page.waitForSelector('html[data-ready=yes]', { timeout: 20000 });
  return { page, context, check: () => { assert.deepEqual(said, []); assert.deepEqual(asked, []); } };
}

const predicted = (...line) => JSON.parse(execFileSync(program, ['predict', ...line, '--format', 'json']));
const answers = (page) => page.evaluate(() => Number(document.documentElement.dataset.answers));

/** Does it, and waits until all that it asked for is answered. */
async function changed(page, act) {
  const before = await answers(page);
  await act();
  await page.waitForFunction((n) => {
    const { answers: count, busy } = document.documentElement.dataset;
    return Number(count) > n && busy === 'no';
  }, before, { timeout: 20000 });
  await page.waitForTimeout(150);
}

const slide = (page, id, steps) => changed(page, async () => {
  await page.focus('#' + id);
  for (let i = 0; i < Math.abs(steps); ++i) await page.keyboard.press(steps > 0 ? 'ArrowRight' : 'ArrowLeft');
});

/** Chooses in a list with a search box. */
const choose = (page, id, name) => changed(page, async () => { await page.click('#' + id); await page.fill('#' + id, name); await page.keyboard.press('Enter'); });

async function agrees(page, line) {
  const points = predicted(...line).points, drawn = await pointsOf(page, 'speedup');
  assert.equal(drawn.length, points.length);
  drawn.forEach(([x, y], i) => { near(x, points[i].gpus, 'GPUs'); near(y, points[i].speedup, 'speedup'); });
}

const tests = {};
for (const [name, host] of Object.entries(hosts)) {
  tests[`${name}: moving a slider gives the numbers of the command line`] = async () => {
    const { page, context, check } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8' });
    await agrees(page, ['puhti-resnet50-ddp', '--gpus', '1,2,4,8']);
    await slide(page, 'batch', -4);
    const batch = await page.textContent('output[for=batch]');
    await agrees(page, ['puhti-resnet50-ddp', '--gpus', '1,2,4,8', '--batch', batch]);
    await slide(page, 'links', -3);
    const links = (await page.textContent('output[for=links]')).replace('\u00d7', '');
    await agrees(page, ['puhti-resnet50-ddp', '--gpus', '1,2,4,8', '--batch', batch, '--set', `cluster.link_speed=${links}`]);
    check();
    await context.close();
  };
  tests[`${name}: the same question again gives the same answer, and what both took is printed`] = async () => {
    const begun = Date.now();
    const { page, context } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8' });
    const start = Date.now() - begun, took = [];
    for (let i = 0; i < 10; ++i) { await slide(page, 'bucket', i < 5 ? 1 : -1); took.push(Number(await page.evaluate(() => document.documentElement.dataset.took))); }
    await agrees(page, ['puhti-resnet50-ddp', '--gpus', '1,2,4,8', '--set', 'strategy.bucket_cap=25MiB']);
    took.sort((a, b) => a - b);
    console.log(`  ${name}: interactive after ${start} ms, answers ${took[5]} ms at the median, ${took[9]} at worst`);
    await context.close();
  };
}

const host = hosts.native;
const tools = { host, opened, changed, choose, slide, predicted, folder, shots, program };
Object.assign(tests, faultTests(tools), randomTests(tools), {
  async 'looks: both widths and colours, readable, accessible, no errors, no requests elsewhere'() {
    for (const [width, dark] of [[1440, false], [768, false], [390, false], [1440, true], [390, true]]) {
      for (const [name, hash] of [['workshop', ''], ['workshop-pinned', '#s=mahti-resnet50-ddp&prec=bf16&v=2&pin=s%3Dmahti-resnet50-ddp'], ['workshop-shortage', '#s=&m=llama3_70b&c=mahti&v=2'], ['workshop-question', '#q=m3&s=m3-resnet56-mirrored-v100']]) {
        const { page, context, check } = await opened(host, { width, dark, hash });
        await page.waitForTimeout(400);
        await page.screenshot({ path: join(shots, `${name}-${width}${dark ? '-dark' : ''}.png`), fullPage: width < 1000 });
        await legible(page, `${name} at ${width}`);
        await accessible(page, `${name} at ${width}${dark ? ', dark' : ''}`);
        check();
        await context.close();
      }
    }
  },
  async 'a question hides its answer until somebody guessed'() {
    const { page, context, check } = await opened(host);
    await changed(page, () => page.selectOption('#preset', 'm3'));
    assert.equal(await page.locator('#speedup').count(), 0, '#speedup');
    await page.fill('#guess', '2.5');
    await page.click('.guess button[type=submit]');
    await page.waitForSelector('#speedup');
    const three = predicted('m3-resnet56-mirrored-v100').points.find((p) => p.gpus === 3).speedup;
    near(Number(await page.getAttribute('[data-verdict]', 'data-verdict')), three, 'the verdict');
    assert.match(await page.textContent('.verdict'), /You guessed 2.5/);
    await page.screenshot({ path: join(shots, 'workshop-guessed.png') });
    check();
    await context.close();
  },
  async 'every question of the list says what its chapter says: text, guess, answer, measured value, wrong answers and commands'() {
    const { page, context, check } = await opened(host);
    const { chapters, questions } = JSON.parse(readFileSync(new URL('../src/questions.json', import.meta.url)));
    assert.deepEqual(await page.$$eval('#preset option', (all) => all.map((o) => o.value).filter((v) => v)), questions.map((q) => q.id));
    for (const { id, chapter: number } of questions) {
      const { file, title } = chapters.find((c) => c.number === number), chapter = readFileSync(new URL(`../../../docs/tutorials/lesson/${file}`, import.meta.url)).toString();
      const part = (kind) => new RegExp(`<!-- ${kind}: ${id} -->([^]*?)<!-- end -->`).exec(chapter)[1].replaceAll('`', '').replaceAll('**', '');
      const has = (kind, text) => assert.ok(part(kind).includes(text.trim()), `${id}: "${text}" is not in "${part(kind)}"`);
      await changed(page, () => page.selectOption('#preset', id));
      assert.equal(await page.locator('#errors').count(), 0, id);
      assert.ok((await page.textContent('.lesson .kind')).startsWith(`Chapter ${number}: ${title}`), id);
      has('question', await page.textContent('.lesson h2 + p'));
      has('question', await page.textContent('label[for=guess]'));
      const choices = await page.$$eval('.choice', (all) => all.map((b) => b.textContent));
      await page.click('#show');
      has('answer', `foretrain ${/says .*/.exec(await page.textContent('.verdict'))[0]}`);
      has('answer', await page.textContent('.measured'));
      const wrong = await page.$$eval('.wrong li', (all) => all.map((li) => li.textContent));
      assert.equal(wrong.length, 2, id);
      wrong.forEach((text, i) => { has('answer', text); assert.ok(text.startsWith(choices[i]), id); });
      has('question', `Experiment: ${await page.textContent('#take code')}`);
      await changed(page, () => page.click('.turn'));
      has('answer', `Turn the key: ${await page.textContent('#take code')}`);
      assert.match(await page.textContent('.compare'), /^Since A, /, id);
    }
    check();
    await context.close();
  },
  async 'a usual answer is a choice: what it is wrong about is marked, and the key is turned by a link'() {
    const { page, context, check } = await opened(host, { hash: '#q=csc-resnet&s=puhti-resnet50-ddp&gpus=8&v=2' });
    assert.deepEqual(await page.$$eval('.choice', (all) => all.map((b) => b.textContent)), ['8\u00d7', '5\u00d7']);
    await page.click('.choice:has-text("5")');
    assert.match(await page.textContent('.verdict'), /^You guessed 5\u00d7\. foretrain says 7\.\d+\u00d7\.$/);
    assert.match(await page.textContent('.measured'), /^Measured: 7\.43\u00d7 \(mvsjober.*puhti\.csv/);
    assert.match(await page.textContent('.wrong .mine'), /^5\u00d7 /);
    await page.click('.chapter summary');
    assert.match(await page.textContent('.chapter'), /docs\/tutorials\/lesson\/3-ddp\.md/);
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      await accessible(page, `a question that was answered, ${colorScheme}`);
    }
    await legible(page, 'a question that was answered');
    await page.screenshot({ path: join(shots, 'workshop-answered.png'), fullPage: true });
    check();
    await context.close();
  },
  async 'a question links to its chapter where the host has the chapters'() {
    const before = (p) => p.route('**/engine.json', (route) => route.fulfill({ json: { engine: 'native', chapters: 'lesson' } }));
    const { page, context, check } = await opened(host, { hash: '#q=vgg', before });
    assert.equal(await page.getAttribute('.lesson .kind a', 'href'), 'lesson/4-when-four-lose.txt');
    assert.ok(existsSync(new URL('../../../docs/tutorials/lesson/4-when-four-lose.md', import.meta.url)));
    check();
    await context.close();
  },
  async 'the link holds the state, and back goes back'() {
    const { page, context } = await opened(host, { hash: '#s=puhti-resnet50-ddp' });
    await choose(page, 'strategy', 'horovod');
    const link = page.url();
    assert.match(link, /by=horovod/);
    await changed(page, () => page.goBack());
    assert.equal(await page.inputValue('#strategy'), 'ddp');
    await slide(page, 'batch', 2);
    assert.match(page.url(), /batch=/);
    await changed(page, () => page.goBack());
    assert.doesNotMatch(page.url(), /batch=/);
    const { page: other, context: second } = await opened(host, { hash: new URL(link).hash });
    assert.equal(await other.inputValue('#strategy'), 'horovod');
    await context.close();
    await second.close();
  },
  async 'files: a good one is used, a bad one shown with its line, a large one is not read, names are text'() {
    const { page, context, check } = await opened(host);
    const hostile = `<img src=x onerror=window.hit=1>\u202E"'${'x'.repeat(120)}.toml`;
    writeFileSync(join(folder, hostile), 'note = "<script>window.hit=1</script>"\n[model]\nname = "resnet18"\n[cluster]\nname = "mahti"\n[run]\ngpus = [1, 2]\n');
    await changed(page, () => page.setInputFiles('#file', join(folder, hostile)));
    assert.match(await page.textContent('#numbers'), /GPUs/);
    writeFileSync(join(folder, 'bad.toml'), '[model]\nname = "resnet51"\n[cluster]\nname = "mahti"\n');
    await changed(page, () => page.setInputFiles('#file', join(folder, 'bad.toml')));
    assert.match(await page.textContent('#errors'), /bad\.toml:2:\d+: error: unknown model "resnet51"[^]*\^/);
    writeFileSync(join(folder, 'large.toml'), '');
    truncateSync(join(folder, 'large.toml'), 2 ** 30);
    await page.evaluate(() => { File.prototype.text = () => { throw new Error('read'); }; });
    await page.setInputFiles('#file', join(folder, 'large.toml'));
    await page.waitForFunction(() => /1024.0 MiB; at most 1 MiB/.test(document.getElementById('file-fault').textContent));
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator('#page img').count(), 0, '#page img');
    check();
    await context.close();
  },
  async 'pictures, scenario and job script can be taken along'() {
    const { page, context, check } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8' });
    for (const kind of ['SVG', 'PNG']) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`#speedup button:has-text("${kind}")`)]);
      assert.equal(file.suggestedFilename(), `speedup.${kind.toLowerCase()}`);
    }
    await slide(page, 'gpus', -2);
    await page.click('#sbatch');
    await page.waitForSelector('#take pre:has-text("#SBATCH")');
    check();
    await context.close();
  },
  async 'the step is played'() {
    const { page, context, check } = await opened(host);
    await page.click('button.play');
    await page.waitForFunction(() => /:.*(forward|backward|conv|main)/i.test(document.querySelector('.now').textContent));
    check();
    await context.close();
  },
});
if (hosts.wasm) {
  tests['wasm: after the first load nothing needs the network'] = async () => {
    const { page, context, check } = await opened(hosts.wasm, { hash: '#s=puhti-resnet50-ddp&gpus=8' });
    await context.setOffline(true);
    await slide(page, 'batch', 2);
    assert.equal(await page.locator('#errors').count(), 0, '#errors');
    check();
    await context.close();
  };
}

const only = process.argv[5];
const sound = await run(Object.fromEntries(Object.entries(tests).filter(([name]) => !only || name.includes(only))));
await browser.close();
server?.kill();
space.close();
rmSync(folder, { recursive: true });
process.exit(sound ? 0 : 1);
