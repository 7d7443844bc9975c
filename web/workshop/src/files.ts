// Files of one's own: what each is, by what stands in it.
import { kUnsaid, State } from './state';

export const kLargestFile = 1 << 20;
const kMostFiles = 12;
export type OwnFiles = Record<string, string>;

/** Models (also recorded ones, as `capture` writes them), clusters (also imported ones); the rest are scenarios and job scripts, which keep what was chosen beside them. */
export function use(name: string, text: string, state: State): Partial<State> {
  const has = (pattern: RegExp): boolean => pattern.test(text);
  const is_scenario = has(/^\s*\[(model|run|data|strategy|measured)\]/m) || has(/^\s*model\s*=/m);
  if (!is_scenario && (has(/^\s*layers\s*=/m) || has(/^\s*\[(transformer|recorded|blocks?)[\].]/m) || has(/^\s*\[\[(layers?|recorded)[\].]/m))) return { model: name, tensor: 0, pipeline: 0 };
  if (!is_scenario && (has(/^\s*\[\[?(node|partitions?|kinds?|groups?)[\].]/m) || has(/^\s*nodes?\s*=/m))) return { cluster: name, gpus: 0 };
  return { ...kUnsaid, scenario: name, cluster: state.cluster, model: is_scenario ? '' : state.model };
}

/** A file's name as a question may say it. */
export function questionName(name: string): string {
  const bare = name.replaceAll('/', '_').slice(-200);
  return /\.(toml|sh|bash|sbatch|slurm|sub|pbs|lsf|txt|py|json|ya?ml)$/.test(bare) ? bare : `${bare}.toml`;
}

/** Why a file is not taken; empty when it is. */
export function whyNot(file: File, have: number): string {
  if (file.size > kLargestFile) return `${file.name} has ${(file.size / 1048576).toFixed(1)} MiB; at most 1 MiB is read.`;
  if (file.size === 0) return `${file.name} is empty.`;
  if (have >= kMostFiles) return `There are ${kMostFiles} files already: forget one first.`;
  return /^(image|audio|video)\//.test(file.type) || /\.(zip|gz|pdf|pt|onnx|bin|safetensors)$/i.test(file.name) ? `${file.name} is no text: a cluster, model or scenario in TOML, or a job script, is.` : '';
}
