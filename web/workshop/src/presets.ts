// The questions of the lesson, as questions.json has them: what is asked, what to guess, which key to turn. docs/tutorials/lesson has the same.
import { Prediction, PredictionPoint } from '../../report/src/reports';
import lesson from './questions.json';
import { kUnsaid, State } from './state';

export interface Chapter { number: number; title: string; file: string; idea: string }
/** What the guess is about: a number of the answer, on so many GPUs. */
export interface Asked { kind: string; gpus?: number; hours?: number }
/** `from`: how the value comes from numbers of the file; tests/workshop/lesson_questions.py computes it. */
export interface Measured { value: number; from: string; file: string; source: string; differs?: string }
export interface Wrong { value: number; why: string }
export interface Preset {
  id: string; chapter: number; quick?: number; title: string; course: string; question: string; ask: string; unit: string; of: Asked; state: Partial<State>;
  measured?: Measured; unmeasured?: string; wrong: Wrong[]; turn: { state: Partial<State>; shows: string }; tries: string[];
}

export const kChapters: Chapter[] = lesson.chapters;
export const kPresets: Preset[] = lesson.questions;
export const findPreset = (id: string): Preset | undefined => kPresets.find((p) => p.id === id);
export const chapterOf = (preset: Preset): Chapter => kChapters.find((c) => c.number === preset.chapter)!;
export const stateOf = (preset: Preset): State => ({ ...kUnsaid, ...preset.state, preset: preset.id });

const share = (p: PredictionPoint, ...parts: (keyof PredictionPoint['breakdown'])[]): number => 100 * parts.reduce((sum, part) => sum + p.breakdown[part], 0) / p.step_s;
/** tests/workshop/lesson_questions.py computes the same from the program's answers. */
const kKinds: Record<string, (p: PredictionPoint) => number> = {
  speedup: (p) => p.speedup ?? NaN, rate: (p) => p.samples_per_s, total: (p) => p.total_s ?? NaN,
  input: (p) => share(p, 'input_stall_s'), communication: (p) => share(p, 'exposed_communication_s'), kernels: (p) => share(p, 'compute_s', 'optimizer_s'),
};

/** The number that was asked for. */
export function answerOf({ of }: Preset, prediction: Prediction): number {
  const { points } = prediction;
  if (of.kind === 'gpus_within') return points.find((p) => p.total_interval && p.total_interval.high_s <= 3600 * of.hours!)?.gpus ?? NaN;
  return kKinds[of.kind](points.find((p) => p.gpus === of.gpus) ?? points[points.length - 1]);
}
