// What a chart shows, in a sentence: its title. Every number in it is one of the answer's.
import { Prediction, PredictionPoint, RemovedCause } from './reports';
import { count, digits, percent, seconds } from './units';

const kWords = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve'];
/** Whole numbers up to twelve as a sentence begins with them. */
export const gpusInWords = (n: number): string => `${kWords[n] ?? String(n)} GPU${n === 1 ? '' : 's'}`;

/** The point that verdict, cause and tiles are about. */
export function pointOfAnswer(p: Prediction): PredictionPoint {
  return p.points.find((one) => one.gpus === p.answer?.gpus) ?? p.points[p.points.length - 1];
}

const verb = (n: number, one: string, many: string): string => (n === 1 ? one : many);
const kWaits = new Set(['links', 'input']);

/** "communication over PCIe (pcie3_x16)" is PCIe. */
const linkName = (name: string): string => name.replace(/^communication over /i, '').replace(/ \([^)]*\)/g, '');

function lossSentence(cause: RemovedCause, gpus: number, step: number): string {
  const share = percent(cause.saves_s / step), who = gpusInWords(gpus);
  if (cause.what.length === 1 && cause.what[0] === 'input') return `${who} ${verb(gpus, 'waits', 'wait')} ${share} of each step for data`;
  if (cause.what.length === 1 && kWaits.has(cause.what[0])) return `${who} wait ${share} of each step for ${linkName(cause.name)}`;
  const name = cause.name.split(',')[0].replace(/ \([^)]*\)/g, '');
  return `${name[0].toUpperCase()}${name.slice(1)} cost ${who.toLowerCase().replace('gpu', 'GPU')} ${share} of each step`;
}

/** Where a step goes. */
export function stepFinding(p: Prediction): string {
  const point = pointOfAnswer(p), causes = p.answer?.causes, largest = causes?.removed[0];
  if (p.cannot_run || !point) return 'Nothing runs here';
  if (largest && causes && largest.saves_s > 0.05 * causes.step_s) return lossSentence(largest, causes.gpus, causes.step_s);
  return `${gpusInWords(point.gpus)} ${verb(point.gpus, 'computes', 'compute')} ${percent(point.breakdown.compute_s / point.step_s)} of each step`;
}

/** What many GPUs are worth. */
export function scalingFinding(p: Prediction): string {
  const points = p.points.filter((one) => one.speedup !== null), point = pointOfAnswer(p);
  if (!points.length || point.speedup === null) return 'No number of GPUs has the memory';
  if (point.gpus === 1) return points.length > 1 ? 'One GPU is the best of these' : 'One GPU is what all others are compared with';
  if (point.speedup < 1) return `${gpusInWords(point.gpus)} do less than one: ${digits(point.speedup)} of its work`;
  const lost = point.gpus - point.speedup;
  return `${gpusInWords(point.gpus)} do the work of ${digits(point.speedup)}` + (lost > 0.05 * point.gpus ? `: ${percent(lost / point.gpus)} is lost` : '');
}

/** Which number of GPUs is the fastest. */
export function speedupFinding(p: Prediction): string {
  const points = p.points.filter((one) => one.speedup !== null);
  if (!points.length) return 'No number of GPUs has the memory';
  const best = points.reduce((a, b) => (b.speedup! > a.speedup! ? b : a));
  const last = points[points.length - 1];
  return best === last && points.length > 1 ? `Up to ${last.gpus} GPUs, more are faster` : `Of these, ${count(best.gpus, 'GPU')} ${verb(best.gpus, 'is', 'are')} the fastest`;
}

const kClasses: [keyof PredictionPoint['memory'], string][] = [['parameters_bytes', 'weights'], ['gradients_bytes', 'gradients'],
  ['optimizer_bytes', 'optimizer state'], ['buckets_bytes', 'buckets'], ['activations_bytes', 'activations'], ['workspace_bytes', 'workspace'], ['framework_bytes', 'the framework']];

export function memoryFinding(p: Prediction): string {
  const m = pointOfAnswer(p).memory, used = m.bytes / m.capacity_bytes;
  const [, largest] = kClasses.reduce((a, b) => (Number(m[b[0]]) > Number(m[a[0]]) ? b : a));
  const tail = `${largest} take the most`;
  return m.fits ? `${percent(used)} of a GPU's memory is used; ${tail}` : `It needs ${digits(used)} times the memory of a GPU; ${tail}`;
}

/** How long the answer's quantity takes, for a tile. */
export function timeOfAnswer(p: Prediction): { name: string; value: string; note: string } {
  const point = pointOfAnswer(p), on = `on ${count(point.gpus, 'GPU')}`;
  const [name, value, interval] = point.total_s !== null && p.answer?.quantity === 'total' ? ['The run', point.total_s, point.total_interval] as const
    : point.epoch_s !== null ? ['An epoch', point.epoch_s, point.epoch_interval] as const : ['A step', point.step_s, point.interval] as const;
  return { name: `${name} ${on}`, value: seconds(value), note: interval ? `90 %: ${seconds(interval.low_s)} to ${seconds(interval.high_s)}` : '' };
}
