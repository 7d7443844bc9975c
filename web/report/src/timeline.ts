// One step on its lanes. What is narrower than a pixel is drawn together with its neighbours, so that any step stays fast.
import { chart, kColor, kStyle, legend, nameMarks, Plot } from './chart';
import { card, h, short } from './dom';
import { bytes, count, seconds } from './units';
import { computeLane, timelineFinding, waits } from './waits';

export interface Timeline {
  step_s: number; gpus: number; nodes: number; left_out: number;
  lanes: { name: string; sort: string }[]; names: string[]; kinds: string[];
  spans: [number, number, number, number, number, number][];
  links: { name: string; bytes: number; bytes_per_s: number; use: number }[];
}
interface Bar { lane: string; from: number; to: number; name: string; kind: string; what: string }

const kKinds: Record<string, string> = {
  kernel: kColor.blue, host: kColor.purple, copy: kColor.yellow, collective: kColor.orange, wait: kColor.grey,
};
const kNames: Record<string, string> = {
  kernel: 'kernel', host: 'host work', copy: 'copy', collective: 'collective', wait: 'wait',
};
const kindOf = (kind: string): string => kNames[kind] ?? kind;

function visible(t: Timeline, lanes: string[], from: number, to: number, perPixel: number): Bar[] {
  const out: Bar[] = [];
  let last: (Bar & { many: number; lane_id: number }) | null = null;
  for (const [lane, start, length, name, kind, size] of t.spans) {
    const end = start + length;
    if (end < from || start > to) continue;
    const small = length < 1.5 * perPixel;
    if (small && last && last.lane_id === lane && last.many > 0 && last.kind === kindOf(t.kinds[kind]) && start - last.to < perPixel) {
      last.to = end;
      last.many += 1;
      last.name = '';
      last.what = `${last.many} tasks in ${seconds((last.to - last.from) / 1e6)}`;
      continue;
    }
    const what = `${short(t.names[name], 60)}\n${seconds(length / 1e6)} from ${seconds(start / 1e6)}${size > 0 ? '\n' + bytes(size) : ''}`;
    last = { lane: lanes[lane], lane_id: lane, from: start, to: end, name: short(t.names[name], 60), kind: kindOf(t.kinds[kind]), what, many: small ? 1 : 0 };
    out.push(last);
  }
  return out;
}

