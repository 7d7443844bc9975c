// A question of a course: it hides its answer until somebody guessed; for a class, guesses are pasted and shown as a histogram.
import { chart, kColor, kStyle, Plot } from '../../report/src/chart';
import { h, short } from '../../report/src/dom';
import { Prediction } from '../../report/src/reports';
import { count, digits } from '../../report/src/units';
import { findPreset, kPresets, Preset } from './presets';
import type { State } from './state';

const revealed = new Set<string>();
const guesses: Record<string, number> = {};
const pasted: Record<string, string> = {};

export const isHidden = (state: State): boolean => state.preset !== '' && findPreset(state.preset) !== undefined && !revealed.has(state.preset);
const presenting = (): boolean => document.documentElement.classList.contains('presenter');

export function questionList(choose: (id: string) => void): HTMLElement {
  const select = h('select', { id: 'preset', onchange: () => choose(select.value) },
    h('option', { value: '' }, 'No question, just knobs'), ...kPresets.map((p, i) => h('option', { value: p.id }, `${i + 1}. ${p.title} \u2013 ${p.course}`))) as HTMLSelectElement;
  return h('div', { class: 'knob question' }, h('label', { for: 'preset' }, 'Question'), select);
}

/** Numbers of a text that people pasted: of each line the last one, at most so many. */
export const kMostGuesses = 2000;
export function readGuesses(text: string): number[] {
  return text.split(/[\n;]+/).map((line) => line.match(/-?\d+(?:[.,]\d+)?(?!.*\d)/)?.[0].replace(',', '.')).filter((one) => one !== undefined).map(Number).filter((n) => Number.isFinite(n) && n >= 0).slice(0, kMostGuesses);
}

/** `again` shows the page anew once the answer is revealed. */
export function lessonPart(room: HTMLElement, state: State, prediction: Prediction | undefined, again: () => void): void {
  const preset = findPreset(state.preset);
  if (!preset) { room.replaceChildren(); room.dataset.for = ''; return; }
  const mark = `${preset.id}/${revealed.has(preset.id)}/${presenting()}`;
  if (room.dataset.for === mark) return;
  room.dataset.for = mark;
  const reveal = (): void => { revealed.add(preset.id); again(); };
  room.replaceChildren(h('section', { class: 'card lesson', 'aria-label': 'The question' }, h('p', { class: 'kind' }, preset.course), h('h2', {}, preset.title), h('p', {}, preset.question),
    revealed.has(preset.id) && prediction ? verdict(preset, prediction) : guessForm(preset, reveal), presenting() ? classPart(preset, prediction) : null));
}

function guessForm(preset: Preset, reveal: () => void): HTMLElement {
  const box = h('input', { type: 'number', id: 'guess', step: 'any', min: 0, required: true, inputmode: 'decimal' }) as HTMLInputElement;
  return h('form', { class: 'guess', onsubmit: (event: Event) => { event.preventDefault(); guesses[preset.id] = box.valueAsNumber; reveal(); } },
    h('label', { for: 'guess' }, preset.guess.ask), ...(presenting() ? [] : [box, h('span', {}, preset.guess.unit), h('button', { type: 'submit', class: 'small strong' }, 'That is my guess')]),
    h('button', { type: 'button', class: presenting() ? 'small strong' : 'small', id: 'show', onclick: reveal }, presenting() ? 'Reveal' : 'Just show it'));
}

function verdict(preset: Preset, prediction: Prediction): HTMLElement {
  const value = preset.guess.of(prediction), guess = guesses[preset.id], unit = preset.guess.unit;
  const said = Number.isFinite(guess) ? `You guessed ${guess}${unit}. ` : '';
  return h('div', {}, h('p', { class: 'verdict', 'data-verdict': value.toFixed(4) }, `${said}foretrain says ${value.toFixed(2)}${unit}.`),
    h('p', { class: 'note' }, 'Now turn the knobs:'), h('ul', { class: 'plain' }, ...preset.tries.map((t) => h('li', {}, t))));
}

/** The guesses of a class: pasted from a chat, one in a line; nothing leaves the browser. */
function classPart(preset: Preset, prediction: Prediction | undefined): HTMLElement {
  const area = h('textarea', { id: 'guesses', rows: 4, 'aria-describedby': 'guesses-note' }) as HTMLTextAreaElement;
  area.value = pasted[preset.id] ?? '';
  const drawn = h('div', { id: 'histogram' });
  const draw = (): void => {
    pasted[preset.id] = area.value;
    const values = readGuesses(area.value), answer = revealed.has(preset.id) && prediction ? preset.guess.of(prediction) : null;
    drawn.replaceChildren(values.length ? histogram(values, answer, preset.guess.unit) : h('p', { class: 'note' }, 'No guesses yet.'));
  };
  area.addEventListener('input', draw);
  draw();
  return h('div', { class: 'class' }, h('label', { for: 'guesses' }, 'Guesses of the class'), area, h('p', { class: 'note', id: 'guesses-note' }, 'Paste them from a chat, one in a line; of each line the last number counts.'), drawn);
}

function histogram(values: number[], answer: number | null, unit: string): HTMLElement {
  const sorted = [...values].sort((a, b) => a - b), median = sorted[Math.floor((sorted.length - 1) / 2)], most = Math.max(...values, answer ?? 0, 1);
  return h('div', {}, h('p', { class: 'finding' }, `${count(values.length, 'guess').replace(/guesss$/, 'guesses')}, half of them up to ${digits(median)}${unit}` + (answer === null ? '' : `; foretrain says ${digits(answer)}${unit}`)),
    chart('guesses', `Histogram of ${values.length} guesses`, (width) => Plot.plot({ width, height: 220, marginLeft: 44, marginRight: 24, marginTop: 26, marginBottom: 40, style: { ...kStyle, fontSize: '14px' },
      x: { domain: [0, most * 1.05], label: `guess, ${unit}`, labelAnchor: 'center', labelArrow: 'none' }, y: { label: null, grid: true, ticks: 4, tickFormat: (v: number) => (Number.isInteger(v) ? String(v) : '') },
      marks: [Plot.rectY(values, Plot.binX({ y: 'count' }, { x: (v: number) => v, fill: kColor.sky, thresholds: 16, domain: [0, most * 1.05] } as object)), Plot.ruleY([0], { stroke: kColor.quiet }),
        ...(answer === null ? [] : [Plot.ruleX([answer], { stroke: kColor.red, strokeWidth: 3 }), Plot.text([answer], { x: (v: number) => v, frameAnchor: 'top', dy: -16, text: (v: number) => short(`${digits(v)}${unit}`, 20), fill: kColor.red, fontWeight: 700 })])] })));
}
