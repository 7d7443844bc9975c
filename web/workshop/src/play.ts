// One step played back: a line moves over the timeline, and what runs under it is said.
import { h, short } from '../../report/src/dom';
import { Timeline, timelineCard } from '../../report/src/timeline';
import { seconds } from '../../report/src/units';

const kSeconds = 8;  // of playing a whole step

/** What runs at a moment, as "forward conv2_1 · ncclAllReduce". */
function running(t: Timeline, at: number): string {
  const names = t.lanes.map((lane, i) => {
    const span = t.spans.find(([l, start, length]) => l === i && start <= at && at < start + length);
    return span ? `${short(lane.name, 24)}: ${short(t.names[span[3]], 40)}` : '';
  });
  return names.filter((name) => name !== '').join(' \u00b7 ') || 'nothing';
}

export function playedTimeline(t: Timeline): HTMLElement {
  const card = timelineCard(t);
  const frame = card.querySelector<HTMLElement>('.timeline')!;
  const room = frame.querySelector<HTMLElement>('.chart')!;
  const line = h('div', { class: 'play-line', 'aria-hidden': 'true' });
  const now = h('p', { class: 'note now' }, 'Play the step to see what runs beside what.');
  const button = h('button', { type: 'button', class: 'small play' }, '\u25b6 Play');
  let begun = 0, at = 0, playing = false;
  const place = (): void => {
    const from = Number(frame.dataset.from ?? 0), to = Number(frame.dataset.to ?? t.step_s * 1e6);
    const left = room.clientWidth < 560 ? 10 : 170, width = room.clientWidth - left - 20;
    const share = (at - from) / (to - from);
    line.hidden = share < 0 || share > 1;
    line.style.left = `${left + share * width}px`;
    now.textContent = `${seconds(at / 1e6)}: ${running(t, at)}`;
  };
  const tick = (moment: number): void => {
    if (!playing || !card.isConnected) return;
    at = Math.min(1, (moment - begun) / 1000 / kSeconds) * t.step_s * 1e6;
    place();
    if (at < t.step_s * 1e6) requestAnimationFrame(tick); else stop();
  };
  const stop = (): void => { playing = false; button.textContent = '\u25b6 Play'; };
  button.addEventListener('click', () => {
    if (playing) { stop(); return; }
    playing = true;
    button.textContent = '\u275a\u275a Pause';
    if (at >= t.step_s * 1e6) at = 0;
    begun = performance.now() - at / (t.step_s * 1e6) * kSeconds * 1000;
    requestAnimationFrame(tick);
  });
  line.hidden = true;
  frame.classList.add('played');
  frame.append(line);
  card.querySelector('.tools')!.prepend(button);
  frame.after(now);
  return card;
}