export function timelineCard(t: Timeline): HTMLElement {
  const idle = waits(t).longest.map((w, i) => ({ ...w, number: i + 1 })), compute = computeLane(t);
  const whole = t.step_s * 1e6;
  let from = 0, to = whole;
  const sortName = (sort: string): string => sort === 'link' ? 'link: ' : '';
  const lanes = t.lanes.map((l, i) => `${sortName(l.sort)}${short(l.name, 34)}${t.lanes.findIndex((o) => o.name === l.name) < i ? ` (${i})` : ''}`);
  const room = h('div', { class: 'chart', 'data-chart': 'timeline' });
  const range = h('output', { class: 'note', 'aria-live': 'polite' });
  const kinds = t.kinds.map(kindOf);
  const leftOf = (width: number): number => (width < 560 ? 10 : Math.min(260, Math.max(120, 18 + 6.9 * Math.max(...lanes.map((lane) => lane.length)))));
  const draw = (): void => {
    const width = room.clientWidth;
    if (width < 50) return;
    const left = leftOf(width), perPixel = (to - from) / (width - left - 20);
    const bars = visible(t, lanes, from, to, perPixel).map((b) => ({ ...b, from: Math.max(b.from, from), to: Math.min(b.to, to) }));
    const wide = bars.filter((b) => b.name && (b.to - b.from) / perPixel > 40);
    const fitted = (b: Bar): string => {
      const room_for = Math.floor((b.to - b.from) / perPixel / 7);
      return b.name.length <= room_for ? b.name : b.name.slice(0, room_for - 1) + '\u2026';
    };
    const unit = to - from > 3000 ? { size: 1e3, name: 'ms' } : { size: 1, name: '\u00b5s' };
    const narrow = left === 10;
    const svg = Plot.plot({
      width, height: 60 + lanes.length * (narrow ? 46 : 34), marginLeft: left, marginRight: 20, marginBottom: 40, marginTop: narrow ? 22 : 8, style: kStyle,
      x: { domain: [from / unit.size, to / unit.size], label: `time in the step, ${unit.name}`, labelAnchor: 'center', labelArrow: 'none', grid: true, ticks: Math.max(3, Math.floor(width / 110)), labelOffset: 36 },
      y: { domain: lanes, label: null, axis: narrow ? null : 'left', tickSize: 0, padding: narrow ? 0.45 : 0.2 },
      color: { domain: kinds, range: t.kinds.map((k) => kKinds[k] ?? kColor.grey) },
      marks: [
        Plot.barX(bars, { x1: (b: Bar) => b.from / unit.size, x2: (b: Bar) => b.to / unit.size, y: 'lane', fill: 'kind', insetLeft: 0, insetRight: 0.2,
          title: 'what', tip: { format: { x: false, y: false } }, ariaLabel: 'name', clip: true }),
        Plot.text(wide, { x: (b: Bar) => (b.from + b.to) / 2 / unit.size, y: 'lane', text: fitted, fill: (b: Bar) => b.kind === 'copy' || b.kind === 'collective' ? '#000' : '#fff', fontSize: 11, pointerEvents: 'none' }),
        ...(compute < 0 ? [] : [Plot.barX(idle.filter((w) => w.to > from && w.from < to), { x1: (w: any) => Math.max(w.from, from) / unit.size, x2: (w: any) => Math.min(w.to, to) / unit.size, y: () => lanes[compute],
          fill: kColor.red, fillOpacity: 0.14, stroke: kColor.red, strokeDasharray: '3 2', title: (w: any) => `${w.number}: the GPU waits ${seconds((w.to - w.from) / 1e6)} for ${w.why}` } as any),
          Plot.text(idle.filter((w) => (Math.min(w.to, to) - Math.max(w.from, from)) / perPixel > 16), { x: (w: any) => (Math.max(w.from, from) + Math.min(w.to, to)) / 2 / unit.size, y: () => lanes[compute], text: (w: any) => String(w.number), dy: narrow ? 0 : -10, fontSize: 11, fontWeight: 700, fill: kColor.ink })]),
        ...(narrow ? [Plot.text(lanes, { x: from / unit.size, y: (d: string) => d, text: (d: string) => d, textAnchor: 'start', dy: -20, fontSize: 12 })] : []),
      ],
    });
    nameMarks(svg);
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', `${bars.length} bars on ${lanes.length} lanes from ${seconds(from / 1e6)} to ${seconds(to / 1e6)} of the step`);
    room.replaceChildren(svg);
    range.textContent = `${seconds(from / 1e6)} to ${seconds(to / 1e6)} of ${seconds(t.step_s)}`;
    (frame as any).dataset.from = from.toFixed(3);
    (frame as any).dataset.left = String(left);
    (frame as any).dataset.to = to.toFixed(3);
  };
  const zoom = (factor: number, around = (from + to) / 2): void => {
    const length = Math.min(whole, Math.max(2, (to - from) * factor));
    from = Math.min(Math.max(0, around - (around - from) * length / (to - from)), whole - length);
    to = from + length;
    draw();
  };
  const move = (share: number): void => {
    const by = Math.min(Math.max(-from, share * (to - from)), whole - to);
    from += by; to += by;
    draw();
  };
  const all = (): void => { from = 0; to = whole; draw(); };
  const keys: Record<string, () => void> = {
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '0': all, Home: all,
  };
  const frame = h('div', { class: 'timeline', tabindex: 0, role: 'group', 'aria-label': 'Timeline of one step; plus and minus zoom, arrows move, 0 shows the whole step' }, room);
  frame.addEventListener('keydown', (event) => {
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  const moment = (event: MouseEvent): number => {
    const box = room.getBoundingClientRect(), left = leftOf(room.clientWidth);
    return from + Math.min(1, Math.max(0, (event.clientX - box.left - left) / (box.width - left - 20))) * (to - from);
  };
  frame.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.shiftKey && document.activeElement !== frame) return;
    event.preventDefault();
    zoom((event.deltaY || event.deltaX) > 0 ? 1.3 : 1 / 1.3, moment(event));
  }, { passive: false });
  frame.addEventListener('dblclick', (event) => zoom(0.4, moment(event)));
  // One finger or the mouse moves, two fingers zoom.
  const fingers = new Map<number, number>();
  let grabbed: { x: number; from: number; to: number } | null = null, apart_before = 0;
  const apartNow = (): number => { const [a, b] = [...fingers.values()]; return Math.max(10, Math.abs(a - b)); };
  frame.addEventListener('pointerdown', (event) => {
    fingers.set(event.pointerId, event.clientX);
    grabbed = fingers.size === 1 ? { x: event.clientX, from, to } : null;
    if (fingers.size === 2) apart_before = apartNow();
  });
  const lifted = (event: PointerEvent): void => { fingers.delete(event.pointerId); grabbed = null; };
  window.addEventListener('pointerup', lifted);
  window.addEventListener('pointercancel', lifted);
  frame.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size === 2) {
      const now = apartNow();
      if (Math.abs(now / apart_before - 1) > 0.04) { zoom(apart_before / now, moment(event)); apart_before = now; }
      return;
    }
    if (!grabbed || !(event.buttons & 1)) return;
    const by = (grabbed.x - event.clientX) / room.clientWidth * (grabbed.to - grabbed.from);
    const length = grabbed.to - grabbed.from;
    from = Math.min(Math.max(0, grabbed.from + by), whole - length);
    to = from + length;
    draw();
  });
  new ResizeObserver(draw).observe(room);
  const button = (label: string, text: string, action: () => void): HTMLElement =>
    h('button', { type: 'button', class: 'small', 'aria-label': label, onclick: action }, text);
  return card(timelineFinding(t), `One step in time. Rank 0 of ${count(t.gpus, 'GPU')}: host threads, streams, and the kinds of link its messages cross.`
    + (t.left_out > 0 ? ` The ${t.left_out} shortest tasks are left out.` : ''), { class: 'wide screen', id: 'timeline' },
  h('div', { class: 'tools left' }, button('Zoom in', '+', () => zoom(0.5)), button('Zoom out', '\u2212', () => zoom(2)),
    button('Earlier', '\u2190', () => move(-0.4)), button('Later', '\u2192', () => move(0.4)), button('Whole step', 'Whole step', all), range),
  legend([...new Set(kinds)].map((k) => ({ name: k, color: kKinds[t.kinds[kinds.indexOf(k)]] ?? kColor.grey }))), frame,
  idle.length ? h('ol', { class: 'waits' }, ...idle.map((w) => h('li', {}, `Waits ${seconds((w.to - w.from) / 1e6)} for ${w.why}. `,
    button(`Show wait ${w.number}`, 'Show', () => { from = Math.max(0, w.from - 0.2 * (w.to - w.from)); to = Math.min(whole, w.to + 0.2 * (w.to - w.from)); draw(); })))) : null,
  h('p', { class: 'note' }, 'Drag to move; double-click, pinch, or the wheel after a click to zoom; with the keyboard +, \u2212, arrows and 0.'));
}

