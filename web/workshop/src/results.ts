// What an answer shows: the sentence, a few facts, curves, where the step goes, one step in time, the texts.
import { card, copyButton, h, short } from '../../report/src/dom';
import { chosen, curve, kAccounts, ledger, pointTable, stacked, whatFits } from '../../report/src/prediction';
import { bytes, count, percent, seconds, times } from '../../report/src/units';
import type { Answer } from './engine';
import { playedTimeline } from './play';
import { savePng, saveSvg, saveText } from './save';

type Any = any;

function facts(p: Any): HTMLElement {
  const last = p.points[p.points.length - 1], gpus = count(last.gpus, 'GPU');
  const fact = (id: string, name: string, value: string, note: string): HTMLElement =>
    h('div', { class: 'fact' }, h('dt', {}, name), h('dd', {}, h('strong', { 'data-fact': id }, value), h('span', {}, note)));
  const between = last.speedup_interval ? `90 %: ${times(last.speedup_interval.low)} to ${times(last.speedup_interval.high)}` : '';
  return h('dl', { class: 'facts' },
    fact('speedup', `Speedup on ${gpus}`, times(last.speedup), between),
    fact('efficiency', 'Efficiency', percent(last.efficiency, 1), `${count(last.nodes, 'node')}, batch ${last.batch_per_gpu} a GPU`),
    fact('step', 'A step', seconds(last.step_s), last.interval ? `90 %: ${seconds(last.interval.low_s)} to ${seconds(last.interval.high_s)}` : ''),
    fact('epoch', 'An epoch', seconds(last.epoch_s), last.steps_per_epoch === null ? '' : `${last.steps_per_epoch} steps`),
    fact('memory', 'Memory of a GPU', bytes(last.memory.bytes), last.memory.fits ? `of ${bytes(last.memory.capacity_bytes)}` : `does not fit into ${bytes(last.memory.capacity_bytes)}`));
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

export function refusal(errors: string): HTMLElement {
  return h('section', { class: 'card warning wide', role: 'alert', id: 'errors' }, h('h2', {}, 'This cannot be predicted'), h('pre', { tabindex: 0 }, errors));
}

/** `withJob` asks for the job script, too, which takes longer than the rest. */
export function results(answer: Answer, command: string, withJob: () => Promise<Answer>): HTMLElement {
  const p = answer.prediction, d = answer.page, points = chosen(p.points);
  const unit = Math.max(...p.points.map((one: Any) => one.step_s)) < 1 ? { size: 1e-3, name: 'ms' } : { size: 1, name: 's' };
  const labelled = points.map((one: Any) => ({ ...one, label: count(one.gpus, 'GPU') }));
  const measured = d?.measured ?? [], curves = !p.cannot_run && p.points.length > 1;
  const why = (answer.why ?? '').split('\n').filter((line) => line.trim() !== '').slice(1);
  const job = h('div', {}, h('button', { type: 'button', class: 'small', id: 'sbatch', onclick: async () => {
    const { job_script: script, why_no_job: none, errors } = await withJob();
    job.replaceChildren(script ? text('Job script', script, 'job.sh') : h('p', { class: 'note' }, short(none ?? errors ?? '', 600)));
    job.querySelector('details')?.setAttribute('open', '');
  } }, 'Write the job script'));
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, short(p.headline || 'This training cannot run here.', 600)), facts(p),
    h('div', { class: 'grid' },
      curves ? savable(card('Speedup', p.scaling === 'weak' ? 'Every GPU keeps its batch.' : 'The batch of all GPUs stays the same.', { id: 'speedup' }, curve(p.points, 'speedup', measured)), 'speedup') : null,
      curves ? savable(card('Efficiency', 'Speedup over the number of GPUs.', { id: 'efficiency' }, curve(p.points, 'efficiency', measured)), 'efficiency') : null,
      savable(card('Where a step goes', '', { id: 'breakdown', class: curves ? '' : 'wide' }, stacked('breakdown', labelled, kAccounts, (one, key) => one.breakdown[key], `step, ${unit.name}`, unit.size, seconds)), 'breakdown'),
      card('Why', '', { id: 'why', class: curves ? '' : 'wide' }, ...why.map((line) => h('p', { class: 'why' }, short(line, 900)))),
      whatFits(p.answer?.what_fits),
      ledger(p.points[p.points.length - 1].memory) ? card('Memory of a GPU', '', { class: 'wide', id: 'memory' }, ledger(p.points[p.points.length - 1].memory)) : null,
      d?.timeline ? playedTimeline(d.timeline) : null,
      card('All numbers', '', { class: 'wide', id: 'numbers' }, pointTable(p)),
      p.warnings?.length ? card('Worth knowing', '', { class: 'wide warning' }, h('ul', { class: 'plain' }, ...p.warnings.map((w: string) => h('li', {}, short(w, 600))))) : null,
      card('To take along', '', { class: 'wide', id: 'take' }, h('p', { class: 'note' }, 'The same in a terminal: ', h('code', {}, command), ' ', copyButton('Copy', () => command)),
        text('As the terminal shows it', answer.table ?? '', 'prediction.txt'), text('The scenario', answer.scenario_toml ?? '', 'scenario.toml'), job)));
}
