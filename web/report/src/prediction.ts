// A prediction: what to take, the curves, where the step goes, one step in time, memory, the node, tables.
import { chart, kColor, kStyle, legend, Plot } from './chart';
import { axis, curve, measuredPoints, Near } from './curves';
import { card, copyButton, h, saveButton, shown, short } from './dom';
import { memoryFinding, pointOfAnswer, scalingFinding, speedupFinding, stepFinding } from './findings';
import { Decision, FittingWay, Memory, MemoryRow, Prediction, PredictionPoint, Recommendation, Sensitivity, TrainingLimits } from './reports';
import { table } from './table';
import { Timeline, linkChart, timelineCard, useColor } from './timeline';
import { bytes, count, digits, percent, seconds, times } from './units';

type Any = any;

export const kAccounts: [string, string, string][] = [
  ['compute_s', 'compute', kColor.blue], ['exposed_communication_s', 'exposed communication', kColor.orange],
  ['input_stall_s', 'input', kColor.yellow], ['host_s', 'host', kColor.purple],
  ['optimizer_s', 'optimizer', kColor.green], ['other_s', 'other', kColor.grey]];
const kMemory: [string, string, string][] = [
  ['parameters_bytes', 'weights', kColor.blue], ['gradients_bytes', 'gradients', kColor.orange],
  ['optimizer_bytes', 'optimizer', kColor.green], ['buckets_bytes', 'buckets', kColor.yellow],
  ['activations_bytes', 'activations', kColor.sky], ['workspace_bytes', 'workspace', kColor.purple],
  ['framework_bytes', 'framework', kColor.grey]];


/** Room for the longest name beside the bars. */
export const room_left = (rows: { label: string }[]): number => 22 + 7.4 * Math.max(5, ...rows.map((r) => r.label.length));

export function stacked(name: string, points: { label: string; [key: string]: Any }[], parts: [string, string, string][], of: (p: Any, key: string) => number,
  axis_name: string, unit: number, say: (v: number) => string, limit?: { value: number; name: string }): HTMLElement {
  const used = parts.filter(([key]) => points.some((p) => of(p, key) > 0));
  const rows = points.flatMap((p) => used.map(([key, part]) => ({ label: p.label, part, value: of(p, key) / unit, what: `${p.label}: ${part}\n${say(of(p, key))}` })));
  return h('div', {}, legend([...used.map(([, part, color]) => ({ name: part, color })), ...(limit ? [{ name: limit.name, color: kColor.red, sort: 'dash' as const }] : [])]),
    chart(name, `${axis_name} by part for ${points.map((p) => p.label).join(', ')}`, (width) => Plot.plot({
      width, height: 58 + 30 * points.length, marginLeft: room_left(points), marginRight: 18, marginTop: 8, marginBottom: 44, style: kStyle,
      x: { ...axis(axis_name, { labelOffset: 38 }), grid: true, ticks: Math.max(3, Math.floor(width / 90)) } as Any,
      y: { domain: points.map((p) => p.label), label: null, tickSize: 0, padding: 0.25 },
      color: { domain: used.map(([, part]) => part), range: used.map(([, , color]) => color) },
      marks: [Plot.barX(rows, { x: 'value', y: 'label', fill: 'part', title: 'what', tip: { format: { x: false, y: false, fill: false } }, insetRight: 0.5 }),
        Plot.ruleX([0], { stroke: kColor.quiet }),
        ...(limit ? [Plot.ruleX([limit.value / unit], { stroke: kColor.red, strokeWidth: 2, strokeDasharray: '5 4' })] : [])],
    })));
}

/** As many numbers of GPUs as a picture holds: the first, the last, and doublings between. */
export function chosen(points: PredictionPoint[]): PredictionPoint[] {
  if (points.length <= 10) return points;
  const keep = new Set([points[0].gpus, points[points.length - 1].gpus]);
  for (const p of points) if (Number.isInteger(Math.log2(p.gpus))) keep.add(p.gpus);
  return points.filter((p) => keep.has(p.gpus));
}

