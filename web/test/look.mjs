// What both pages' tests ask of a page: texts that can be read, and nothing that keeps somebody out.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

export const launched = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

/** Texts of pictures must not lie over one another, nothing is smaller than 11 px, and nothing hangs out of the page. */
export async function legible(page, name) {
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

export async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'] }));
  const serious = found.violations.filter((v) => ['serious', 'critical'].includes(v.impact));
  assert.deepEqual(serious.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`), [], name);
}

/** Points of a curve as the picture has them, by the scales of its axes. */
export const pointsOf = (page, name) => page.evaluate((chart) => {
  const svg = document.querySelector(`[data-chart=${chart}] svg`);
  const x = svg.scale('x'), y = svg.scale('y');
  return [...svg.querySelectorAll('g[data-mark=dot]')][0].querySelectorAll('circle, path').length
    ? [...[...svg.querySelectorAll('g[data-mark=dot]')][0].children].map((c) => {
      const at = c.getAttribute('cx') !== null ? [c.getAttribute('cx'), c.getAttribute('cy')] : c.getAttribute('transform').match(/[-\d.e]+/g);
      return [x.invert(Number(at[0])), y.invert(Number(at[1]))];
    }) : [];
}, name);

export const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-3 * Math.abs(b) + 1e-9, `${what}: ${a} is not ${b}`);

/** Runs them one after the other; false when one failed. */
export async function run(tests) {
  let sound = true;
  for (const [name, test] of Object.entries(tests)) {
    try { await test(); console.log('passed: ' + name); } catch (error) { sound = false; console.log(`FAILED: ${name}\n${error.stack ?? error}`); }
  }
  return sound;
}
