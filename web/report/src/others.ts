// Comparisons, studies, collectives and validations.
import { chart, kColor, kStyle, legend, Plot } from './chart';
import { card, h, short } from './dom';
import { decisionsCard, kAccounts, listCard, room_left, stacked } from './prediction';
import { table } from './table';
import { binary, bytes, count, digits, percent, seconds, times } from './units';

type Any = any;
const kStanding: Record<string, string> = { as_fast: 'as fast', not_told_apart: 'not told apart', slower: 'slower', needs_more: 'needs more', does_not_fit: 'does not fit', cannot_run: 'cannot run' };
const kStandingColor: Record<string, string> = { as_fast: kColor.green, not_told_apart: kColor.sky, slower: kColor.orange, needs_more: kColor.purple, does_not_fit: kColor.red };
const num = (name: string, text: (p: Any) => string, value: (p: Any) => Any): Any => ({ name, number: true, cell: (p: Any) => ({ text: text(p), value: value(p) }) });
const centred = (label: string): object => ({ label, labelAnchor: 'center', labelArrow: 'none', labelOffset: 40 });

export function comparisonPart(c: Any): HTMLElement {
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, short(c.points.map((p: Any) => p.verdict).join(' '), 600)), h('div', { class: 'grid' },
    ...c.points.flatMap((p: Any) => {
      const runs = p.strategies.filter((s: Any) => s.runs), rows = runs.map((s: Any) => ({ ...s, label: short(s.strategy, 24) }));
      const most = Math.max(...rows.map((r: Any) => r.step_s), 0), unit = most < 1 ? { size: 1e-3, name: 'ms' } : { size: 1, name: 's' };
      const used = [...new Set<string>(rows.map((r: Any) => r.standing))];
      return [card(`Strategies on ${count(p.gpus, 'GPU')}`, 'Samples per second beside the fastest with its 90 % interval. Strategies that cannot be told apart are ties.', {},
        legend(used.map((s) => ({ name: kStanding[s] ?? s, color: kStandingColor[s] ?? kColor.grey }))),
        chart('strategies', `Strategies on ${p.gpus} GPUs beside the fastest`, (width) => Plot.plot({ width, height: 60 + 34 * rows.length, marginLeft: room_left(rows), marginRight: 20, marginBottom: 44, marginTop: 8, style: kStyle,
          x: { ...centred('speed beside the fastest, %'), domain: [0, Math.max(110, ...rows.map((r: Any) => 100 * r.ratio.high))], grid: true, ticks: 5 } as Any,
          y: { domain: rows.map((r: Any) => r.label), label: null, tickSize: 0, padding: 0.35 },
          marks: [Plot.barX(rows, { x: (r: Any) => 100 * r.ratio.value, y: 'label', fill: (r: Any) => kStandingColor[r.standing] ?? kColor.grey, title: (r: Any) => `${r.label}: ${kStanding[r.standing]}\n${seconds(r.step_s)} a step`, tip: { format: { x: false, y: false } } }),
            Plot.ruleY(rows, { x1: (r: Any) => 100 * r.ratio.low, x2: (r: Any) => 100 * r.ratio.high, y: 'label', stroke: kColor.ink, strokeWidth: 1.5 }),
            Plot.ruleX([100], { stroke: kColor.quiet, strokeDasharray: '5 4' })] }))),
      card(`Where the step goes on ${count(p.gpus, 'GPU')}`, '', {}, stacked('breakdown', rows, kAccounts, (r, key) => r.breakdown[key], `step, ${unit.name}`, unit.size, seconds)),
      card(`All strategies on ${count(p.gpus, 'GPU')}`, short(p.verdict, 300), { class: 'wide' }, table(`Strategies on ${p.gpus} GPUs`, [
        { name: 'Strategy', cell: (s: Any) => s.strategy }, { name: 'Standing', cell: (s: Any) => kStanding[s.standing] ?? s.standing },
        num('Step', (s) => s.runs ? seconds(s.step_s) : '\u2013', (s) => s.step_s), num('Samples/s', (s) => s.runs ? digits(s.samples_per_s, 4) : '\u2013', (s) => s.samples_per_s),
        num('Speedup', (s) => times(s.speedup), (s) => s.speedup), num('Memory', (s) => s.runs ? bytes(s.memory.bytes) : '\u2013', (s) => s.memory?.bytes),
        { name: 'Why', cell: (s: Any) => s.runs ? [s.needs && 'needs ' + s.needs, ...(s.against_best ?? []).slice(0, 2).map((d: Any) => `${d.seconds > 0 ? '+' : '\u2212'}${seconds(Math.abs(d.seconds))} ${d.what}`)].filter(Boolean).join('; ') : s.why_not },
      ], p.strategies, `strategies-${p.gpus}`))];
    }), listCard('Warnings', c.warnings, 'warning'), decisionsCard(c.decisions)));
}

