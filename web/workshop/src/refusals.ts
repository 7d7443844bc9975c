// What the program refused, as sentences; with the line of the file where the file is the reader's own.
import { h, short } from '../../report/src/dom';

export interface Refused { file: string; message: string; hint: string }

const kHead = /^(?:(.*?):(\d+):(\d+): )?error: (.*)$/;
/** The mistakes of a refusal: place, message and hint of each. */
export function readRefusal(text: string): Refused[] {
  const out: Refused[] = [];
  for (const line of text.split('\n')) {
    const head = kHead.exec(line), hint = /^\s*hint: (.*)$/.exec(line);
    if (head) out.push({ file: head[1] ?? '', message: head[4], hint: '' });
    else if (hint && out.length) out[out.length - 1].hint = hint[1];
  }
  return out.length ? out : [{ file: '', message: text.trim() || 'The simulator gave no answer', hint: '' }];
}

const sentence = (text: string): string => { const one = text.trim(); return one === '' ? '' : `${one[0].toUpperCase()}${one.slice(1)}${/[.!?]$/.test(one) ? '' : '.'}`; };
export const sentences = (text: string): string[] => readRefusal(text).map((r) => `${sentence(r.message)} ${sentence(r.hint)}`.trim());

/** `isBeside`: an older answer stands below it. */
export function refusalCard(text: string, own: string[], isBeside: boolean, undo: (() => void) | null): HTMLElement {
  const is_own = readRefusal(text).some((r) => own.includes(r.file));
  return h('section', { class: 'card warning wide', role: 'alert', id: 'errors' }, h('h2', {}, 'This combination cannot be computed'),
    ...sentences(text).slice(0, 5).map((line) => h('p', { class: 'why' }, short(line, 600))), is_own ? h('pre', { tabindex: 0 }, text) : null,
    isBeside ? h('p', { class: 'note' }, 'Below is the last answer, of the question before.') : null,
    undo ? h('div', { class: 'tools left' }, h('button', { type: 'button', class: 'small strong', id: 'undo', onclick: undo }, 'Undo the last change')) : null);
}
