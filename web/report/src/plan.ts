// Layouts of a large model: why the first is first, which are worth their memory, all of them; and several numbers of GPUs.
import { apart, chart, kColor, kStyle, legend, Plot } from './chart';
import { card, h, short } from './dom';
import { kAccounts, stacked } from './prediction';
import { Layout, Plan, Plans } from './reports';
import { table } from './table';
import { bytes, count, digits, percent, seconds } from './units';

type Any = any;
const kMostBars = 12, kMostRows = 2000;
const num = (name: string, text: (p: Any) => string, value: (p: Any) => Any): Any => ({ name, number: true, cell: (p: Any) => ({ text: text(p), value: value(p) }) });
const axis = (label: string, more: object = {}): object => ({ label, labelAnchor: 'center', labelArrow: 'none', ...more });
const nameOf = (l: Layout): string => `${l.layout}, micro-batch ${l.micro_batch}${l.recompute === 'none' ? '' : `, recompute ${l.recompute}`}${l.shard === 'parameters' ? ', sharded parameters' : ''}`;
const range = (r: Any, text: (v: number) => string): string => (r ? `${text(r.low)} to ${text(r.high)}` : '\u2013');

/** Each layout by its memory and its step; what lies on the line is beaten by none in both. */
function frontChart(layouts: Layout[]): HTMLElement {
  const gb = (l: Any): number => l.memory_bytes / 1e9, front = layouts.filter((l) => l.on_front).sort((a, b) => a.memory_bytes - b.memory_bytes);
  const others = layouts.filter((l) => !l.on_front).slice(0, kMostRows), say = (l: Any): string => `${nameOf(l)}\n${seconds(l.step_s)} a step, ${bytes(l.memory_bytes)}`;
  return h('div', {}, legend([{ name: 'nothing is faster and needs less', color: kColor.blue, sort: 'dot' }, { name: 'other layouts', color: kColor.grey, sort: 'dot' }]),
    chart('front', `Step over memory of ${layouts.length} layouts`, (width) => Plot.plot({ width, height: 320, marginLeft: 62, marginRight: 20, marginTop: 14, marginBottom: 46, style: kStyle,
      x: { ...axis('memory of the fullest GPU, GB', { labelOffset: 40 }), grid: true, ticks: Math.max(3, Math.floor(width / 110)) } as Any,
      y: { ...axis('step, s', { labelOffset: 50 }), type: 'log', grid: true, ticks: 5, tickFormat: (v: number) => String(Number(v.toPrecision(3))) } as Any,
      marks: [Plot.dot(others, { x: gb, y: 'step_s', r: 3.5, fill: kColor.grey, fillOpacity: 0.6, title: say, tip: { format: { x: false, y: false } } }),
        Plot.line(front, { x: gb, y: 'step_s', stroke: kColor.blue, strokeWidth: 2, curve: 'step-after' }),
        Plot.dot(front, { x: gb, y: 'step_s', r: 5, fill: kColor.blue, stroke: 'var(--card)', ariaLabel: (l: Any) => `${nameOf(l)}: ${l.step_s} s, ${gb(l)} GB`, title: say, tip: { format: { x: false, y: false } } })] })));
}

/** What cannot be told apart from the first shares its place. */
const placed = (layouts: Layout[]): (Layout & { place: number; number: number })[] => layouts.map((l, i) => ({ ...l, place: l.tied_with_first ? 1 : i + 1, number: i + 1 }));