export function strategiesPart(m: Any): HTMLElement {
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, `The best strategy on ${count(m.gpus, 'GPU')} of each cluster`), h('div', { class: 'grid' }, card('Best strategies', '', { class: 'wide' }, table('Best strategies', [
    { name: 'Model', cell: (c: Any) => c.model }, { name: 'Cluster', cell: (c: Any) => c.cluster }, { name: 'Best', cell: (c: Any) => c.best },
    { name: 'As fast', cell: (c: Any) => String(c.others_as_fast ?? '') }, num('Step', (c) => seconds(c.step_s), (c) => c.step_s), num('Speedup', (c) => times(c.speedup), (c) => c.speedup),
    { name: 'Next', cell: (c: Any) => c.runner_up ?? '\u2013' }], m.choices, 'strategies'))));
}

export function studyPart(s: Any): HTMLElement {
  const rows = s.combinations.map((c: Any, i: number) => ({ ...c, label: Object.entries(c.settings).map(([k, v]) => `${k} ${v}`).join(', '), number: i + 1 }));
  const runs = rows.filter((r: Any) => r.runs).map((r: Any) => ({ ...r, label: `no. ${r.number}` })).slice(0, 24);
  const fastest = s.fastest === null ? undefined : rows[typeof s.fastest === 'number' ? s.fastest : -1] ?? [...rows].filter((r: Any) => r.runs).sort((a: Any, b: Any) => b.samples_per_s - a.samples_per_s)[0];
  const most = Math.max(0, ...runs.map((r: Any) => r.step_s)), unit = most < 1 ? { size: 1e-3, name: 'ms' } : { size: 1, name: 's' };
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, fastest ? `Fastest of ${rows.length} combinations: ${short(fastest.label, 300)}, ${seconds(fastest.step_s)} a step.` : 'No combination can run.'), h('div', { class: 'grid' },
    card('Where the step goes', runs.length < rows.length ? `The first ${runs.length} combinations that run, numbered as in the table.` : 'Combinations are numbered as in the table.', { class: 'wide' }, stacked('breakdown', runs, kAccounts, (r, key) => r.breakdown[key], `step, ${unit.name}`, unit.size, seconds)),
    card('All combinations', '', { class: 'wide' }, table('Combinations', [num('No.', (r) => String(r.number), (r) => r.number),
      ...s.axes.map((a: Any) => ({ name: a.name, cell: (r: Any) => ({ text: String(r.settings[a.name]), value: r.settings[a.name] }) })),
      num('Step', (r) => r.runs ? seconds(r.step_s) : '\u2013', (r) => r.step_s), num('Epoch', (r) => seconds(r.epoch_s), (r) => r.epoch_s), num('Total', (r) => seconds(r.total_s), (r) => r.total_s),
      num('Samples/s', (r) => r.runs ? digits(r.samples_per_s, 4) : '\u2013', (r) => r.samples_per_s), num('Speedup', (r) => times(r.speedup), (r) => r.speedup), { name: 'Why not', cell: (r: Any) => r.why_not ?? '' }], rows, 'combinations')),
    listCard('Warnings', s.warnings, 'warning'), decisionsCard(s.decisions)));
}

