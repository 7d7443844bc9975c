// Every control at both ends on random scenarios, and random questions: the page says what the program says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

const kEnds = {
  gpus: [1, 1024], batch: [1, 4096], acc: [1, 64], epochs: [1, 300], deadline: [1, 336], workers: [0, 32], cores: [1, 64], bucket: [1, 400], tp: [1, 8], pp: [1, 16], links: [0.1, 10], kernels: [0.1, 10],
  prec: ['fp32', 'fp8'], scaling: ['weak', 'strong'], recompute: ['true', 'false'], adapters: ['lora:8', 'lora:64'],
};
/** Limits of the simulator itself, which it says in a sentence. */
const kLimit = /longest step that is simulated|would take longer than|took more than 60 s or 4 GiB/;
const kLargeOnly = ['tp', 'pp', 'recompute', 'adapters'];

export const randomTests = ({ host, opened, program }) => {
  // Numbers by chance, the same in every run (Park and Miller).
  // A gate takes a part; EVERY_QUESTION=1 takes all.
  const kScenarios = process.env.EVERY_QUESTION ? 100 : 24, kQuestions = process.env.EVERY_QUESTION ? 200 : 40;
  let seed = 20261128;
  const below = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
  const one = (list) => list[below(list.length)];
  const names = (what) => execFileSync(program, ['list', what, '--names']).toString().trim().split('\n');
  const lists = { models: names('models'), clusters: names('clusters'), strategies: names('strategies'), scenarios: names('scenarios').filter((n) => !n.endsWith('-study')) };
  const question = () => (below(3) === 0 ? { s: one(lists.scenarios) } : { s: '', m: one(lists.models), c: one(lists.clusters), by: one(lists.strategies) });
  const hashOf = (state) => '#' + new URLSearchParams({ ...state, v: '2' });
  /** What the page shows, or waits for it to show. */
  const went = async (page, hash) => {
    const before = await page.evaluate(() => Number(document.documentElement.dataset.answers));
    await page.evaluate((h) => { location.hash = h; }, hash);
    await page.waitForFunction((n) => Number(document.documentElement.dataset.answers) > n && document.documentElement.dataset.busy === 'no', before, { timeout: 60000 });
  };
  const faults = (page) => page.evaluate(() => {
    const out = [], said = document.getElementById('results').innerText;
    const bad = /\bNaN\b|\bundefined\b|\bInfinity\b|\[object|\bnull\b/.exec(said);
    if (bad) out.push(`${bad[0]} in "${said.slice(Math.max(0, bad.index - 40), bad.index + 40)}"`);
    for (const room of document.querySelectorAll('#results [data-chart]')) if (room.clientWidth && !room.querySelector('svg :is(path, rect, circle, line)')) out.push(`empty chart ${room.dataset.chart}`);
    for (const svg of document.querySelectorAll('#results [data-chart] svg')) if (/NaN|Infinity/.test(svg.innerHTML)) out.push(`NaN drawn in ${svg.closest('[data-chart]').dataset.chart}`);
    return out;
  });
  const errors = (page) => page.evaluate(() => document.getElementById('errors')?.innerText ?? '');
  return {
    async 'every control at both ends on random scenarios: no error, no empty chart, no NaN'() {
      const { page, context } = await opened(host);  // A question of more than 60 s is answered with 500, which the browser's console tells.
      const wrong = [];
      let limits = 0;
      for (let i = 0; i < kScenarios; ++i) {
        const state = question();
        for (const [key, ends] of Object.entries(kEnds)) if (below(2) && (!kLargeOnly.includes(key) || /llama(?!va)|llama3|gpt3|qwen(?!2_vl)|mistral/.test(state.m ?? ''))) state[key] = ends[below(2)];
        await went(page, hashOf(state));
        await page.waitForTimeout(60);
        const found = await faults(page), refused = await errors(page);
        if (kLimit.test(refused)) { limits += 1; continue; }
        if (found.length || refused) wrong.push(`${hashOf(state)}: ${found.join('; ')} ${refused.split('\n').slice(1, 3).join(' ')}`);
      }
      console.log(`  ${kScenarios} random scenarios; ${limits} are beyond what is simulated, and say so`);
      assert.deepEqual(wrong, []);
      assert.ok(limits <= kScenarios / 8);
      await context.close();
    },
    async 'random questions: the page says the verdict, the cause and the numbers of the program'() {
      const { page, context } = await opened(host);  // A question of more than 60 s is answered with 500, which the browser's console tells.
      const wrong = [];
      let both = 0, refusals = 0;
      for (let i = 0; i < kQuestions; ++i) {
        const state = question();
        if (below(2)) state.batch = one([1, 8, 32, 100]);
        if (below(4) === 0) state.links = one([0.1, 0.5, 2]);
        await went(page, hashOf(state));
        if (await errors(page)) { refusals += 1; continue; }
        const command = await page.textContent('#take code');
        const json = JSON.parse(execFileSync(program, command.split(' ').slice(1).concat('--format', 'json'), { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 }));
        const shown = await page.evaluate(() => ({ verdict: document.getElementById('verdict').textContent, cause: document.querySelector('#answer dd')?.textContent ?? '', rows: [...document.querySelectorAll('#numbers tbody tr')].map((r) => r.firstChild.textContent) }));
        const same = shown.verdict === json.headline && (json.answer.cause === '' || shown.cause === json.answer.cause) && (json.cannot_run || shown.rows.join() === json.points.map((p) => String(p.gpus)).join());
        if (!same) wrong.push(`${command}\n  page: ${shown.verdict}\n  program: ${json.headline}`);
        both += 1;
      }
      console.log(`  ${both} of ${kQuestions} questions have an answer (${refusals} are refused), all compared with the command line`);
      assert.deepEqual(wrong, []);
      assert.ok(both >= kQuestions * 0.7);
      await context.close();
    },
  };
};