export function linkChart(t: Timeline): HTMLElement {
  const rows = t.links.map((l) => ({ ...l, label: short(l.name, 30) }));
  return chart('links', 'Share of the step that the busiest link of each kind is in use', (width) => Plot.plot({
    width, height: 50 + 44 * rows.length, marginLeft: 10, marginRight: 20, marginTop: 16, marginBottom: 36, style: kStyle,
    x: { domain: [0, 100], label: 'use of the busiest link in the step, %', labelAnchor: 'center', labelArrow: 'none', grid: true, ticks: 5 },
    y: { label: null, axis: null, padding: 0.5, domain: rows.map((r) => r.label) },
    marks: [Plot.barX(rows, { x: () => 100, y: 'label', fill: 'var(--track)' }),
      Plot.barX(rows, { x: (r) => Math.min(100, 100 * r.use), y: 'label', fill: (r) => useColor(r.use) }),
      Plot.text(rows, { x: 0, y: 'label', text: (r) => `${r.label}: ${(100 * r.use).toFixed(1)} %, ${bytes(r.bytes)} at ${bytes(r.bytes_per_s)}/s`, textAnchor: 'start', dy: -18 })],
  }));
}

export const useColor = (use: number): string => use < 0.3 ? kColor.sky : use < 0.7 ? kColor.blue : kColor.red;
