// What an answer shows, one story: the sentence, three tiles, why and what to do, the curves, one step in time, the texts.
import { card, copyButton, h, short } from '../../report/src/dom';
import { curve, Ghost, measuredPoints } from '../../report/src/curves';
import { memoryFinding, pointOfAnswer, scalingFinding, speedupFinding, stepFinding, timeOfAnswer } from '../../report/src/findings';
import { answerCard, chosen, kAccounts, ledger, nearestCard, pointTable, stacked, whatFits } from '../../report/src/prediction';
import { Prediction, PredictionPoint } from '../../report/src/reports';
import { bytes, count, digits, seconds, times } from '../../report/src/units';
import { compareSentence, delta, Pinned } from './compare';
import type { Answer } from './engine';
import { playedTimelines } from './play';
import { savePng, saveSvg, saveText } from './save';
import type { State } from './state';

type Any = any;

function tile(id: string, name: string, value: string, notes: string[]): HTMLElement {
  return h('div', { class: 'fact' }, h('dt', {}, name), h('dd', {}, h('strong', { 'data-fact': id }, value), ...notes.filter(Boolean).map((note, i) => h('span', { class: i ? 'delta' : '' }, note))));
}

/** Three, by weight; of what cannot run none speaks of time or speedup. */
function tiles(p: Prediction, pins: Pinned[], epochs: number): HTMLElement {
  const point = pointOfAnswer(p), m = point.memory;
  if (p.cannot_run) return h('dl', { class: 'facts' },
    tile('memory', `Needed on each of ${count(point.gpus, 'GPU')}`, bytes(m.bytes), delta(pins, p, (q) => q.memory.bytes, bytes)),
    tile('capacity', 'A GPU has', bytes(m.capacity_bytes), [short(p.cluster, 40)]),
    tile('batch', 'Largest batch that fits', m.largest_batch_per_gpu > 0 ? String(m.largest_batch_per_gpu) : 'none', [`batch ${point.batch_per_gpu} per GPU was asked for`]));
  const time = timeOfAnswer(p), i = point.speedup_interval;
  const is_run = time.name.startsWith('The run') && pins.every((pin) => pin.page?.epochs === epochs);
  const by_time = (q: PredictionPoint): number | null => (is_run ? q.total_s : q.epoch_s ?? q.step_s);
  const speed = point.gpus > 1 && point.speedup !== null
    ? tile('speedup', `Speedup on ${count(point.gpus, 'GPU')}`, times(point.speedup), [i ? `90 %: ${times(i.low)} to ${times(i.high)}` : '', ...delta(pins, p, (q) => q.speedup, times)])
    : tile('rate', 'Samples per second', digits(point.samples_per_s, 4), ['', ...delta(pins, p, (q) => q.samples_per_s, (v) => digits(v, 4))]);
  return h('dl', { class: 'facts' }, tile('time', time.name, time.value, [time.note, ...delta(pins, p, by_time, seconds)]), speed,
    tile('memory', 'Memory of a GPU', bytes(m.bytes), [m.fits ? `of ${bytes(m.capacity_bytes)}` : `does not fit into ${bytes(m.capacity_bytes)}`, ...delta(pins, p, (q) => q.memory.bytes, bytes)]));
}

/** The fewest GPUs that are done in time with 95 %: the upper end of the 90 % interval. */
export function deadlineSentence(p: Prediction, hours: number): string {
  if (hours <= 0) return '';
  const known = p.points.filter((one) => one.total_s !== null && one.speedup !== null);
  if (!known.length) return 'A deadline needs a data set: how many samples there are is not known.';
  const sure = known.find((one) => (one.total_interval?.high_s ?? one.total_s!) <= 3600 * hours), likely = known.find((one) => one.total_s! <= 3600 * hours);
  if (sure) return `Within ${hours} h with 95 % probability: ${count(sure.gpus, 'GPU')}, done in about ${seconds(sure.total_s)}. Of these numbers it is the smallest.`;
  return likely ? `Within ${hours} h, but not surely: ${count(likely.gpus, 'GPU')} take about ${seconds(likely.total_s)}.` : `None of these numbers of GPUs is done within ${hours} h; the fastest takes ${seconds(Math.min(...known.map((one) => one.total_s!)))}.`;
}

/** A card whose picture can be taken along. */
function savable(part: HTMLElement, name: string): HTMLElement {
  const picture = (): SVGSVGElement | null => part.querySelector('.chart svg');
  part.append(h('div', { class: 'tools' },
    h('button', { type: 'button', class: 'small', 'aria-label': `${name} as SVG`, onclick: () => { const svg = picture(); if (svg) saveSvg(svg, name); } }, 'SVG'),
    h('button', { type: 'button', class: 'small', 'aria-label': `${name} as PNG`, onclick: () => { const svg = picture(); if (svg) savePng(svg, name); } }, 'PNG')));
  return part;
}

function text(title: string, content: string, file: string): HTMLElement {
  return h('details', {}, h('summary', {}, title), h('div', { class: 'tools left' }, copyButton('Copy', () => content),
    h('button', { type: 'button', class: 'small', onclick: () => saveText(content, file) }, 'Save')), h('pre', { tabindex: 0 }, content));
}

