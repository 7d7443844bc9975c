// What all charts share: they are drawn again when their room changes, and have a name for those who cannot see them.
import * as Plot from '@observablehq/plot';
import { h } from './dom';

export type Draw = (width: number) => Element;

/** Categories of a step and of tasks, in colours that colour-blind people tell apart (Okabe and Ito). */
export const kColor = {
  blue: 'var(--blue)', orange: 'var(--orange)', green: 'var(--green)', red: 'var(--red)', purple: 'var(--purple)',
  sky: 'var(--sky)', grey: 'var(--grey)', ink: 'var(--ink)', quiet: 'var(--quiet)', yellow: 'var(--yellow)',
};

export function chart(name: string, description: string, draw: Draw): HTMLElement {
  const room = h('div', { class: 'chart', 'data-chart': name });
  let drawn = 0;
  const again = (): void => {
    const width = Math.floor(room.clientWidth);
    if (width < 50 || width === drawn) return;
    drawn = width;
    const picture = draw(width);
    const svg = picture.tagName.toLowerCase() === 'svg' ? picture : picture.querySelector('svg:not([class*=swatch])');
    svg?.setAttribute('role', 'img');
    svg?.setAttribute('aria-label', description);
    if (svg) nameMarks(svg);
    room.replaceChildren(picture);
  };
  new ResizeObserver(again).observe(room);
  window.addEventListener('beforeprint', () => { drawn = 0; again(); });
  return room;
}

/** Parts of a picture are named for tests only: to a screen reader the picture is one thing. */
export function nameMarks(svg: Element): void {
  svg.querySelectorAll('[aria-label]').forEach((part) => {
    part.setAttribute('data-mark', part.getAttribute('aria-label')!);
    part.removeAttribute('aria-label');
  });
}

export const kStyle = { fontSize: '12px', fontFamily: 'inherit', background: 'transparent', overflow: 'visible' };

/** Numbers on an axis that stand apart: doublings where there are many, and the last. */
export function apart(values: number[], width: number, isLog: boolean): number[] {
  const all = [...new Set(values)].sort((a, b) => a - b);
  const [first, last] = [all[0], all[all.length - 1]];
  if (first === last) return all;
  const at = (v: number): number => isLog ? Math.log(v / first) / Math.log(last / first) : (v - first) / (last - first);
  const out: number[] = [];
  for (const v of all) {
    const place = at(v) * width;
    const from = out.length ? at(out[out.length - 1]) * width : -Infinity;
    if (place - from >= 30 && (v === last || (1 - at(v)) * width >= 30)) out.push(v);
  }
  return out;
}

export interface Key { name: string; color: string; sort?: 'line' | 'dash' | 'dot' | 'band' | 'ring' }

export function legend(keys: Key[]): HTMLElement {
  return h('ul', { class: 'legend' }, ...keys.map((key) =>
    h('li', {}, h('span', { class: 'swatch ' + (key.sort ?? ''), style: `--c:${key.color}`, 'aria-hidden': 'true' }), key.name)));
}

export { Plot };
