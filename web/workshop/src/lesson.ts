// A question of the lesson: it hides its answer until somebody guessed, then says what was measured and why two usual guesses are
// wrong; for a class, guesses are pasted and shown as a histogram.
import { chart, kColor, kStyle, Plot } from '../../report/src/chart';
import { h, short } from '../../report/src/dom';
import { Prediction } from '../../report/src/reports';
import { count, digits } from '../../report/src/units';
import { answerOf, chapterOf, findPreset, kChapters, kPresets, Preset, stateOf } from './presets';
import { asHash, State } from './state';

const revealed = new Set<string>();
const guesses: Record<string, number> = {};
const pasted: Record<string, string> = {};

export const isHidden = (state: State): boolean => state.preset !== '' && findPreset(state.preset) !== undefined && !revealed.has(state.preset);
const presenting = (): boolean => document.documentElement.classList.contains('presenter');

export function questionList(choose: (id: string) => void): HTMLElement {
  const option = (p: Preset): HTMLElement => h('option', { value: p.id }, `${kPresets.indexOf(p) + 1}. ${p.title} \u2013 ${p.course}${p.quick ? ' (ten minutes)' : ''}`);
  const select = h('select', { id: 'preset', onchange: () => choose(select.value) }, h('option', { value: '' }, 'No question, just knobs'),
    ...kChapters.map((c) => h('optgroup', { label: `Chapter ${c.number}: ${c.title}` }, ...kPresets.filter((p) => p.chapter === c.number).map(option)))) as HTMLSelectElement;
  return h('div', { class: 'knob question' }, h('label', { for: 'preset' }, 'Question'), select);
}

/** Numbers of a text that people pasted: of each line the last one, at most so many. */
export const kMostGuesses = 2000;
export function readGuesses(text: string): number[] {
  return text.split(/[\n;]+/).map((line) => line.match(/-?\d+(?:[.,]\d+)?(?!.*\d)/)?.[0].replace(',', '.')).filter((one) => one !== undefined).map(Number).filter((n) => Number.isFinite(n) && n >= 0).slice(0, kMostGuesses);
}

/** `again` shows the page anew once the answer is revealed; `chapters`: the folder of the chapters, where the host has them. */
export function lessonPart(room: HTMLElement, state: State, prediction: Prediction | undefined, chapters: string | undefined, again: () => void): void {
  const preset = findPreset(state.preset);
  if (!preset) { room.replaceChildren(); room.dataset.for = ''; return; }
  const mark = `${preset.id}/${revealed.has(preset.id)}/${presenting()}/${prediction !== undefined}`;
  if (room.dataset.for === mark) return;
  room.dataset.for = mark;
  const reveal = (): void => { revealed.add(preset.id); again(); };
  room.replaceChildren(h('section', { class: 'card lesson', 'aria-label': 'The question' }, heading(preset, chapters), h('h2', {}, preset.title), h('p', {}, preset.question),
    !revealed.has(preset.id) ? guessForm(preset, reveal) : prediction ? verdict(preset, state, prediction) : h('p', { class: 'note' }, 'Computing \u2026'), presenting() ? classPart(preset, prediction) : null));
}

function heading(preset: Preset, chapters: string | undefined): HTMLElement {
  const { number, title, file } = chapterOf(preset), name = `Chapter ${number}: ${title}`;
  const where = chapters ? h('a', { href: `${chapters}/${file.replace(/md$/, 'txt')}` }, name) : h('span', { title: `docs/tutorials/lesson/${file}` }, name);
  return h('p', { class: 'kind' }, where, ` \u00b7 ${preset.course}`);
}

/** "3.7×" or "12 %", as people write it. */
const plain = (value: number | string, unit: string): string => `${value}${unit === '%' ? ' %' : unit}`;
const said = (value: number, unit: string): string => plain(Number.isInteger(value) ? value : digits(value), unit);