function tornado(s: Sensitivity): HTMLElement {
  const total = (s.total_s ?? s.step_s)!, what = s.total_s === null ? 'step' : 'total';
  const unit = total > 172800 ? { size: 3600, name: 'h' } : total > 600 ? { size: 60, name: 'min' } : { size: 1, name: 's' };
  const rows = s.inputs.filter((i: Any) => i.share >= 0.0005).slice(0, 9).map((i: Any) => ({ ...i, label: short(i.input, 40) }));
  return chart('tornado', `How far each uncertain input alone moves the ${what} of ${seconds(total)}`, (width) => Plot.plot({
    width, height: 52 + 44 * rows.length, marginLeft: 14, marginRight: 18, marginTop: 18, marginBottom: 44, style: kStyle,
    x: { ...axis(`${what} time, ${unit.name}`, { labelOffset: 38 }), grid: true, ticks: 6 } as Any,
    y: { axis: null, domain: rows.map((r: Any) => r.label), padding: 0.5 },
    marks: [
      Plot.barX(rows, { x1: (r: Any) => r.low_s / unit.size, x2: () => total / unit.size, y: 'label', fill: kColor.sky, title: (r: Any) => `${r.label}\n${seconds(r.low_s)} to ${seconds(r.high_s)}\n${shown(r.origin)}`, tip: { format: { x: false, y: false } } }),
      Plot.barX(rows, { x1: () => total / unit.size, x2: (r: Any) => r.high_s / unit.size, y: 'label', fill: kColor.orange }),
      Plot.ruleX([total / unit.size], { stroke: kColor.ink }),
      Plot.text(rows, { frameAnchor: 'left', y: 'label', text: (r: Any) => `${r.label}: ${r.share < 0.01 ? 'under 1' : (100 * r.share).toFixed(0)} %`, textAnchor: 'start', dy: -19, stroke: 'var(--card)', strokeWidth: 4, fill: kColor.ink }),
    ],
  }));
}

function topology(svg: string, t: Timeline | undefined): HTMLElement {
  const parsed = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  if (parsed.tagName !== 'svg') return h('p', {}, 'There is no drawing.');
  parsed.querySelectorAll('style, script, foreignObject').forEach((e) => e.remove());
  for (const [prefix, sort] of [['the network', 'network'], ['NVLink', 'nvlink'], ['PCIe', 'pcie'], ['the socket', 'socket']]) {
    const link = t?.links.find((l) => l.name.startsWith(prefix));
    if (link) parsed.querySelectorAll(`.link.${sort}`).forEach((e) => { (e as SVGElement).style.stroke = useColor(link.use); e.classList.add('used'); });
  }
  parsed.setAttribute('class', 'topology');
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Drawing of a node' }, document.importNode(parsed, true));
}

export function textBlock(title: string, text: string, file: string, open = false): HTMLElement {
  return h('details', { open }, h('summary', {}, title),
    h('div', { class: 'tools' }, copyButton('Copy', () => text), saveButton('Save', file, 'text/plain', () => text)),
    h('pre', { tabindex: 0, 'aria-label': title }, text));
}

export const listCard = (title: string, items: string[], mark = ''): HTMLElement | null =>
  items.length ? card(title, '', { class: 'wide ' + mark }, h('ul', { class: 'plain' }, ...items.map((i) => h('li', {}, short(i, 1500))))) : null;

export function decisionsCard(decisions: Decision[]): HTMLElement | null {
  if (!decisions?.length) return null;
  return card('Assumptions and decisions', '', { class: 'wide screen' }, h('details', {}, h('summary', {}, `${decisions.length} choices that the prediction rests on, and why`),
    table('What was chosen and why', [{ name: 'Subject', cell: (d: Any) => d.subject }, { name: 'Choice', cell: (d: Any) => d.choice }, { name: 'Why', cell: (d: Any) => d.why }], decisions, 'decisions')));
}

const fact = (name: string, value: string, note = ''): HTMLElement =>
  h('div', { class: 'fact' }, h('dt', {}, name), h('dd', {}, h('strong', {}, value), note ? h('span', {}, note) : null));

