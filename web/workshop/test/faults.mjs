// Each fault that a demanding visitor found on the first edition of the page, as a test: they fail on that edition.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { legible, near, pointsOf } from '../../test/look.mjs';

/** `tools`: host, opened(), changed(), choose(), slide(), predicted(), folder, shots. */
export const faultTests = ({ host, opened, changed, choose, slide, predicted, folder, shots }) => {
  const text = (page) => page.evaluate(() => document.body.innerText);
  const command = (page) => page.textContent('#take code');
  return {
    async 'opens on a surprise: four GPUs that are slower than one, and the reason is a title'() {
      const { page, context, check } = await opened(host);
      const points = await pointsOf(page, 'speedup');
      assert.ok(points.length >= 3 && points.at(-1)[1] < 0.5, JSON.stringify(points));
      assert.match(await page.textContent('#breakdown h2'), /^Four GPUs wait \d+ % of each step for PCIe$/);
      check();
      await context.close();
    },
    async 'data_parallel on a cluster of many nodes: as many GPUs as it can drive, a sentence, no compiler error and no path'() {
      const { page, context, check } = await opened(host, { hash: '#s=mahti-resnet50-ddp&v=2' });
      await choose(page, 'strategy', 'data_parallel');
      assert.equal(await page.locator('#errors').count(), 0, '#errors');
      assert.match(await page.textContent('#left-out'), /Up to 4 GPUs:.*one process/);
      const said = await text(page);
      for (const bad of ['.toml:', 'error:', '/work/', '/scenarios/']) assert.ok(!said.includes(bad), bad);
      assert.equal((await pointsOf(page, 'speedup')).at(-1)[0], 4);
      check();
      await context.close();
    },
    async 'what cannot run has no speedups, no advice to add GPUs and no empty reason'() {
      const { page, context, check } = await opened(host, { hash: '#s=&m=llama3_70b&c=mahti&v=2' });
      const said = await text(page);
      assert.match(said, /does not fit/);
      for (const bad of ['Every further GPU', 'Why: .', 'Speedup', 'times as fast', 'NaN']) assert.ok(!said.includes(bad), bad);
      assert.equal(await page.locator('#efficiency').count(), 0, '#efficiency');
      assert.equal(await page.locator('#breakdown').count(), 0, '#breakdown');
      await page.locator('#results').screenshot({ path: join(shots, 'workshop-cannot-run.png') });
      check();
      await context.close();
    },
    async 'a question about four cards has a bar for each number of cards up to four'() {
      const { page, context, check } = await opened(host, { hash: '#s=chtc-cifar-four&v=2' });
      const labels = await page.$$eval('[data-chart=breakdown] svg text', (all) => all.map((t) => t.textContent));
      for (const label of ['1 GPU', '2 GPUs', '4 GPUs']) assert.ok(labels.includes(label), `${label} of ${labels}`);
      check();
      await context.close();
    },
    async 'own files: a recorded model, a cluster of eight GPUs, and a job script that keeps the chosen cluster'() {
      const { page, context, check } = await opened(host, { hash: '#s=&m=resnet50&c=mahti&v=2' });
      const recorded = join(folder, 'captured.toml'), cluster = join(folder, 'eight.toml'), script = join(folder, 'job.sh');
      writeFileSync(recorded, readFileSync(new URL('../../../tests/unit/workload/recorded/tiny.toml', import.meta.url)));
      await changed(page, () => page.setInputFiles('#file', recorded));
      assert.equal(await page.locator('#errors').count(), 0, '#errors');
      assert.match(await command(page), /--model captured\.toml/);
      writeFileSync(cluster, 'description = "one box"\nnodes = 1\n[node]\ngpus = 8\ngpu = "a100-sxm4-40gb"\ncpus = 2\nnics = 1\n[node.host]\ncores = 64\nslowdown = 1.5\nmemory_bandwidth = "10 GBps"\n[[node.links]]\nlink = "nvlink3"\ncount = 12\nmesh = ["gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"]\n'
        + '[[node.links]]\nlink = "pcie4_x16"\npairs = [["gpu0", "cpu0"], ["gpu1", "cpu0"], ["gpu2", "cpu0"], ["gpu3", "cpu0"], ["gpu4", "cpu1"], ["gpu5", "cpu1"], ["gpu6", "cpu1"], ["gpu7", "cpu1"], ["nic0", "cpu0"]]\n[[node.links]]\nlink = "upi_16"\npairs = [["cpu0", "cpu1"]]\n');
      await changed(page, () => page.setInputFiles('#file', cluster));
      assert.equal(await page.locator('#errors').count(), 0, '#errors');
      assert.equal((await pointsOf(page, 'speedup')).at(-1)[0], 8);
      await choose(page, 'cluster', 'puhti');
      writeFileSync(script, '#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:2\n#SBATCH --ntasks-per-node=2\nsrun python3 train.py --model resnet50 --batch-size 32\n');
      await changed(page, () => page.setInputFiles('#file', script));
      assert.match(await command(page), /job\.sh .*--cluster puhti/);
      check();
      await context.close();
    },
    async 'lists have a search, groups, and my GPU times how many'() {
      const { page, context, check } = await opened(host, { hash: '#s=&m=resnet50&c=mahti&v=2' });
      await page.click('#model');
      assert.ok((await page.$$('#model-list .group')).length >= 5);
      await page.fill('#model', 'llama 70b');
      const found = await page.$$eval('#model-list [role=option] span:first-child', (all) => all.map((e) => e.textContent));
      assert.ok(found.includes('llama3_70b') && found.length < 10, found.join());
      await page.keyboard.press('Escape');
      await choose(page, 'cluster', 'My GPUs: rtx-4090');
      assert.equal(await page.locator('#errors').count(), 0, '#errors');
      assert.match(await command(page), /--cluster gpu:rtx-4090/);
      await slide(page, 'gpus', -1);
      assert.ok((await pointsOf(page, 'speedup')).length >= 2);
      check();
      await context.close();
    },
    async 'knobs for precision, weak and strong, epochs and deadline reach the command; those that cannot matter say so'() {
      const { page, context, check } = await opened(host, { hash: '#s=mahti-resnet50-ddp&v=2' });
      await changed(page, () => page.selectOption('#precision', 'amp_bf16'));
      await changed(page, () => page.selectOption('#scaling', 'strong'));
      await slide(page, 'epochs', 1);
      const line = await command(page), epochs = await page.textContent('output[for=epochs]');
      assert.match(line, /--precision amp_bf16/);
      assert.match(line, /--scaling strong/);
      assert.match(line, new RegExp(`--epochs ${epochs}`));
      await slide(page, 'deadline', 2);
      assert.match(await page.textContent('#due'), /h/);
      await choose(page, 'strategy', 'horovod');
      assert.match(await page.textContent('.knob:has(#bucket) .note'), /has no buckets of this kind/);
      assert.match(await page.textContent('.knob:has(#tensor) .note'), /Only large language models/);
      check();
      await context.close();
    },
    async 'on a phone the answer comes first and stays at the top, and the knobs are a sheet'() {
      const { page, context, check } = await opened(host, { width: 390 });
      const box = await page.locator('#peek').boundingBox();
      assert.ok(box.y + box.height < 300, JSON.stringify(box));
      assert.match(await page.textContent('#peek'), /one GPU/);
      await page.evaluate(() => scrollTo(0, 2000));
      await page.waitForTimeout(200);
      assert.ok((await page.locator('#peek').boundingBox()).y < 60);
      assert.equal(await page.isVisible('#knobs'), false);
      await page.click('#sheet');
      assert.equal(await page.isVisible('#batch'), true);
      await slide(page, 'batch', 2);
      assert.match(await page.textContent('#peek'), /GPU/);
      await page.screenshot({ path: join(shots, 'workshop-sheet.png') });
      check();
      await context.close();
    },
    async 'titles of charts are findings with numbers of the answer'() {
      const { page, context, check } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8&v=2' });
      const titles = await page.$$eval('.card:has(.chart) h2', (all) => all.map((e) => e.textContent));
      assert.ok(titles.length >= 4, titles.join());
      for (const title of titles) assert.match(title, /\d|GPU/, title);
      for (const old of ['Speedup', 'Efficiency', 'Where a step goes', 'One step in time']) assert.ok(!titles.includes(old), old);
      const last = predicted('puhti-resnet50-ddp', '--gpus', '1,2,4,8').points.at(-1);
      near(Number(/do the work of ([\d.]+)/.exec(await page.textContent('#efficiency h2'))[1]), Number(last.speedup.toPrecision(3)), 'the title');
      check();
      await context.close();
    },
    async 'measured runs stand in the chart with their source, and the nearest rows are sensible'() {
      const { page, context, check } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8&v=2' });
      assert.ok(await page.$$eval('[data-chart=efficiency] g[data-mark=dot]', (all) => all.at(-1).children.length) >= 2);
      const rows = await page.$$eval('#nearest tbody tr', (all) => all.map((r) => r.textContent));
      assert.match(rows[0], /resnet50v100-sxm2-32gbddp.*mvsjober/);
      for (const row of rows) assert.ok(!/k80|parameter_server/.test(row), row);
      check();
      await context.close();
    },
    async 'the step in time says what the GPU waits for, and shows each wait'() {
      const { page, context, check } = await opened(host);
      assert.match(await page.textContent('#timeline h2'), /^No kernel runs for .* of the /);
      assert.ok((await page.$$('.waits li')).length >= 2);
      const span = () => page.$eval('.timeline', (e) => Number(e.dataset.to) - Number(e.dataset.from));
      const whole = await span();
      await page.click('.waits li:first-child button');
      assert.ok(await span() < whole / 2);
      check();
      await context.close();
    },
    async 'pin A, turn to B: ghosts, deltas, a sentence, two steps side by side, and a link that holds both'() {
      const { page, context, check } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8&v=2' });
      await changed(page, () => page.click('#pin'));
      await slide(page, 'links', -5);
      const sentence = await page.textContent('.compare');
      assert.match(sentence, /Since A, the speed of links went from 1 to 0\.1\. On 8 GPUs it is \d+ % slower: waiting for communication takes .* more/);
      assert.match(await page.textContent('[data-fact=speedup] ~ .delta'), /^A: 7\.\d+×, now −\d+ %/);
      assert.ok((await page.$$('#timeline-A')).length === 1);
      assert.equal(await page.$$eval('[data-chart=efficiency] g[data-mark=line]', (all) => all.length), 3);
      const link = page.url();
      const { page: other, context: second } = await opened(host, { hash: new URL(link).hash });
      assert.equal(await other.textContent('.compare'), sentence);
      for (let i = 0; i < 3; ++i) { await slide(other, 'batch', 1); await changed(other, () => other.click('#pin')); }
      assert.equal((await other.$$('#pins li')).length, 4);
      assert.equal(await other.isDisabled('#pin'), true);
      await legible(other, 'four pinned');
      await other.screenshot({ path: join(shots, 'workshop-four-pinned.png'), fullPage: true });
      check();
      await context.close();
      await second.close();
    },
    async 'links of the first edition still open'() {
      for (const [hash, line] of [['#gpus=4', /^foretrain predict mahti-resnet50-ddp /], ['#s=puhti-resnet50-ddp&by=horovod&links=0.5', /puhti-resnet50-ddp --strategy horovod .*link_speed=0\.5/], ['#s=&m=resnet50&c=mahti&batch=64', /--model resnet50 --cluster mahti .*--batch 64/]]) {
        const { page, context, check } = await opened(host, { hash });
        assert.match(await command(page), line);
        check();
        await context.close();
      }
    },
    async 'broken links, wrong files and a server that is gone: sentences, and what was chosen stays'() {
      const { page, context } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=NaN&batch=-5&links=1e99&tp=9999999&pin=%%%&pin=a&v=77&x=1' });
      assert.match(await text(page), /GPU/);
      writeFileSync(join(folder, 'picture.png'), 'x');
      writeFileSync(join(folder, 'nothing.toml'), '');
      await page.setInputFiles('#file', [join(folder, 'picture.png'), join(folder, 'nothing.toml')]);
      await page.waitForFunction(() => /is no text.*is empty/.test(document.getElementById('file-fault').textContent));
      await context.close();
      const { page: second, context: other } = await opened(host, { hash: '#s=puhti-resnet50-ddp&gpus=8&v=2' });
      await second.route('**/api/answer', (route) => route.abort());
      await slide(second, 'batch', 2);
      assert.match(await second.textContent('#errors'), /does not answer/);
      assert.match(await second.textContent('#verdict'), /GPUs/);
      await second.unroute('**/api/answer');
      await changed(second, () => second.click('#undo'));
      assert.equal(await second.locator('#errors').count(), 0, '#errors');
      await other.close();
    },
    async 'without an engine the page says so'() {
      const { page, context } = await opened(host, { before: (p) => p.route('**/engine.json', (route) => route.abort()) });
      assert.match(await page.textContent('#errors'), /does not start.*foretrain serve/s);
      await context.close();
    },
    async 'a presenter hides the guess, and pasted guesses of a class are a histogram'() {
      const { page, context, check } = await opened(host);
      await page.click('#present');
      await changed(page, () => page.selectOption('#preset', 'chtc'));
      assert.equal(await page.locator('#guess').count(), 0, '#guess');
      assert.equal(await page.locator('#efficiency').count(), 0, '#efficiency');
      await page.fill('#guesses', 'Ana: 3.5\n2\nI say 4 times, no 3\nnone\n0,5x');
      await page.waitForSelector('[data-chart=guesses] svg');
      assert.match(await page.textContent('.finding'), /^4 guesses, half of them up to 2\.00/);
      await page.click('#show');
      await page.waitForSelector('#efficiency');
      assert.match(await page.textContent('.finding'), /foretrain says 0\.\d+/);
      await page.screenshot({ path: join(shots, 'workshop-presenter.png') });
      check();
      await context.close();
    },
  };
};