export function collectivePart(c: Any, d: Any): HTMLElement {
  const rows = c.points.filter((p: Any) => p.bytes > 0 && p.time_s > 0).map((p: Any) => ({ ...p, us: p.time_s * 1e6, gb: p.busbw_bytes_per_s / 1e9,
    low: p.interval ? p.interval.low_s * 1e6 : p.time_s * 1e6, high: p.interval ? p.interval.high_s * 1e6 : p.time_s * 1e6,
    gb_low: p.interval ? p.busbw_bytes_per_s / 1e9 * p.time_s / p.interval.high_s : null, gb_high: p.interval ? p.busbw_bytes_per_s / 1e9 * p.time_s / p.interval.low_s : null }));
  const measured = d?.measured ?? [];
  const most = rows.reduce((a: Any, b: Any) => b.gb > (a?.gb ?? 0) ? b : a, null);
  const sized = (name: string, y: string, low: string, high: string, label: string, extra: Any[], log: boolean): HTMLElement => chart(name, `${label} over message size`, (width) => Plot.plot({
    width, height: 300, marginLeft: 62, marginRight: 20, marginTop: 14, marginBottom: 46, style: kStyle,
    x: { ...centred('message size'), type: 'log', base: 2, tickFormat: binary, ticks: Math.max(3, Math.floor(width / 110)) } as Any, y: { ...centred(label), labelOffset: 50, grid: true, type: log ? 'log' : 'linear', ticks: 5, tickFormat: (v: number) => log && !/^1(\.0+)?0*$|^0\.0*1$/.test(String(v)) ? '' : String(v), ...(log ? {} : { domain: [0, Math.max(...rows.map((r: Any) => r[high] ?? r[y]))] }) } as Any,
    marks: [Plot.areaY(rows, { x: 'bytes', y1: low, y2: high, fill: kColor.blue, fillOpacity: 0.18 }), Plot.line(rows, { x: 'bytes', y, stroke: kColor.blue, strokeWidth: 2.5 }),
      Plot.dot(rows, { x: 'bytes', y, r: 3.5, fill: kColor.blue, ariaLabel: (r: Any) => `${r.bytes} bytes: ${r[y]}`, title: (r: Any) => `${binary(r.bytes)}: ${seconds(r.time_s)}, ${digits(r.gb)} GB/s\n${r.algorithm} ${r.protocol}, ${count(r.channels, 'channel')}`, tip: { format: { x: false, y: false } } }),
      Plot.dot(extra, { x: 'bytes', y: 'value', stroke: kColor.red, r: 5, strokeWidth: 2, symbol: 'diamond' })] }));
  const keys: Any[] = [{ name: 'predicted', color: kColor.blue, sort: 'line' }, { name: '90 % interval', color: kColor.blue, sort: 'band' }, ...(measured.length ? [{ name: 'measured', color: kColor.red, sort: 'ring' }] : [])];
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, most ? `${c.op} on ${count(c.gpus, 'GPU')} of ${short(c.cluster, 80)} reaches ${digits(most.gb)} GB/s of bus bandwidth at ${binary(most.bytes)}.` : `${c.op} on ${count(c.gpus, 'GPU')} of ${short(c.cluster, 80)}`),
    h('div', { class: 'grid' }, card('Bus bandwidth', `${short(c.library, 80)}, ${count(c.nodes, 'node')}`, {}, legend(keys), sized('busbw', 'gb', 'gb_low', 'gb_high', 'bus bandwidth, GB/s', measured.map((m: Any) => ({ bytes: m.bytes, value: m.busbw_bytes_per_s / 1e9 })), false)),
      card('Time', 'Both axes are logarithmic.', {}, legend(keys.slice(0, 2)), sized('time', 'us', 'low', 'high', 'time, \u00b5s', [], true)),
      card('All sizes', '', { class: 'wide' }, table('By message size', [num('Size', (p) => binary(p.bytes), (p) => p.bytes), num('Time', (p) => seconds(p.time_s), (p) => p.time_s),
        num('90 % interval', (p) => p.interval ? `${seconds(p.interval.low_s)} to ${seconds(p.interval.high_s)}` : '\u2013', (p) => p.interval?.low_s), num('Bus bandwidth', (p) => `${digits(p.busbw_bytes_per_s / 1e9)} GB/s`, (p) => p.busbw_bytes_per_s),
        { name: 'Algorithm', cell: (p: Any) => p.algorithm ?? '\u2013' }, { name: 'Protocol', cell: (p: Any) => p.protocol ?? '\u2013' }, num('Channels', (p) => String(p.channels), (p) => p.channels), { name: 'Bound by', cell: (p: Any) => p.bound_by ?? '\u2013' }, { name: 'Bottleneck', cell: (p: Any) => p.bottleneck ?? '\u2013' }], c.points, 'collective')),
      listCard('Warnings', c.warnings ?? [], 'warning')));
}

