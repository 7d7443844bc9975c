// The knobs: choices, sliders with the exact number, and what each is when nobody turned it.
import { h } from '../../report/src/dom';

export interface Knob { row: HTMLElement; show(value: number, usual: number, note: string, most?: number): void }
export interface Choosing { row: HTMLElement; show(value: string, usual: string, note: string): void }

/** A few values; the first is what the scenario says. */
export function choice(label: string, id: string, values: [string, string][], turned: (value: string) => void): Choosing {
  const select = h('select', { id, onchange: () => turned(select.value) }) as HTMLSelectElement;
  const usual_option = h('option', { value: '' }, 'as the scenario says');
  select.append(usual_option, ...values.map(([value, text]) => h('option', { value }, text)));
  const note = h('p', { class: 'note' });
  const row = h('div', { class: 'knob' }, h('label', { for: id }, label), select, note);
  return { row, show(value, usual, why) {
    usual_option.textContent = usual ? `${usual} (as the scenario says)` : 'as the scenario says';
    if (value && ![...select.options].some((o) => o.value === value)) select.append(h('option', { value }, value));
    select.value = value;
    select.disabled = why !== '' && value === '';
    note.textContent = why;
  } };
}

export interface Scale { steps: number[]; say: (value: number) => string }

/** The nearest of the steps. */
function place(steps: number[], value: number): number {
  let best = 0;
  steps.forEach((step, i) => { if (Math.abs(step - value) < Math.abs(steps[best] - value)) best = i; });
  return best;
}

/** `turned` is told while the slider moves (moving) and when it rests. */
export function slider(label: string, id: string, scale: Scale, turned: (value: number, moving: boolean) => void): Knob {
  let steps = scale.steps;
  const range = h('input', { type: 'range', id, min: 0, max: steps.length - 1, step: 1 }) as HTMLInputElement;
  const output = h('output', { for: id });
  const back = h('button', { type: 'button', class: 'small back', 'aria-label': `${label}: as the scenario says` }, '\u21ba');
  const note = h('p', { class: 'note' });
  const value = (): number => steps[Number(range.value)];
  range.addEventListener('input', () => { output.textContent = scale.say(value()); turned(value(), true); });
  range.addEventListener('change', () => turned(value(), false));
  back.addEventListener('click', () => turned(NaN, false));
  const row = h('div', { class: 'knob' }, h('label', { for: id }, label), output, back, range, note);
  return { row, show(given, usual, why, most) {
    const shown = Number.isNaN(given) ? usual : given;
    steps = most ? scale.steps.filter((s) => s < most).concat(most) : scale.steps;
    range.max = String(steps.length - 1);
    if (document.activeElement !== range || value() !== shown) range.value = String(place(steps, shown));
    // A knob that was turned can be turned back, whether it matters or not.
    range.disabled = why !== '' && Number.isNaN(given);
    output.textContent = Number.isFinite(shown) ? scale.say(shown) : '\u2013';
    range.setAttribute('aria-valuetext', output.textContent);
    back.hidden = Number.isNaN(given);
    note.textContent = why;
  } };
}
