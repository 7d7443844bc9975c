// One step played back, or two side by side on one clock: a line moves over each timeline, and what runs under it is said.
import { h, short } from '../../report/src/dom';
import { Timeline, timelineCard } from '../../report/src/timeline';
import { seconds } from '../../report/src/units';

const kSeconds = 8;  // of playing the longest step

/** What runs at a moment, as "forward conv2_1 · ncclAllReduce". */
function running(t: Timeline, at: number): string {
  if (at > t.step_s * 1e6) return 'this step is over';
  const names = t.lanes.map((lane, i) => {
    const span = t.spans.find(([l, start, length]) => l === i && start <= at && at < start + length);
    return span ? `${short(lane.name, 24)}: ${short(t.names[span[3]], 40)}` : '';
  });
  return names.filter((name) => name !== '').join(' \u00b7 ') || 'nothing';
}

interface Played { card: HTMLElement; place(at: number): void; button: HTMLElement }

function played(t: Timeline, name: string): Played {
  const card = timelineCard(t), frame = card.querySelector<HTMLElement>('.timeline')!, room = frame.querySelector<HTMLElement>('.chart')!;
  if (name) { card.prepend(h('p', { class: 'kind' }, name)); card.id = `timeline-${name}`; }
  const line = h('div', { class: 'play-line', 'aria-hidden': 'true' }), now = h('p', { class: 'note now' }, 'Play the step to see what runs beside what.');
  const button = h('button', { type: 'button', class: 'small play' }, '\u25b6 Play');
  line.hidden = true;
  frame.classList.add('played');
  frame.append(line);
  card.querySelector('.tools')!.prepend(button);
  frame.after(now);
  return { card, button, place(at) {
    const from = Number(frame.dataset.from ?? 0), to = Number(frame.dataset.to ?? t.step_s * 1e6);
    const left = Number(frame.dataset.left ?? 10), share = (at - from) / (to - from);
    line.hidden = share < 0 || share > 1;
    line.style.left = `${left + share * (room.clientWidth - left - 20)}px`;
    now.textContent = `${seconds(at / 1e6)}: ${running(t, at)}`;
  } };
}

/** The first is the answer's; a second one has a name. */
export function playedTimelines(runs: { name: string; timeline: Timeline }[]): HTMLElement[] {
  const all = runs.map((run) => played(run.timeline, run.name)), longest = Math.max(...runs.map((run) => run.timeline.step_s)) * 1e6;
  let begun = 0, at = 0, playing = false;
  const say = (): void => all.forEach((one) => { one.button.textContent = playing ? '\u275a\u275a Pause' : '\u25b6 Play'; });
  const tick = (moment: number): void => {
    if (!playing || !all[0].card.isConnected) return;
    at = Math.min(1, (moment - begun) / 1000 / kSeconds) * longest;
    all.forEach((one) => one.place(at));
    if (at < longest) requestAnimationFrame(tick); else { playing = false; say(); }
  };
  const toggle = (): void => {
    playing = !playing;
    say();
    if (!playing) return;
    if (at >= longest) at = 0;
    begun = performance.now() - at / longest * kSeconds * 1000;
    requestAnimationFrame(tick);
  };
  all.forEach((one) => one.button.addEventListener('click', toggle));
  return all.map((one) => one.card);
}
