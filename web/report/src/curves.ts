// Efficiency and speedup over the number of GPUs: intervals, the ideal, measured runs with their source, pinned answers as ghosts.
import { apart, chart, kColor, kStyle, Key, legend, Plot } from './chart';
import { h, short } from './dom';
import { PredictionPoint } from './reports';
import { count, digits, percent, seconds } from './units';

type Any = any;
/** A curve of another answer. */
export interface Ghost { name: string; color: string; points: PredictionPoint[] }
/** What was measured of the like (prediction_details.cpp). */
export interface Near {
  model: string; gpu: string; cluster: string; strategy: string; precision: string; batch_per_gpu: number; gpus: number; nodes: number; distance: number; runs: number;
  run: string; source: string; step_low_s?: number; step_high_s?: number; efficiency?: number;
}
export interface MeasuredPoint { gpus: number; efficiency: number; is_same_gpu: boolean; what: string }

export const axis = (label: string, more: object = {}): object => ({ label, labelAnchor: 'center', labelArrow: 'none', ...more });

/** A measured run as people cite it. */
export const sayNear = (m: Near): string =>
  `${short(m.model, 40)} on ${count(m.gpus, 'GPU')} (${short(m.gpu, 30)}, ${short(m.cluster, 30)})\n${m.strategy}, ${m.precision}, batch ${m.batch_per_gpu}`
  + `${m.step_high_s ? `\n${seconds(m.step_low_s)}${m.runs > 1 && m.step_low_s !== m.step_high_s ? ` to ${seconds(m.step_high_s)}` : ''} a step` : ''}`
  + `${m.efficiency ? `, efficiency ${percent(m.efficiency)}` : ''}${m.runs > 1 ? `, ${m.runs} runs` : ''}\nSource: ${short(m.source, 90)}`;

/** Of the same network on numbers of GPUs that the curve has, at most this far away (nearest_rows.hpp). */
const kNear = 2.6;
export function measuredPoints(near: Near[] | undefined, model: string, points: PredictionPoint[]): MeasuredPoint[] {
  const most = points[points.length - 1]?.gpus ?? 0, nearest = Math.min(...(near ?? []).map((m) => m.distance));
  const same = (near ?? []).find((m) => m.distance === nearest)?.gpu;
  return (near ?? []).filter((m) => m.model === model && m.efficiency && m.gpus > 1 && m.gpus <= most && m.distance <= kNear)
    .map((m) => ({ gpus: m.gpus, efficiency: m.efficiency!, is_same_gpu: m.gpu === same, what: sayNear(m) }));
}

const finite = (points: PredictionPoint[]): PredictionPoint[] => points.filter((p) => p.speedup !== null && p.speedup_interval !== null);