function facts(r: Prediction): HTMLElement {
  const point = pointOfAnswer(r), worth = r.crossover?.worth_requesting?.['0.9'], memory = point.memory;
  const i = point.total_interval ?? point.interval, many = count(point.gpus, 'GPU');
  return h('dl', { class: 'facts' },
    fact(point.total_s === null ? `A step on ${many}` : `Time on ${many}`, seconds(point.total_s ?? point.step_s), i ? `90 %: ${seconds(i.low_s)} to ${seconds(i.high_s)}` : ''),
    point.speedup === null ? null : fact('Speedup', times(point.speedup), `efficiency ${percent(point.efficiency)}`),
    worth ? fact('Worth at 90 % efficiency', `up to ${count(worth.every_up_to, 'GPU')}`) : null,
    fact('Memory of a GPU', bytes(memory.bytes), `of ${bytes(memory.capacity_bytes)}${memory.fits ? '' : ': does not fit'}`));
}

/** Cause, action and assumptions of the answer, as the terminal has them. */
export function answerCard(r: Prediction): HTMLElement | null {
  const a = r.answer;
  if (!a) return null;
  const lines: [string, string[]][] = [['Cause', a.cause ? [a.cause] : []], ['Next step', a.action ? [a.action] : []],
    ['Assumed', a.assumptions.slice(0, 4).map((one) => `${one.text} (${one.option})`)], ['Measured', a.measured ? [a.measured] : []],
    ['Not understood', a.not_understood], ['Not credible', a.not_credible]];
  const said = lines.filter(([, texts]) => texts.length);
  if (!said.length) return null;
  return h('section', { class: 'card wide', id: 'answer', 'aria-label': 'Why, and what to do' }, h('dl', { class: 'why' },
    ...said.flatMap(([name, texts]) => [h('dt', {}, name), h('dd', {}, ...(texts.length === 1 ? [short(texts[0], 900)] : [h('ul', { class: 'plain' }, ...texts.map((one) => h('li', {}, short(one, 600))))]))])));
}

export function pointTable(r: Prediction): HTMLElement {
  const n = (name: string, text: (p: Any) => string, value: (p: Any) => Any): Any => ({ name, number: true, cell: (p: Any) => ({ text: text(p), value: value(p) }) });
  return table('By number of GPUs', [
    n('GPUs', (p) => String(p.gpus), (p) => p.gpus), n('Nodes', (p) => String(p.nodes), (p) => p.nodes),
    n('Batch per GPU', (p) => String(p.batch_per_gpu), (p) => p.batch_per_gpu),
    n('Step', (p) => seconds(p.step_s), (p) => p.step_s),
    n('90 % interval', (p) => p.interval ? `${seconds(p.interval.low_s)} to ${seconds(p.interval.high_s)}` : '\u2013', (p) => p.interval?.low_s),
    n('Samples/s', (p) => digits(p.samples_per_s, 4), (p) => p.samples_per_s), n('Speedup', (p) => times(p.speedup), (p) => p.speedup),
    n('Efficiency', (p) => percent(p.efficiency, 1), (p) => p.efficiency), n('Epoch', (p) => seconds(p.epoch_s), (p) => p.epoch_s),
    n('Total', (p) => seconds(p.total_s), (p) => p.total_s), n('GPU hours', (p) => digits(p.gpu_hours), (p) => p.gpu_hours),
    n('Memory', (p) => bytes(p.memory.bytes), (p) => p.memory.bytes),
  ], r.points, 'points');
}

function recommendation(r: Recommendation | undefined, script: string | undefined): HTMLElement | null {
  if (!r) return null;
  const jobs = [...(r.best ? [{ ...r.best, trade: 'the recommendation' }] : []), ...r.runners_up];
  return card('What to request', r.best ? `For the goal "${r.goal}": ${count(r.best.gpus, 'GPU')} on ${count(r.best.nodes, 'node')} with ${r.best.strategy}, ${seconds(r.best.total_s)}.` : r.why_none!, { class: 'wide' },
    jobs.length ? table('Jobs to choose from', [
      { name: 'GPUs', number: true, cell: (j: Any) => ({ text: String(j.gpus), value: j.gpus }) }, { name: 'Strategy', cell: (j: Any) => j.strategy },
      { name: 'Time', number: true, cell: (j: Any) => ({ text: seconds(j.total_s), value: j.total_s }) },
      { name: 'GPU hours', number: true, cell: (j: Any) => ({ text: digits(j.gpu_hours), value: j.gpu_hours }) },
      { name: 'Efficiency', number: true, cell: (j: Any) => ({ text: percent(j.efficiency), value: j.efficiency }) }, { name: 'Against the recommendation', cell: (j: Any) => j.trade },
    ], jobs, 'jobs') : null, script ? textBlock('Job script', script, 'job.sh') : null,
    r.warnings?.length ? h('ul', { class: 'plain' }, ...r.warnings.map((w: string) => h('li', {}, w))) : null);
}

