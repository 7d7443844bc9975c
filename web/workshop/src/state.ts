// What is asked, and how a link keeps it: only what differs from the scenario stands in it.
import type { Question } from './engine';

export interface State {
  preset: string; scenario: string; model: string; cluster: string; strategy: string; precision: string; scaling: string; dataset: string; recompute: string; adapters: string;
  gpus: number; batch: number; accumulation: number; bucket: number; workers: number; cores: number; links: number; kernels: number; epochs: number; deadline: number; tensor: number; pipeline: number;
}
/** Empty text and 0 are what the scenario says. */
export const kUnsaid: State = {
  preset: '', scenario: '', model: '', cluster: '', strategy: '', precision: '', scaling: '', dataset: '', recompute: '', adapters: '',
  gpus: 0, batch: 0, accumulation: 0, bucket: 0, workers: -1, cores: 0, links: 1, kernels: 1, epochs: 0, deadline: 0, tensor: 0, pipeline: 0,
};
/** What the page opens on: a small network that four GPUs make five times slower. */
export const kOpening: State = { ...kUnsaid, scenario: 'chtc-cifar-four' };
/** What links without a version left out: the page opened on this once. */
const kFirstScenario = 'mahti-resnet50-ddp';
const kLinkVersion = '2';
const kShort: Record<keyof State, string> = {
  preset: 'q', scenario: 's', model: 'm', cluster: 'c', strategy: 'by', precision: 'prec', scaling: 'scaling', dataset: 'data', recompute: 'recompute', adapters: 'adapters',
  gpus: 'gpus', batch: 'batch', accumulation: 'acc', bucket: 'bucket', workers: 'workers', cores: 'cores', links: 'links', kernels: 'kernels', epochs: 'epochs', deadline: 'deadline', tensor: 'tp', pipeline: 'pp',
};
const kKeys = Object.keys(kShort) as (keyof State)[];
/** What a link may hold of a number; whatever lies beyond is taken to the end. */
const kLimits: Partial<Record<keyof State, [number, number]>> = {
  gpus: [0, 100000], batch: [0, 1000000], accumulation: [0, 1024], bucket: [0, 4096], workers: [-1, 256], cores: [0, 1024], links: [0.01, 1000], kernels: [0.01, 1000],
  epochs: [0, 100000], deadline: [0, 10000], tensor: [0, 64], pipeline: [0, 64],
};

export const kMostPins = 4;
/** A question and those it is compared with. */
export interface Link { state: State; pins: State[] }

function textOf(state: State): URLSearchParams {
  const out = new URLSearchParams();
  for (const key of kKeys) if (state[key] !== kUnsaid[key]) out.set(kShort[key], String(state[key]));
  return out;
}

export function asHash({ state, pins }: Link): string {
  const out = textOf(state);
  for (const pin of pins) out.append('pin', textOf(pin).toString());
  out.set('v', kLinkVersion);
  return '#' + out.toString();
}

function stateOf(given: URLSearchParams, scenario: string): State {
  const state: Record<string, string | number> = { ...kUnsaid, scenario };
  for (const key of kKeys) {
    const text = given.get(kShort[key]);
    if (text === null || text.length > 200) continue;
    const number = Number(text), [least, most] = kLimits[key] ?? [0, 0];
    if (typeof kUnsaid[key] === 'string') state[key] = text;
    else if (text !== '' && Number.isFinite(number)) state[key] = Math.min(most, Math.max(least, key === 'links' || key === 'kernels' ? number : Math.round(number)));
  }
  return state as unknown as State;
}

/** An empty link is the page's opening; one of an older version left its scenario out where it was the page's first. */
export function fromHash(hash: string): Link {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  if (![...given.keys()].length) return { state: { ...kOpening }, pins: [] };
  const scenario = given.get('v') === null ? kFirstScenario : '';
  return { state: stateOf(given, scenario), pins: given.getAll('pin').slice(0, kMostPins).map((pin) => stateOf(new URLSearchParams(pin.slice(0, 2000)), '')) };
}

/** Powers of two and the last in a node, then whole nodes doubling. */
export function gpuList(most: number, perNode: number): number[] {
  const out = new Set<number>();
  for (let n = 1; n < perNode && n < most; n *= 2) out.add(n);
  for (let n = Math.max(1, perNode); n < most; n *= 2) out.add(n);
  out.add(most);
  return [...out].sort((a, b) => a - b);
}

