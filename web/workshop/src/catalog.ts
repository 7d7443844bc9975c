// Names of the catalogs in the groups in which people look for them.
import type { Answer } from './engine';
import type { Choice } from './picker';

/** The first row whose pattern a model's name or summary has. */
const kModelGroups: [string, RegExp, RegExp?][] = [
  ['Small networks of courses', /^(mnist|cifar|spiral|tabular|testbed|resnet18_cifar|resnet50_cifar|resnet56|gpt2_s128)/],
  ['Images: classification', /^(alexnet|vgg|resnet|resnext|se_resnext|densenet|efficientnet|mobilenet|googlenet|inception|convnext|swin|vit|dinov2|clip|siglip)/],
  ['Images: detection and segmentation', /^(yolo|rt_detr|ssd|mask_rcnn|unet|segformer|sam_)/],
  ['Images: generation', /^(sd|flux|dit_)/],
  ['Speech and sound', /^(whisper|wav2vec|deepspeech|jasper|tacotron|waveglow|fastpitch)/],
  ['Recommendation and graphs', /^(dlrm|ncf|graphsage)/],
  ['Language: encoders and translation', /^(bert|modernbert|t5|flan|transformer|gnmt)/],
  ['Language: generation', /./],
];
/** Networks of blocks, which can be cut by tensor and pipeline degrees, recomputed, and adapted. */
export const isLanguageModel = (name: string): boolean => kModelGroups.find(([, pattern]) => pattern.test(name))?.[0] === 'Language: generation' && name !== '';

const kGpuMakes: [string, RegExp][] = [['NVIDIA B200 and B300', /^g?b[23]00/], ['NVIDIA H100, H200, GH200', /^g?h[12828]00|^h800|^gh200/], ['NVIDIA A100', /^a[18]00/], ['NVIDIA V100', /^v100/], ['NVIDIA P100 and K80', /^(p100|k80|p40)/],
  ['NVIDIA data centre, PCIe', /^(a10|a2|a30|a40|l4|l40|t4)/], ['NVIDIA RTX and GTX', /^(rtx|gtx|titan|quadro)/], ['AMD', /^mi/]];
const makeOf = (gpu: string): string => kGpuMakes.find(([, pattern]) => pattern.test(gpu))?.[0] ?? 'Others';

export const kGpuPrefix = 'gpu:';
const kOwn = 'Your own files';
const own = (names: string[]): Choice[] => names.map((name) => ({ value: name, label: name, note: 'your file', group: kOwn }));
const ordered = (choices: Choice[], groups: string[]): Choice[] => [...choices].sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));

export function models(lists: Answer, files: string[]): Choice[] {
  const all = lists.models!.map((m) => ({ value: m.name, label: m.name, note: m.summary, group: kModelGroups.find(([, pattern]) => pattern.test(m.name))![0] }));
  return [...own(files), ...ordered(all, kModelGroups.map(([name]) => name))];
}

export function clusters(lists: Answer, files: string[]): Choice[] {
  const named = lists.clusters!.map((c) => ({ value: c.name, label: c.name, note: c.summary, group: `Clusters: ${makeOf(c.gpu ?? '')}` }));
  const cards = (lists.gpus ?? []).filter((g) => g.name !== 'cpu-core').map((g) => ({ value: kGpuPrefix + g.name, label: `My GPUs: ${g.name}`, note: g.summary, group: 'My GPU in a usual machine' }));
  return [...own(files), ...cards, ...ordered(named, [...kGpuMakes.map(([name]) => `Clusters: ${name}`), 'Clusters: Others'])];
}

export const scenarios = (lists: Answer, files: string[]): Choice[] => [...own(files), ...lists.scenarios!.filter((s) => !/-study$/.test(s.name)).map((s) => ({ value: s.name, label: s.name, note: s.summary, group: '' }))];
export const strategies = (lists: Answer): Choice[] => lists.strategies!.map((s) => ({ value: s.name, label: s.name, note: s.summary, group: '' }));