export function validationPart(v: Any): HTMLElement {
  const points = v.series.flatMap((s: Any) => (s.points ?? []).map((p: Any) => ({ ...p, series: s.series ?? s.op ?? '' }))).filter((p: Any) => p.measured > 0 && p.predicted > 0);
  const names = [...new Set<string>(points.map((p: Any) => short(p.series, 40)))], colors = [kColor.blue, kColor.orange, kColor.green, kColor.red, kColor.purple, kColor.sky, kColor.yellow];
  const few = names.length <= colors.length, unit = v.kind === 'scaling' ? 'as in the file' : '\u00b5s';
  const e = v.error, low = Math.min(...points.map((p: Any) => Math.min(p.measured, p.predicted))) * 0.9, high = Math.max(...points.map((p: Any) => Math.max(p.measured, p.predicted))) * 1.1;
  const isLog = high / low > 20, scale = { type: isLog ? 'log' : 'linear', domain: [low, high], grid: true, ticks: 5, tickFormat: isLog ? '~s' : undefined };
  return h('div', { class: 'report' }, h('p', { class: 'headline' }, `Off by ${percent(e.median, 1)} in the median of ${count(v.scored, 'scored row')}, by ${percent(e.p90, 1)} for nine of ten.`),
    h('div', { class: 'grid' }, points.length ? card('Predicted against measured', 'Rows on the dashed line are predicted exactly.', { class: 'wide' }, few ? legend(names.map((name, i) => ({ name, color: colors[i], sort: 'dot' }))) : null,
      chart('scatter', 'Predicted against measured', (width) => Plot.plot({ width, height: Math.min(560, Math.max(320, width * 0.6)), marginLeft: 70, marginRight: 20, marginTop: 14, marginBottom: 46, style: kStyle,
        x: { ...centred(`measured, ${unit}`), ...scale } as Any, y: { ...centred(`predicted, ${unit}`), ...scale, labelOffset: 58 } as Any,
        marks: [Plot.line([[low, low], [high, high]], { stroke: kColor.quiet, strokeDasharray: '5 4' }), Plot.ruleX(points.filter((p: Any) => p.low > 0 && points.length < 300), { x: 'measured', y1: 'low', y2: 'high', stroke: kColor.quiet, strokeOpacity: 0.5 }),
          Plot.dot(points, { x: 'measured', y: 'predicted', r: points.length > 300 ? 2.5 : 4.5, fill: (p: Any) => few ? colors[names.indexOf(short(p.series, 40))] : kColor.blue, fillOpacity: points.length > 300 ? 0.5 : 1,
            ariaLabel: (p: Any) => `${p.measured} measured, ${p.predicted} predicted`, title: (p: Any) => `${short(p.series, 60)}${p.gpus ? ', ' + count(p.gpus, 'GPU') : ''}\nmeasured ${digits(p.measured, 4)}, predicted ${digits(p.predicted, 4)}`, tip: { format: { x: false, y: false } } })] }))) : null,
      card('All rows', `${count(v.rows, 'row')}, ${v.scored} scored; ${percent(v.coverage, 0)} inside their 90 % interval.`, { class: 'wide' }, table('Rows', [{ name: 'Series', cell: (p: Any) => p.series }, num('GPUs', (p) => String(p.gpus ?? '\u2013'), (p) => p.gpus),
        num('Measured', (p) => digits(p.measured, 4), (p) => p.measured), num('Predicted', (p) => digits(p.predicted, 4), (p) => p.predicted), num('Error', (p) => percent(p.error, 1), (p) => p.error)], points.slice(0, 2000), 'validation'))));
}