/** Strategies of one process for all GPUs of a node. */
const kOneProcess = new Set(['single', 'data_parallel', 'data_parallel_layers', 'mirrored']);
/** A question that can be asked, and what was moved for it, in sentences. */
export function clamped(state: State): { state: State; notes: string[] } {
  const one = { ...state }, notes: string[] = [];
  if ((one.tensor > 1 || one.pipeline > 1) && kOneProcess.has(one.strategy)) { one.tensor = one.pipeline = 0; notes.push(`${one.strategy} is one process, which cuts no model: the degrees are left out.`); }
  const degrees = Math.max(1, one.tensor) * Math.max(1, one.pipeline);
  if (one.scenario === '' && degrees === 1) one.tensor = one.pipeline = 0;
  if ((one.tensor > 0 || one.pipeline > 0) && one.adapters) { one.adapters = ''; notes.push('A model that is cut by degrees is trained whole: adapters are left out.'); }
  if (one.gpus > 0 && one.gpus < degrees) { one.gpus = degrees; notes.push(`Tensor times pipeline degree is ${degrees}: that many GPUs are the fewest.`); }
  return { state: one, notes };
}

/** `has` says whether the strategy has such an option: what it lacks would be an error, and is not said. */
export function questionOf(state: State, perNode: number, files: Record<string, string>, has: (option: string) => boolean): Question {
  const line = state.scenario ? [state.scenario] : [];
  const say = (option: string, value: string | number, when: boolean): void => { if (when) line.push(option, String(value)); };
  say('--model', state.model, state.model !== '');
  say('--cluster', state.cluster, state.cluster !== '');
  say('--strategy', state.strategy, state.strategy !== '');
  say('--precision', state.precision, state.precision !== '');
  say('--scaling', state.scaling, state.scaling !== '');
  say('--dataset', state.dataset, state.dataset !== '');
  say('--adapters', state.adapters, state.adapters !== '');
  say('--gpus', gpuList(state.gpus, perNode).join(','), state.gpus > 0);
  say('--batch', state.batch, state.batch > 0);
  say('--epochs', state.epochs, state.epochs > 0);
  say('--set', `strategy.accumulation=${state.accumulation}`, state.accumulation > 0 && has('accumulation'));
  say('--set', `strategy.bucket_cap=${state.bucket}MiB`, state.bucket > 0 && has('bucket_cap'));
  say('--set', `model.recompute=${state.recompute}`, state.recompute !== '');
  say('--set', `data.workers_per_gpu=${state.workers}`, state.workers >= 0);
  say('--set', `data.cores_per_gpu=${state.cores}`, state.cores > 0);
  say('--set', `cluster.link_speed=${state.links}`, state.links !== 1);
  say('--set', `cluster.kernel_speed=${state.kernels}`, state.kernels !== 1);
  say('--set', `parallel.tensor=${state.tensor}`, state.tensor > 0);
  say('--set', `parallel.pipeline=${state.pipeline}`, state.pipeline > 0);
  const question: Question = { arguments: line, curve: true };
  return Object.keys(files).length ? { ...question, files } : question;
}

const kPlain = /^[\w+=.,/:@%-]+$/;
/** The line that gives the same in a terminal; `gpus`: the numbers that the answer has, where its scenario states them: one that
    does not is answered about another number once they are stated. */
export function commandOf(question: Question, gpus: number[]): string {
  const line = [...(question.arguments ?? [])], at = line.indexOf('--gpus');
  if (at >= 0 && gpus.length) line[at + 1] = gpus.join(','); else if (gpus.length) line.push('--gpus', gpus.join(','));
  return ['foretrain', 'predict', ...line].map((word) => kPlain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

const kNames: Record<keyof State, string> = {
  preset: '', scenario: 'the scenario', model: 'the model', cluster: 'the cluster', strategy: 'the strategy', precision: 'the precision', scaling: 'the scaling', dataset: 'the data set',
  recompute: 'recomputation', adapters: 'adapters', gpus: 'the number of GPUs', batch: 'the batch', accumulation: 'accumulation', bucket: 'the gradient bucket', workers: 'loader workers', cores: 'CPU cores',
  links: 'the speed of links', kernels: 'the speed of kernels', epochs: 'epochs', deadline: '', tensor: 'the tensor degree', pipeline: 'the pipeline degree',
};
/** What differs between two questions: a name, and both values; an unturned knob is as its scenario says. */
export function differences(a: State, b: State): { name: string; from: string; to: string }[] {
  const say = (value: string | number, key: keyof State): string => (value === kUnsaid[key] && key !== 'links' && key !== 'kernels' ? 'as the scenario says' : String(value));
  return kKeys.filter((key) => kNames[key] && a[key] !== b[key]).map((key) => ({ name: kNames[key], from: say(a[key], key), to: say(b[key], key) }));
}
