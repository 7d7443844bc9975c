// What is asked, and how a link keeps it: only what differs from the scenario stands in it.
import type { Question } from './engine';

export interface State {
  preset: string; scenario: string; model: string; cluster: string; strategy: string;
  gpus: number; batch: number; bucket: number; workers: number; cores: number; links: number; kernels: number;
}
/** Empty text and 0 are what the scenario says. */
export const kUnsaid: State = {
  preset: '', scenario: 'mahti-resnet50-ddp', model: '', cluster: '', strategy: '', gpus: 0, batch: 0, bucket: 0, workers: -1, cores: 0, links: 1, kernels: 1,
};
const kShort: Record<keyof State, string> = {
  preset: 'q', scenario: 's', model: 'm', cluster: 'c', strategy: 'by', gpus: 'gpus', batch: 'batch', bucket: 'bucket', workers: 'workers', cores: 'cores', links: 'links', kernels: 'kernels',
};

export function asHash(state: State): string {
  const out = new URLSearchParams();
  for (const key of Object.keys(kShort) as (keyof State)[]) if (state[key] !== kUnsaid[key]) out.set(kShort[key], String(state[key]));
  return '#' + out.toString();
}

export function fromHash(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const state: Record<string, string | number> = { ...kUnsaid };
  for (const key of Object.keys(kShort) as (keyof State)[]) {
    const text = given.get(kShort[key]);
    if (text === null || text.length > 200) continue;
    const number = Number(text);
    if (typeof kUnsaid[key] === 'string') state[key] = text;
    else if (text !== '' && Number.isFinite(number)) state[key] = number;
  }
  return state as unknown as State;
}

/** Powers of two and the last in a node, then whole nodes doubling. */
export function gpuList(most: number, perNode: number): number[] {
  const out = new Set<number>();
  for (let n = 1; n < perNode && n < most; n *= 2) out.add(n);
  for (let n = perNode; n < most; n *= 2) out.add(n);
  out.add(most);
  return [...out].sort((a, b) => a - b);
}

export function questionOf(state: State, perNode: number, files: Record<string, string>): Question {
  const line = state.scenario ? [state.scenario] : [];
  const say = (option: string, value: string | number, when: boolean): void => { if (when) line.push(option, String(value)); };
  say('--model', state.model, state.model !== '');
  say('--cluster', state.cluster, state.cluster !== '');
  say('--strategy', state.strategy, state.strategy !== '');
  say('--gpus', gpuList(state.gpus, perNode).join(','), state.gpus > 0);
  say('--batch', state.batch, state.batch > 0);
  say('--set', `strategy.bucket_cap=${state.bucket}MiB`, state.bucket > 0);
  say('--set', `data.workers_per_gpu=${state.workers}`, state.workers >= 0);
  say('--set', `data.cores_per_gpu=${state.cores}`, state.cores > 0);
  say('--set', `cluster.link_speed=${state.links}`, state.links !== 1);
  say('--set', `cluster.kernel_speed=${state.kernels}`, state.kernels !== 1);
  return Object.keys(files).length ? { arguments: line, files } : { arguments: line };
}

const kPlain = /^[\w+=.,/:@%-]+$/;
/** The line that gives the same in a terminal. */
export const commandOf = (question: Question): string =>
  ['foretrain', 'predict', ...(question.arguments ?? [])].map((word) => kPlain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