function onePlan(p: Plan): HTMLElement {
  const rows = placed(p.layouts), first = rows[0], on = `on ${count(p.gpus, 'GPU')}`;
  if (!first) return h('div', { class: 'report' }, h('p', { class: 'headline' }, `Nothing fits ${on}: ${short(p.why_none, 400)}.`));
  const tied = rows.filter((l) => l.tied_with_first).length, bars = rows.slice(0, kMostBars).map((l) => ({ ...l, label: `no. ${l.number}` }));
  const reasons = [`Why: ${p.why_first}.`, ...(tied ? [`${count(tied, 'other layout')} as long within 5 %: ordered by the chance that they fit.`] : []),
    ...(p.would_change.length ? p.would_change.map((w: string) => `What would change it: ${w}.`) : ['Links half or twice as fast, or GPUs twice as fast, would not change it.'])];
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, p.answer ? short(p.answer.verdict, 600) : `${short(nameOf(first), 200)} ${on}: ${seconds(first.step_s)} a step, ${digits(first.tokens_per_s_per_gpu, 4)} tokens/s a GPU, ${bytes(first.memory_bytes)} of memory.`),
    h('div', { class: 'grid' },
      card(`Why this one ${on}`, `${p.possible} layouts divide, ${p.without_memory} lack memory, ${rows.length} fit.`, {}, h('ul', { class: 'list' }, ...reasons.map((r: string) => h('li', {}, short(r, 400))))),
      card(`Time against memory ${on}`, 'A smaller layout leaves room for longer sequences or larger batches.', {}, frontChart(rows)),
      card(`Where the step goes ${on}`, `The first ${bars.length}, numbered as in the table.`, { class: 'wide' }, stacked('breakdown', bars, kAccounts, (l, key) => l.breakdown?.[key] ?? 0, 'step, s', 1, seconds)),
      card(`All layouts ${on}`, 'Those within 5 % of the first are ordered by the chance that they fit.', { class: 'wide' }, table(`Layouts ${on}`, [
        num('No.', (l) => String(l.number), (l) => l.number), num('Place', (l) => (l.tied_with_first ? '1=' : String(l.place)), (l) => l.place), { name: 'Layout', cell: (l: Any) => l.layout },
        num('Micro-batch', (l) => String(l.micro_batch), (l) => l.micro_batch), { name: 'Schedule', cell: (l: Any) => (l.pipeline > 1 ? l.schedule : '\u2013') },
        { name: 'Shares out', cell: (l: Any) => l.shard }, { name: 'Recomputes', cell: (l: Any) => l.recompute },
        num('Step', (l) => seconds(l.step_s), (l) => l.step_s), num('90 % interval', (l) => range(l.step_90, seconds), (l) => l.step_90?.low), num('Over the first, 90 %', (l) => range(l.over_first_90, (v) => digits(v)), (l) => l.over_first_90?.low),
        num('Tokens/s a GPU', (l) => digits(l.tokens_per_s_per_gpu, 4), (l) => l.tokens_per_s_per_gpu), num('MFU', (l) => percent(l.mfu, 1), (l) => l.mfu), num('Bubble', (l) => percent(l.bubble, 1), (l) => l.bubble),
        num('Memory', (l) => bytes(l.memory_bytes), (l) => l.memory_bytes), { name: 'On the front', cell: (l: Any) => (l.on_front ? 'yes' : '') }], rows.slice(0, kMostRows), `layouts-${p.gpus}`))));
}

function speedChart(rows: Any[]): HTMLElement {
  const all = rows.map((r) => r.gpus), isLog = all[all.length - 1] / all[0] > 8, scale = isLog ? 'log' : 'linear';
  return chart('speed', 'Tokens per second over the number of GPUs', (width) => Plot.plot({ width, height: 300, marginLeft: 70, marginRight: 20, marginTop: 14, marginBottom: 46, style: kStyle,
    x: { ...axis('number of GPUs', { labelOffset: 40 }), type: scale, ticks: apart(all, width - 90, isLog), tickFormat: String } as Any,
    y: { ...axis('tokens/s', { labelOffset: 58 }), type: scale, grid: true, ticks: 5, tickFormat: '~s' } as Any,
    marks: [Plot.line(rows, { x: 'gpus', y: 'tokens_per_s', stroke: kColor.blue, strokeWidth: 2.5 }),
      Plot.dot(rows, { x: 'gpus', y: 'tokens_per_s', r: 5, fill: (r: Any) => (r.pays ? kColor.blue : kColor.orange), ariaLabel: (r: Any) => `${r.gpus} GPUs: ${r.tokens_per_s}`,
        title: (r: Any) => `${count(r.gpus, 'GPU')}: ${digits(r.tokens_per_s, 4)} tokens/s\n${nameOf(r.plan.layouts[0])}`, tip: { format: { x: false, y: false, fill: false } } })] }));
}

function severalPlans(p: Plans): HTMLElement {
  const fit = p.counts.filter((c: Any) => c.fits), of = (c: Any): Any => c.plan.layouts[0];
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, short(p.answer.verdict, 600)), h('div', { class: 'grid' },
    fit.length ? card('Speed', 'Numbers in orange do not pay: a doubling is less than 1.4 times as fast.', {}, speedChart(fit)) : null,
    card('Numbers of GPUs', `The best layout of each; ${p.is_run_of_scenario ? 'the run' : '10\u00b9\u00b2 tokens'}.`, { class: 'wide' }, table('Numbers of GPUs', [
      num('GPUs', (c) => String(c.gpus), (c) => c.gpus), num('Nodes', (c) => String(c.nodes), (c) => c.nodes), { name: 'Layout', cell: (c: Any) => (c.fits ? nameOf(of(c)) : c.plan.why_none) },
      num('Step', (c) => (c.fits ? seconds(of(c).step_s) : '\u2013'), (c) => of(c)?.step_s), num('90 % interval', (c) => range(of(c)?.step_90, seconds), (c) => of(c)?.step_90?.low),
      num('Tokens/s', (c) => (c.fits ? digits(c.tokens_per_s, 4) : '\u2013'), (c) => c.tokens_per_s), num('Efficiency', (c) => percent(c.efficiency), (c) => c.efficiency),
      num('Run', (c) => seconds(c.run_s), (c) => c.run_s), num('GPU-hours', (c) => (c.fits ? digits(c.gpu_hours, 4) : '\u2013'), (c) => c.gpu_hours), { name: 'Pays', cell: (c: Any) => (c.pays ? 'yes' : '') }], p.counts, 'counts'))),
    ...fit.map((c: Any) => onePlan(c.plan)));
}

export const planPart = (p: Plan | Plans): HTMLElement => (p.schema === 'foretrain.plans/1' ? severalPlans(p) : onePlan(p));