/** Memory of the last number of GPUs by class of tensors and phase of a step. */
export function ledger(memory: Memory): HTMLElement | null {
  const l = memory.ledger;
  if (!l) return null;
  const phase = (name: string, value: (row: MemoryRow) => number): Any => ({ name, number: true, cell: (row: MemoryRow) => ({ text: bytes(value(row)), value: value(row) }) });
  return h('details', {}, h('summary', {}, 'By class of tensors and phase of a step'),
    table('Memory by phase', [{ name: 'Tensors', cell: (row: MemoryRow) => row.tensors }, phase('Forward', (row) => row.forward_bytes),
      phase('Backward', (row) => row.backward_bytes), phase('Optimizer', (row) => row.optimizer_bytes)], l.rows, 'memory'),
    h('p', {}, `The fullest phase allocates ${bytes(l.allocated_bytes)}, PyTorch reserves ${bytes(l.reserved_bytes)}, and nvidia-smi shows ${bytes(l.shown_bytes)}.`));
}

/** Changes with which a training that does not fit does. */
export function whatFits(ways: FittingWay[]): HTMLElement | null {
  if (!ways?.length) return null;
  return card('What would fit', 'Each of these was simulated. The option goes behind the command.', { class: 'wide', id: 'fits' },
    table('What would fit', [{ name: 'Change', cell: (w: FittingWay) => w.what }, { name: 'Option', cell: (w: FittingWay) => w.option },
      { name: 'GPUs', number: true, cell: (w: FittingWay) => ({ text: String(w.gpus), value: w.gpus }) },
      { name: 'Memory of a GPU', number: true, cell: (w: FittingWay) => ({ text: bytes(w.memory_bytes), value: w.memory_bytes }) },
      { name: 'Chance that it fits', number: true, cell: (w: FittingWay) => ({ text: percent(w.chance_of_fitting), value: w.chance_of_fitting }) },
      { name: 'Step', number: true, cell: (w: FittingWay) => ({ text: seconds(w.step_s), value: w.step_s }) }], ways, 'fits'));
}

/** How far the training can be taken; there where it was asked for (`--limits`). */
export function limits(l: TrainingLimits | null | undefined): HTMLElement | null {
  if (!l) return null;
  const longest = l.tokens ? ` Samples of up to ${l.longest_tokens} tokens fit at a batch of ${l.batch_per_gpu}.` : '';
  const cards = l.smallest_cards.length ? ` The smallest cards of the catalog with enough memory: ${l.smallest_cards.join(', ')}.` : '';
  return card('How far it can go', '', { class: 'wide', id: 'limits' },
    h('p', {}, `On ${count(l.gpus, 'GPU')} a batch of up to ${l.largest_batch_per_gpu} per GPU fits.${longest} A GPU needs ${bytes(l.least_memory_bytes)} for it to fit surely.${cards}`));
}

/** What others measured of the like, with its source. */
export function nearestCard(rows: Near[] | undefined): HTMLElement | null {
  const near = (rows ?? []).slice(0, 12);
  if (!near.length) return null;
  const step = (m: Near): string => m.step_high_s ? `${seconds(m.step_low_s)}${m.runs > 1 && m.step_low_s !== m.step_high_s ? ` to ${seconds(m.step_high_s)}` : ''}` : '\u2013';
  const n = (name: string, text: (m: Near) => string, value: (m: Near) => number | null): Any => ({ name, number: true, cell: (m: Near) => ({ text: text(m), value: value(m) }) });
  return card('Measured by others, nearest first', 'Runs of the same network or on the same GPU that are most like this one. The prediction is corrected by them where they are close enough.', { class: 'wide screen', id: 'nearest' },
    table('Nearest measurements', [
      { name: 'Network', cell: (m: Near) => m.model }, { name: 'GPU', cell: (m: Near) => m.gpu }, { name: 'Strategy', cell: (m: Near) => m.strategy }, { name: 'Precision', cell: (m: Near) => m.precision },
      n('Batch', (m) => String(m.batch_per_gpu), (m) => m.batch_per_gpu), n('GPUs', (m) => String(m.gpus), (m) => m.gpus), n('Step', step, (m) => m.step_low_s ?? null),
      n('Efficiency', (m) => percent(m.efficiency), (m) => m.efficiency ?? null), n('Runs', (m) => String(m.runs), (m) => m.runs), { name: 'Source', cell: (m: Near) => short(m.source, 90) },
    ], near, 'nearest'));
}