function jobPart(withJob: () => Promise<Answer>): HTMLElement {
  const job = h('div', {}, h('button', { type: 'button', class: 'small', id: 'sbatch', onclick: async () => {
    const { job_script: script, why_no_job: none, errors } = await withJob();
    job.replaceChildren(script ? text('Job script', script, 'job.sh') : h('p', { class: 'note' }, short(none ?? errors ?? '', 600)));
    job.querySelector('details')?.setAttribute('open', '');
  } }, 'Write the job script'));
  return job;
}

/** The verdict and what stands directly below it: on a phone this part sticks to the top. */
export function verdictPart(answer: Answer, state: State, pins: Pinned[], notes: string[]): HTMLElement {
  const p: Prediction = answer.prediction, due = deadlineSentence(p, state.deadline);
  return h('div', { class: 'story' }, h('p', { class: 'headline', id: 'verdict' }, short(p.headline || 'This training cannot run here.', 600)), tiles(p, pins, answer.page?.epochs),
    due && !p.cannot_run ? h('p', { class: 'aside', id: 'due' }, due) : null,
    ...[...notes, answer.left_out ?? ''].filter(Boolean).map((note, i) => h('p', { class: 'aside', id: i ? null : 'left-out' }, short(note, 500))),
    ...pins.map((pin) => h('p', { class: 'aside compare', style: `--c:${pin.color}` }, h('span', { class: 'swatch', 'aria-hidden': 'true' }), short(compareSentence(pin, state, p), 700))));
}

export interface Shown { answer: Answer; notes: string[]; state: State; pins: Pinned[]; command: string; withJob: () => Promise<Answer> }

/** `withJob` asks for the job script, too, which takes longer than the rest. */
export function results({ answer, notes, state, pins, command, withJob }: Shown): HTMLElement {
  const p: Prediction = answer.prediction, d = answer.page, points = chosen(p.points), point = pointOfAnswer(p);
  const unit = Math.max(...p.points.map((one) => one.step_s)) < 1 ? { size: 1e-3, name: 'ms' } : { size: 1, name: 's' };
  const labelled = [...points.map((one) => ({ ...one, label: count(one.gpus, 'GPU') })),
    ...pins.filter((pin) => pin.prediction && !pin.prediction.cannot_run).map((pin) => { const q = pointOfAnswer(pin.prediction); return { ...q, label: `${pin.name}: ${count(q.gpus, 'GPU')}` }; })];
  const ghosts: Ghost[] = pins.filter((pin) => pin.prediction && !pin.prediction.cannot_run).map((pin) => ({ name: pin.name, color: pin.color, points: pin.prediction.points }));
  const measured = measuredPoints(d?.nearest, p.model, p.points), curves = !p.cannot_run && (p.points.length > 1 || ghosts.some((g) => g.points.length > 1));
  const scaling = p.scaling === 'weak' ? 'Every GPU keeps its batch.' : 'The batch of all GPUs stays the same.';
  const timelines = [{ name: '', timeline: d?.timeline }, ...pins.slice(0, 1).map((pin) => ({ name: pin.name, timeline: pin.page?.timeline }))].filter((run) => run.timeline);
  return h('div', { class: 'report' }, verdictPart(answer, state, pins, notes), h('div', { class: 'grid' },
    answerCard(p), whatFits(p.answer?.what_fits),
    curves ? savable(card(scalingFinding(p), `Efficiency: speedup per GPU. ${scaling}${measured.length ? ' Diamonds are runs that others measured; filled ones on the nearest GPU.' : ''}`, { id: 'efficiency' }, curve(p.points, 'efficiency', measured, ghosts)), 'efficiency') : null,
    p.cannot_run ? null : savable(card(stepFinding(p), 'Where a step goes.', { id: 'breakdown', class: curves ? '' : 'wide' }, stacked('breakdown', labelled, kAccounts, (one, key) => one.breakdown[key], `step, ${unit.name}`, unit.size, seconds)), 'breakdown'),
    curves ? savable(card(speedupFinding(p), 'How many times as fast as one GPU.', { id: 'speedup' }, curve(p.points, 'speedup', measured, ghosts)), 'speedup') : null,
    ledger(point.memory) ? card(memoryFinding(p), `${bytes(point.memory.bytes)} of ${bytes(point.memory.capacity_bytes)} on ${count(point.gpus, 'GPU')}.`, { class: curves ? '' : 'wide', id: 'memory' }, ledger(point.memory)) : null,
    ...(timelines.length ? playedTimelines(timelines as Any) : []),
    nearestCard(d?.nearest),
    p.cannot_run ? null : card('All numbers', '', { class: 'wide', id: 'numbers' }, pointTable(p)),
    p.warnings?.length ? card('Worth knowing', '', { class: 'wide warning' }, h('ul', { class: 'plain' }, ...p.warnings.map((w) => h('li', {}, short(w, 600))))) : null,
    card('To take along', '', { class: 'wide', id: 'take' }, h('p', { class: 'note' }, 'The same in a terminal: ', h('code', {}, command), ' ', copyButton('Copy', () => command)),
      text('As the terminal shows it', answer.table ?? '', 'prediction.txt'), text('The scenario', answer.scenario_toml ?? '', 'scenario.toml'), jobPart(withJob))));
}
