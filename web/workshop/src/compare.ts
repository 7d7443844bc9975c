// A beside now: what was changed, what that did, and why, each by the numbers of both answers.
import { Prediction, PredictionPoint } from '../../report/src/reports';
import { count, digits, percent, seconds } from '../../report/src/units';
import { pointOfAnswer } from '../../report/src/findings';
import { differences, State } from './state';

type Any = any;
export interface Pinned { name: string; color: string; state: State; prediction?: Any; page?: Any; error?: string }
export const kPinColors = ['var(--orange)', 'var(--green)', 'var(--purple)', 'var(--sky)'];
export const pinName = (i: number): string => String.fromCharCode(65 + i);

/** The largest number of GPUs up to the answer's that both ran on. */
export function commonPoints(a: Prediction, now: Prediction): [PredictionPoint, PredictionPoint] | null {
  const most = pointOfAnswer(now).gpus;
  const both = now.points.filter((p) => p.speedup !== null && a.points.some((q) => q.gpus === p.gpus && q.speedup !== null));
  const mine = both.filter((p) => p.gpus <= most).pop() ?? both[0];
  return mine ? [a.points.find((q) => q.gpus === mine.gpus)!, mine] : null;
}

const kParts: [keyof PredictionPoint['breakdown'], string][] = [['compute_s', 'kernels'], ['exposed_communication_s', 'waiting for communication'], ['input_stall_s', 'waiting for data'],
  ['host_s', 'the host'], ['optimizer_s', 'the optimizer'], ['other_s', 'everything else']];

/** By rate, so that steps of different batches compare. */
const faster = (a: PredictionPoint, b: PredictionPoint): number => b.samples_per_s / a.samples_per_s;

/** "2.1 times as fast" or "34 % slower". */
export function ratioText(ratio: number): string {
  if (Math.abs(ratio - 1) < 0.005) return 'as fast';
  if (ratio >= 1.995) return `${digits(ratio)} times as fast`;
  return ratio > 1 ? `${percent(ratio - 1)} faster` : `${percent(1 - ratio)} slower`;
}

/** What changed, what it did and why. */
export function compareSentence(a: Pinned, state: State, now: Prediction): string {
  const changes = differences(a.state, state), changed = changes.length
    ? `Since ${a.name}, ${changes.map((c) => `${c.name} went from ${c.from} to ${c.to}`).join('; ')}. ` : `Nothing was changed since ${a.name}. `;
  if (!a.prediction) return `${changed}${a.name} has no answer to compare with${a.error ? `: ${a.error}` : ''}.`;
  if (a.prediction.cannot_run || now.cannot_run)
    return changed + (a.prediction.cannot_run && now.cannot_run ? 'Neither fits into the memory of a GPU.' : now.cannot_run ? `${a.name} ran; now it does not fit.` : `${a.name} does not fit; now it runs.`);
  const both = commonPoints(a.prediction, now);
  if (!both) return `${changed}No number of GPUs is in both.`;
  const [before, after] = both, ratio = faster(before, after), on = count(after.gpus, 'GPU');
  if (Math.abs(ratio - 1) < 0.005) return changes.length ? `${changed}On ${on} that changes nothing: ${seconds(after.step_s)} a step.` : `${changed}`.trim();
  const per_sample = before.global_batch !== after.global_batch;
  const scale = per_sample ? [1 / before.global_batch, 1 / after.global_batch] : [1, 1];
  const moves = kParts.map(([key, name]) => ({ name, by: after.breakdown[key] * scale[1] - before.breakdown[key] * scale[0] })).sort((x, y) => Math.abs(y.by) - Math.abs(x.by));
  const why = moves.filter((m) => Math.abs(m.by) > 0.1 * Math.abs(moves[0].by)).slice(0, 2)
    .map((m) => `${m.name} ${m.name === 'kernels' ? 'take' : 'takes'} ${seconds(Math.abs(m.by))} ${m.by < 0 ? 'less' : 'more'}`).join(', ');
  return `${changed}On ${on} it is ${ratioText(ratio)}: ${why} ${per_sample ? 'for each sample' : 'in each step'}.`;
}

/** For a tile: how a number moved against each pin. */
export function delta(pins: Pinned[], now: Prediction, of: (p: PredictionPoint) => number | null, say: (v: number) => string): string[] {
  const own = pointOfAnswer(now).gpus;
  return pins.flatMap((pin) => {
    const both = pin.prediction ? commonPoints(pin.prediction, now) : null;
    const before = both ? of(both[0]) : null, after = both ? of(both[1]) : null;
    if (before === null || after === null || !(before > 0)) return [];
    const moved = after / before - 1;
    return [`${pin.name}${both![1].gpus === own ? '' : ` on ${count(both![1].gpus, 'GPU')}`}: ${say(before)}${Math.abs(moved) < 0.005 ? ', the same' : `, now ${moved > 0 ? '+' : '\u2212'}${percent(Math.abs(moved))}`}`];
  });
}