export function predictionPart(r: Prediction, d: Any): HTMLElement {
  const t: Timeline | undefined = d?.timeline, points = chosen(r.points), measured = measuredPoints(d?.nearest, r.model, r.points);
  const s_unit = Math.max(...r.points.map((p: Any) => p.step_s)) < 1 ? { size: 1e-3, name: 'ms' } : { size: 1, name: 's' };
  const labelled = points.map((p: Any) => ({ ...p, label: count(p.gpus, 'GPU') }));
  const last = pointOfAnswer(r);
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, short(r.headline || 'This training cannot run here.', 600)), facts(r),
    h('div', { class: 'grid' },
      answerCard(r),
      r.cannot_run || r.points.length < 2 ? null : card(scalingFinding(r), `Efficiency: speedup per GPU. ${r.scaling === 'weak' ? 'Every GPU keeps its batch.' : 'The batch of all GPUs stays the same.'}`, { id: 'efficiency' }, curve(r.points, 'efficiency', measured)),
      r.cannot_run || r.points.length < 2 ? null : card(speedupFinding(r), 'How many times as fast as one GPU.', { id: 'speedup' }, curve(r.points, 'speedup', measured)),
      card(stepFinding(r), r.crossover?.cause ? `Where a step goes. ${short(r.crossover.cause, 400)}` : 'Where a step goes.', { id: 'breakdown' },
        stacked('breakdown', labelled, kAccounts, (p, key) => p.breakdown[key], `step, ${s_unit.name}`, s_unit.size, seconds)),
      card(memoryFinding(r), `${bytes(last.memory.bytes)} of ${bytes(last.memory.capacity_bytes)} on ${count(last.gpus, 'GPU')}; a batch of up to ${last.memory.largest_batch_per_gpu} per GPU fits.`, { id: 'memory' },
        stacked('memory', labelled, kMemory, (p, key) => p.memory[key], 'memory, GB', 1e9, bytes, { value: last.memory.capacity_bytes, name: 'memory of the GPU' }), ledger(last.memory)),
      whatFits(r.answer?.what_fits),
      limits(r.answer?.limits),
      t ? timelineCard(t) : null,
      r.sensitivity?.inputs?.length ? card(`What the ${r.sensitivity.total_s === null ? 'step' : 'total'} depends on`, `On ${count(r.sensitivity.gpus, 'GPU')}: how far each uncertain input alone moves it (5 % to 95 %), and its share of the variance.${r.to_narrow ? ' ' + short(r.to_narrow, 300) + '.' : ''}`, { class: 'screen', id: 'tornado' },
        legend([{ name: 'faster', color: kColor.sky }, { name: 'slower', color: kColor.orange }]), tornado(r.sensitivity)) : null,
      d?.topology_svg ? card('The node and its links', t?.links.length ? `Colours: use by rank 0's messages on ${count(t.gpus, 'GPU')}, the busiest link of each kind.` : '', { class: 'screen', id: 'topology' }, t?.links.length ? legend([{ name: 'under 30 % in use', color: kColor.sky }, { name: '30 to 70 %', color: kColor.blue }, { name: 'more', color: kColor.red }]) : null, t?.links.length ? linkChart(t) : null, topology(d.topology_svg, t)) : null,
      card('All numbers', '', { class: 'wide', id: 'numbers' }, pointTable(r)),
      nearestCard(d?.nearest),
      recommendation(r.recommendation, d?.job_script),
      listCard('Warnings', r.warnings ?? [], 'warning'),
      listCard('Beyond what was measured', r.extrapolated ?? []),
      decisionsCard(r.decisions),
      d?.scenario ? card('The scenario', '', { class: 'wide screen' }, textBlock(short(d.scenario_name, 120), d.scenario, 'scenario.toml')) : null));
}