function guessForm(preset: Preset, reveal: () => void): HTMLElement {
  const box = h('input', { type: 'number', id: 'guess', step: 'any', min: 0, required: true, inputmode: 'decimal' }) as HTMLInputElement;
  const guess = (value: number) => (): void => { guesses[preset.id] = value; reveal(); };
  const choices = h('div', { class: 'choices', role: 'group', 'aria-label': 'What people often say' }, h('span', {}, 'People often say'),
    ...preset.wrong.map(({ value }) => h('button', { type: 'button', class: 'small choice', onclick: guess(value) }, plain(value, preset.unit))));
  return h('form', { class: 'guess', onsubmit: (event: Event) => { event.preventDefault(); guess(box.valueAsNumber)(); } },
    h('label', { for: 'guess' }, preset.ask), ...(presenting() ? [] : [box, h('span', {}, preset.unit), h('button', { type: 'submit', class: 'small strong' }, 'That is my guess')]),
    h('button', { type: 'button', class: presenting() ? 'small strong' : 'small', id: 'show', onclick: reveal }, presenting() ? 'Reveal' : 'Just show it'), ...(presenting() ? [] : [choices]));
}

function verdict(preset: Preset, state: State, prediction: Prediction): HTMLElement {
  const value = answerOf(preset, prediction), guess = guesses[preset.id], { unit, measured, turn } = preset, { number, title, file, idea } = chapterOf(preset);
  const yours = Number.isFinite(guess) ? `You guessed ${plain(guess, unit)}. ` : '';
  const asked = stateOf(preset), as_asked = asHash({ state, pins: [] }) === asHash({ state: asked, pins: [] }), turned = asHash({ state: { ...asked, ...turn.state }, pins: [{ ...asked, preset: '' }] });
  return h('div', {}, h('p', { class: 'verdict', 'data-verdict': value.toFixed(4) }, `${yours}${as_asked ? '' : 'With the knobs as they are, '}foretrain says ${said(value, unit)}.`),
    h('p', { class: 'measured' }, ...(measured ? [`Measured: ${plain(measured.value, unit)} (${measured.source}; `, h('code', {}, measured.file), `). ${measured.differs ?? ''}`] : [`No measured value is published. ${preset.unmeasured}`])),
    h('h3', {}, 'Two usual answers, and why they are wrong'),
    h('ul', { class: 'wrong' }, ...preset.wrong.map((one) => h('li', { class: one.value === guess ? 'mine' : '' }, h('strong', {}, plain(one.value, unit)), ` ${one.why}`))),
    h('h3', {}, 'Turn the key'), h('p', {}, turn.shows, ' ', h('a', { href: turned, class: 'turn' }, 'Turn it, and keep this answer as A')),
    h('p', { class: 'note' }, 'Then try:'), h('ul', { class: 'plain' }, ...preset.tries.map((t) => h('li', {}, t))),
    h('details', { class: 'chapter' }, h('summary', {}, `Chapter ${number}: ${title}`), h('p', {}, idea), h('p', { class: 'note' }, 'The whole chapter: ', h('code', {}, `docs/tutorials/lesson/${file}`))));
}

/** The guesses of a class: pasted from a chat, one in a line; nothing leaves the browser. */
function classPart(preset: Preset, prediction: Prediction | undefined): HTMLElement {
  const area = h('textarea', { id: 'guesses', rows: 4, 'aria-describedby': 'guesses-note' }) as HTMLTextAreaElement;
  area.value = pasted[preset.id] ?? '';
  const drawn = h('div', { id: 'histogram' });
  const draw = (): void => {
    pasted[preset.id] = area.value;
    const values = readGuesses(area.value), answer = revealed.has(preset.id) && prediction ? answerOf(preset, prediction) : null;
    drawn.replaceChildren(values.length ? histogram(values, answer, preset.unit) : h('p', { class: 'note' }, 'No guesses yet.'));
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
