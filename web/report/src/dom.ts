// Elements from text that others wrote: only ever textContent, and what acts on the eye is written out.

export type Child = Node | string | null | undefined | false;

const kActing = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]/g;

/** Control and direction marks as "\u202e"; line ends and tabs stay. */
export function shown(text: unknown): string {
  return String(text ?? '').replace(kActing, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** A name that fits a line; what is cut off is counted. */
export function short(text: unknown, most = 80): string {
  const all = shown(text);
  return all.length <= most ? all : `${all.slice(0, most - 20)}\u2026 (${all.length.toLocaleString('en')} characters)`;
}

export function h(tag: string, attributes: Record<string, unknown> = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child || child === '') element.append(typeof child === 'string' ? shown(child) : child);
  return element;
}

/** A part of the page under a heading. */
export function card(title: string, note: string, attributes: Record<string, unknown>, ...children: Child[]): HTMLElement {
  return h('section', { class: 'card ' + (attributes.class ?? ''), id: attributes.id, 'aria-label': title },
    h('h2', {}, title), note ? h('p', { class: 'note' }, note) : null, ...children);
}

export function copyButton(label: string, text: () => string): HTMLElement {
  const button = h('button', { type: 'button', class: 'small' }, label);
  button.addEventListener('click', async () => {
    let done = true;
    try { await navigator.clipboard.writeText(text()); } catch { done = copyBySelection(text()); }
    button.textContent = done ? 'Copied' : 'Not allowed here';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

function copyBySelection(text: string): boolean {
  const area = h('textarea', { class: 'unseen', 'aria-hidden': 'true' }) as HTMLTextAreaElement;
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

export function saveButton(label: string, name: string, type: string, text: () => string): HTMLElement {
  return h('button', { type: 'button', class: 'small', onclick: () => {
    const link = h('a', { href: URL.createObjectURL(new Blob([text()], { type })), download: name }) as HTMLAnchorElement;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  } }, label);
}