interface Row { gpus: number; value: number; low: number; high: number }
/** What does not fit into memory has no speedup: it is not drawn. */
export function curve(all: PredictionPoint[], key: 'speedup' | 'efficiency', measured: MeasuredPoint[], ghosts: Ghost[] = []): HTMLElement {
  const points = finite(all);
  if (!points.length) return h('p', {}, 'No number of GPUs fits into memory.');
  const isShare = key === 'efficiency', unit = isShare ? ' %' : '\u00d7';
  const rowOf = (p: PredictionPoint): Row => {
    const scale = isShare ? 100 / p.gpus : 1;
    return { gpus: p.gpus, value: isShare ? 100 * p.efficiency! : p.speedup!, low: scale * p.speedup_interval!.low, high: scale * p.speedup_interval!.high };
  };
  const rows = points.map(rowOf), others = ghosts.map((g) => ({ ...g, rows: finite(g.points).map(rowOf) })).filter((g) => g.rows.length);
  const shownGpus = [...new Set([...rows, ...others.flatMap((g) => g.rows)].map((r) => r.gpus))].sort((a, b) => a - b);
  const last = shownGpus[shownGpus.length - 1], isLog = isShare && last / shownGpus[0] > 8;
  const ideal = [shownGpus[0], last].map((gpus) => ({ gpus, value: isShare ? 100 : gpus }));
  const marks = measured.map((m) => ({ ...m, value: m.efficiency * (isShare ? 100 : m.gpus) })).filter((m) => m.gpus >= shownGpus[0] && m.gpus <= last);
  const top = isShare ? Math.max(105, ...rows.map((r) => Math.min(r.high, 140)), ...marks.map((m) => m.value)) : Math.max(1, ...rows.map((r) => r.high), ...others.flatMap((g) => g.rows.map((r) => r.value)), last <= 16 ? last : 0);
  const ends = [{ name: others.length ? 'now' : '', color: kColor.blue, rows }, ...others];
  const figure = chart(key, `${key} over the number of GPUs, ${digits(rows[rows.length - 1].value)}${unit} on ${count(rows[rows.length - 1].gpus, 'GPU')}`, (width) => Plot.plot({
    width, height: Math.min(330, Math.max(240, width * 0.5)), marginLeft: 60, marginRight: others.length ? 46 : 22, marginTop: 18, marginBottom: 44, style: kStyle,
    x: axis('number of GPUs', { type: isLog ? 'log' : 'linear', domain: shownGpus.length > 1 ? [shownGpus[0], last] : [0, 2], ticks: apart(shownGpus, width - 80, isLog), tickFormat: (d: number) => String(d), labelOffset: 38 }) as Any,
    y: { ...axis(isShare ? 'efficiency: speedup per GPU, %' : 'times as fast as one GPU', { labelOffset: 50 }), grid: true, domain: [0, top], ticks: 5, clamp: true } as Any,
    marks: [
      Plot.areaY(rows, { x: 'gpus', y1: 'low', y2: 'high', fill: kColor.blue, fillOpacity: 0.16 }),
      Plot.line(ideal, { x: 'gpus', y: 'value', stroke: kColor.quiet, strokeDasharray: '5 4', strokeWidth: 1.5, clip: true }),
      ...others.map((g) => Plot.line(g.rows, { x: 'gpus', y: 'value', stroke: g.color, strokeWidth: 2, strokeDasharray: '2 3' })),
      Plot.line(rows, { x: 'gpus', y: 'value', stroke: kColor.blue, strokeWidth: 2.5 }),
      Plot.dot(rows, { x: 'gpus', y: 'value', r: 4, fill: kColor.blue, stroke: 'var(--card)', strokeWidth: 1.2, ariaLabel: (r: Row) => `${count(r.gpus, 'GPU')}: ${digits(r.value)}${unit}`,
        title: (r: Row) => `${count(r.gpus, 'GPU')}: ${digits(r.value)}${unit}\n90 % interval ${digits(r.low)} to ${digits(r.high)}${unit}`, tip: { format: { x: false, y: false } } }),
      ...others.map((g) => Plot.dot(g.rows, { x: 'gpus', y: 'value', r: 3.5, fill: 'var(--card)', stroke: g.color, strokeWidth: 1.5, title: (r: Row) => `${g.name}: ${count(r.gpus, 'GPU')}, ${digits(r.value)}${unit}`, tip: { format: { x: false, y: false } } })),
      ...(others.length ? [Plot.text(spread(ends, top), { x: 'gpus', y: 'value', text: 'name', fill: 'color', textAnchor: 'start', dx: 9, fontWeight: 600 })] : []),
      Plot.dot(marks, { x: 'gpus', y: 'value', r: 5.5, stroke: kColor.red, fill: (m: MeasuredPoint) => (m.is_same_gpu ? kColor.red : 'var(--card)'), fillOpacity: 0.75, strokeWidth: 1.8, symbol: 'diamond', title: 'what', tip: { format: { x: false, y: false, fill: false, symbol: false } } }),
    ],
  }));
  const keys: Key[] = [{ name: 'predicted', color: kColor.blue, sort: 'line' }, { name: '90 % interval', color: kColor.blue, sort: 'band' }, { name: 'ideal', color: kColor.quiet, sort: 'dash' },
    ...others.map((g) => ({ name: g.name, color: g.color, sort: 'dash' as const })), ...(marks.length ? [{ name: 'measured by others', color: kColor.red, sort: 'ring' as const }] : [])];
  return h('div', {}, legend(keys), figure);
}

/** Names at the ends of curves, a line apart. */
function spread(curves: { name: string; color: string; rows: Row[] }[], top: number): { name: string; color: string; gpus: number; value: number }[] {
  const ends = curves.filter((c) => c.name && c.rows.length).map((c) => ({ name: short(c.name, 6), color: c.color, gpus: c.rows[c.rows.length - 1].gpus, value: c.rows[c.rows.length - 1].value })).sort((a, b) => a.value - b.value);
  for (let i = 1; i < ends.length; ++i) ends[i].value = Math.max(ends[i].value, ends[i - 1].value + top * 0.075);
  for (let i = ends.length - 1, most = top; i >= 0; --i, most -= top * 0.075) ends[i].value = Math.min(ends[i].value, most);
  return ends;
}
