// All knobs of a question in groups, where each stands, and of those that cannot matter here, why.
import { h } from '../../report/src/dom';
import { isLanguageModel } from './catalog';
import { choice, Choosing, Knob, slider } from './controls';
import type { Answer } from './engine';
import { Picker, picker } from './picker';
import { kUnsaid, State } from './state';

type Any = any;
const kDoublings = Array.from({ length: 13 }, (_, i) => 2 ** i);
const kBatches = [...kDoublings, ...kDoublings.slice(2, 12).map((n) => 1.5 * n)].sort((a, b) => a - b);
const kFactors = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];
const kGpus = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
const kPrecisions: [string, string][] = [['fp32', 'fp32'], ['tf32', 'TF32'], ['amp_fp16', 'mixed fp16 (autocast)'], ['amp_bf16', 'mixed bf16 (autocast)'], ['bf16', 'bf16'], ['fp8', 'fp8']];

export interface Knobs {
  form: HTMLElement;
  pickers: { scenario: Picker; model: Picker; cluster: Picker; strategy: Picker };
  show(state: State, shown: Answer | null, context: Context): void;
}
/** What else decides whether a knob matters. */
export interface Context { most?: number; has: (option: string) => boolean }
export type Turn = (change: Partial<State>, moving?: boolean) => void;

const whole = (value: number): string => String(value), factor = (value: number): string => `${value}\u00d7`, mib = (value: number): string => `${value} MiB`;
const hours = (value: number): string => (value >= 48 ? `${value / 24} days` : `${value} h`);
interface Spec { key: keyof State; label: string; steps: number[]; say: (v: number) => string }
const kSliders: Record<string, Spec> = {
  gpus: { key: 'gpus', label: 'GPUs, at most', steps: kGpus, say: whole }, batch: { key: 'batch', label: 'Batch', steps: kBatches, say: whole },
  accumulation: { key: 'accumulation', label: 'Accumulated micro-steps', steps: [1, 2, 4, 8, 16, 32, 64], say: whole },
  epochs: { key: 'epochs', label: 'Epochs', steps: [1, 2, 3, 5, 10, 20, 30, 50, 90, 100, 150, 200, 300], say: whole }, deadline: { key: 'deadline', label: 'Deadline', steps: [1, 2, 4, 8, 12, 24, 48, 72, 168, 336], say: hours },
  workers: { key: 'workers', label: 'Loader workers per GPU', steps: [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32], say: whole },
  cores: { key: 'cores', label: 'CPU cores per GPU', steps: [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 18, 24, 32, 48, 64], say: whole },
  bucket: { key: 'bucket', label: 'Gradient bucket', steps: [1, 2, 5, 10, 15, 25, 40, 60, 100, 200, 400], say: mib },
  tensor: { key: 'tensor', label: 'Tensor degree', steps: [1, 2, 4, 8], say: whole }, pipeline: { key: 'pipeline', label: 'Pipeline degree', steps: [1, 2, 4, 8, 16], say: whole },
  links: { key: 'links', label: 'What if links were \u2026 as fast', steps: kFactors, say: factor }, kernels: { key: 'kernels', label: 'What if kernels were \u2026 as fast', steps: kFactors, say: factor },
};

/** What the scenario says of knobs, as last seen unturned. */
const usual: Record<string, number> = {};
function remember(state: State, answer: Answer): void {
  const p = answer.prediction, last = p.points[p.points.length - 1], toml = answer.scenario_toml ?? '';
  const said = (key: string): number => Number(new RegExp(`^${key} = (\\d+)`, 'm').exec(toml)?.[1] ?? NaN);
  if (state.gpus === 0) usual.gpus = last.gpus;
  if (state.batch === 0) usual.batch = p.scaling === 'strong' ? last.global_batch : last.batch_per_gpu;
  if (state.workers < 0) usual.workers = said('workers_per_gpu');
  if (state.cores === 0) usual.cores = said('cores_per_gpu');
  if (state.epochs === 0) usual.epochs = answer.page?.epochs ?? NaN;
  if (state.accumulation === 0) usual.accumulation = said('accumulation') || 1;
  if (state.tensor === 0) usual.tensor = said('tensor') || 1;
  if (state.pipeline === 0) usual.pipeline = said('pipeline') || 1;
  usual.bucket = 25;
  usual.links = usual.kernels = 1;
}

