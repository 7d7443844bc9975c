// A list of hundreds of names: a box to search in, and the names in groups. The arrow keys, Enter and Escape do what they do in lists.
import { h, short } from '../../report/src/dom';

export interface Choice { value: string; label: string; note: string; group: string }
export interface Picker { row: HTMLElement; show(value: string, usual: string): void; offer(choices: Choice[]): void }

const kMostShown = 400;
/** Every word of the search stands somewhere in name, note or group. */
const matches = (choice: Choice, words: string[]): boolean => {
  const text = `${choice.label} ${choice.note} ${choice.group}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

export function picker(label: string, id: string, none: string, turned: (value: string) => void): Picker {
  let choices: Choice[] = [], value = '', usual = '', at = -1, visible: string[] = [];
  const input = h('input', { id, type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: 'false', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': `${id}-list` }) as HTMLInputElement;
  const box = h('ul', { id: `${id}-list`, class: 'options', role: 'listbox', 'aria-label': label, hidden: true });
  const note = h('p', { class: 'note' });
  const back = h('button', { type: 'button', class: 'small back', 'aria-label': `${label}: as the scenario says`, onclick: () => choose('') }, '\u21ba');
  const nameOf = (one: string): string => choices.find((c) => c.value === one)?.label ?? one;
  const rest = (): void => { input.value = nameOf(value || usual) || none; note.textContent = short(choices.find((c) => c.value === (value || usual))?.note ?? '', 160); back.hidden = value === ''; };
  const close = (): void => { box.hidden = true; input.setAttribute('aria-expanded', 'false'); input.removeAttribute('aria-activedescendant'); at = -1; };
  const choose = (one: string): void => { close(); if (one !== value) { value = one; rest(); turned(one); } else rest(); };
  const mark = (): void => {
    box.querySelectorAll('[role=option]').forEach((e, i) => e.setAttribute('aria-selected', String(i === at)));
    const active = box.querySelectorAll('[role=option]')[at];
    if (!active) { input.removeAttribute('aria-activedescendant'); return; }
    input.setAttribute('aria-activedescendant', active.id);
    active.scrollIntoView({ block: 'nearest' });
  };
  const open = (search: string): void => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean), found = choices.filter((c) => matches(c, words)).slice(0, kMostShown);
    const groups = [...new Set(found.map((c) => c.group))], out: HTMLElement[] = [];
    visible = [];
    for (const group of groups) {
      const heading = `${id}-g${out.length}`;
      const items = found.filter((c) => c.group === group).map((c) => {
        visible.push(c.value);
        const option = h('li', { role: 'option', id: `${id}-o${visible.length}`, 'aria-selected': 'false' }, h('span', {}, short(c.label, 60)), c.note ? h('span', { class: 'what' }, short(c.note, 90)) : null);
        option.addEventListener('pointerdown', (event) => { event.preventDefault(); choose(c.value); });
        return option;
      });
      out.push(h('li', { role: 'presentation' }, group ? h('div', { class: 'group', id: heading }, group) : null, h('ul', { role: 'group', 'aria-labelledby': group ? heading : null, 'aria-label': group ? null : label }, ...items)));
    }
    box.replaceChildren(...(out.length ? out : [h('li', { role: 'presentation', class: 'none' }, `No name has \u201c${short(search, 40)}\u201d in it.`)]));
    box.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    const exact = visible.findIndex((one) => nameOf(one).toLowerCase() === search.trim().toLowerCase()), begins = visible.findIndex((one) => nameOf(one).toLowerCase().startsWith(search.trim().toLowerCase()));
    at = !words.length || !visible.length ? -1 : exact >= 0 ? exact : Math.max(0, begins);
    mark();
  };
  input.addEventListener('focus', () => { input.select(); });
  input.addEventListener('click', () => { if (box.hidden) open(''); });
  input.addEventListener('input', () => open(input.value));
  input.addEventListener('blur', () => { close(); rest(); });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (box.hidden) open('');
      at = Math.max(0, Math.min(visible.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)));
      mark();
    } else if (event.key === 'Enter' && !box.hidden) {
      event.preventDefault();
      if (visible[at] !== undefined) choose(visible[at]);
    } else if (event.key === 'Escape' && !box.hidden) { event.stopPropagation(); close(); rest(); }
  });
  const row = h('div', { class: 'knob pick' }, h('label', { for: id }, label), back, input, box, note);
  return { row, offer(all) { choices = all; }, show(chosen, as_usual) { value = chosen; usual = as_usual; if (box.hidden) rest(); else back.hidden = value === ''; } };
}