export function makeKnobs(datasets: string[], turn: Turn, more: HTMLElement): Knobs {
  const pickers = {
    scenario: picker('Scenario', 'scenario', 'none', (name) => turn({ ...kUnsaid, scenario: name })),
    model: picker('Model', 'model', 'none', (name) => turn({ model: name, tensor: 0, pipeline: 0, ...(name && !isLanguageModel(name) ? { recompute: '', adapters: '' } : {}) })),
    cluster: picker('Cluster, or your GPU', 'cluster', 'none', (name) => turn({ cluster: name, gpus: 0 })),
    strategy: picker('Strategy', 'strategy', 'none', (name) => turn({ strategy: name })),
  };
  const choices: Record<string, Choosing> = {
    precision: choice('Precision', 'precision', kPrecisions, (precision) => turn({ precision })),
    scaling: choice('When GPUs are added', 'scaling', [['weak', 'each keeps its batch (weak)'], ['strong', 'they share one batch (strong)']], (scaling) => turn({ scaling })),
    dataset: choice('Data set', 'dataset', datasets.map((name) => [name, name]), (dataset) => turn({ dataset })),
    recompute: choice('Recompute activations', 'recompute', [['true', 'yes'], ['false', 'no']], (recompute) => turn({ recompute })),
    adapters: choice('Train adapters only', 'adapters', [['lora:8', 'LoRA, rank 8'], ['lora:16', 'LoRA, rank 16'], ['lora:64', 'LoRA, rank 64']], (adapters) => turn({ adapters })),
  };
  const sliders: Record<string, Knob> = Object.fromEntries(Object.values(kSliders).map(({ key, label, steps, say }) =>
    [key, slider(label, key, { steps, say }, (value, moving) => turn({ [key]: Number.isNaN(value) ? kUnsaid[key] : value }, moving))]));
  const group = (title: string, open: boolean, ...rows: HTMLElement[]): HTMLElement => h('details', { class: 'group', open }, h('summary', {}, title), ...rows);
  const s = sliders, form = h('form', { class: 'card knobs', id: 'knobs', 'aria-label': 'What is asked', onsubmit: (event: Event) => event.preventDefault() },
    pickers.scenario.row, pickers.model.row, pickers.cluster.row, pickers.strategy.row, s.gpus.row, s.batch.row,
    group('Training', true, choices.precision.row, choices.scaling.row, s.accumulation.row, s.epochs.row, s.deadline.row),
    group('Data', false, choices.dataset.row, s.workers.row, s.cores.row),
    group('Memory and large models', false, choices.recompute.row, choices.adapters.row, s.tensor.row, s.pipeline.row),
    group('Links and what if', true, s.bucket.row, s.links.row, s.kernels.row), more);
  return { form, pickers, show(state, shown, context) {
    if (shown) remember(state, shown);
    showAll(state, shown?.prediction, context, pickers, choices, sliders);
  } };
}

/** Why a knob cannot matter here; empty where it can. */
function whyIdle(state: State, p: Any, { has }: Context): Record<string, string> {
  const strategy = state.strategy || p?.strategy || 'this strategy', model = state.model || p?.model || '';
  const alone = p && p.points.length === 1 && p.points[0].gpus === 1, one = has('single') ? 'This strategy has one GPU.' : '';
  const nothing = alone ? 'One GPU sends nothing.' : '', untimed = p && p.points.every((q: Any) => q.epoch_s === null) ? 'How many samples there are is not known: choose a data set.' : '';
  const language = model && !isLanguageModel(model) && !/\.\w+$/.test(model) ? 'Only large language models are cut or recomputed by blocks.' : '';
  const ready = p && p.points.every((q: Any) => q.breakdown.input_stall_s === 0) && !state.dataset && untimed ? 'Batches are taken as always ready: choose a data set.' : '';
  return { gpus: one, batch: '', accumulation: has('accumulation') ? '' : `${strategy} does not accumulate.`, epochs: untimed, deadline: untimed, workers: ready, cores: ready,
    bucket: has('bucket_cap') ? nothing : `${strategy} has no buckets of this kind.`, links: nothing, kernels: '', recompute: language, adapters: language, tensor: language, pipeline: language,
    scaling: alone ? 'With one GPU both are the same.' : '' };
}

function showAll(state: State, p: Any, context: Context, pickers: Knobs['pickers'], choices: Record<string, Choosing>, sliders: Record<string, Knob>): void {
  const idle = whyIdle(state, p, context);
  pickers.scenario.show(state.scenario, '');
  for (const key of ['model', 'cluster', 'strategy'] as const) pickers[key].show(state[key], p && !state[key] ? p[key] : '');
  for (const [key, one] of Object.entries(choices)) {
    const said = { precision: p?.precision, scaling: p?.scaling }[key] as string | undefined;
    one.show(state[key as keyof State] as string, state[key as keyof State] === '' && said ? said : '', idle[key] ?? '');
  }
  for (const [key, one] of Object.entries(sliders)) {
    const value = state[key as keyof State] as number, unsaid = kUnsaid[key as keyof State];
    one.show(value === unsaid ? NaN : value, usual[key] ?? NaN, idle[key] ?? '', key === 'gpus' ? context.most : undefined);
  }
}
