// Questions of workshops and courses that people really hold: what is asked, what to guess, which knobs to turn.
import { kUnsaid, State } from './state';

type Any = any;
/** What the guess is about: a number of the answer. */
export interface Guess { ask: string; unit: string; of: (prediction: Any) => number }
export interface Preset { id: string; title: string; course: string; question: string; guess: Guess; tries: string[]; state: Partial<State> }

const point = (prediction: Any, gpus: number): Any => prediction.points.find((p: Any) => p.gpus === gpus) ?? prediction.points[prediction.points.length - 1];
const speedup = (gpus: number): Guess => ({ ask: `How many times as fast as one GPU are ${gpus}?`, unit: '\u00d7', of: (p) => point(p, gpus).speedup });
const waiting = (gpus: number): Guess => ({ ask: 'What share of a step waits for the input pipeline?', unit: '%', of: (p) => 100 * point(p, gpus).breakdown.input_stall_s / point(p, gpus).step_s });
const of = (scenario: string, more: Partial<State> = {}): Partial<State> => ({ ...kUnsaid, scenario, ...more });

export const kPresets: Preset[] = [
  { id: 'm3', title: 'Three V100 for a small ResNet', course: 'MASSIVE M3, TensorFlow', state: of('m3-resnet56-mirrored-v100'), guess: speedup(3),
    question: 'ResNet-56 on CIFAR-10 with MirroredStrategy and a global batch of 128. The node has three V100. Is it worth asking for all three?',
    tries: ['Give it a larger batch: 512, 2048.', 'Make the links ten times as fast. Does it help? What does that say?', 'Make the kernels ten times slower: now it scales. Why?'] },
  { id: 'm3-one', title: 'The same on two P100', course: 'MASSIVE M3, TensorFlow', state: of('m3-resnet56-mirrored-p100'), guess: speedup(2),
    question: 'The same job on a node of two P100, which are slower than V100. Does it scale better or worse?', tries: ['Compare with the V100 preset: which part of the step is the same in both?'] },
  { id: 'csc-mnist', title: 'MNIST on eight GPUs', course: 'CSC, PyTorch DDP', state: of('csc-mnist-ddp'), guess: speedup(8),
    question: 'A network of 29,000 parameters with DDP on 1, 4 and 8 V100 of Puhti, batch 100 per GPU, no loader workers. How much faster do 8 GPUs go through an epoch?',
    tries: ['Add loader workers. When does the step stop waiting?', 'Raise the batch to 1000.', 'On one node only: 4 GPUs.'] },
  { id: 'csc-resnet', title: 'ResNet-50 over two nodes', course: 'CSC, PyTorch DDP', state: of('puhti-resnet50-ddp', { gpus: 8 }), guess: speedup(8),
    question: 'ResNet-50 with DDP on Puhti, batch 32 per GPU, four V100 a node. What do two nodes bring?',
    tries: ['Buckets of 1 MiB and of 200 MiB: what happens to the exposed communication?', 'A tenth of the link speed.', 'Strategy horovod, then zero3.'] },
  { id: 'mahti', title: 'The same on A100', course: 'CSC, PyTorch DDP', state: of('mahti-resnet50-ddp', { gpus: 24 }), guess: speedup(24),
    question: 'On Mahti the GPUs are faster and each node has one network port for four of them. Does ResNet-50 scale better or worse than on Puhti?',
    tries: ['Links of half the speed.', 'Batch 8, then 128.'] },
  { id: 'gpt-neo', title: 'Fine-tuning a language model', course: 'CSC, Hugging Face', state: of('run-clm-gpt-neo'), guess: speedup(8),
    question: 'GPT-Neo 125M in 16 bit, gradients accumulated so that the global batch stays. How much faster are 8 V100 than one?', tries: ['Double the speed of kernels: who gains less, one GPU or eight?'] },
  { id: 'dp', title: 'DataParallel and the GIL', course: 'C-DAC workshop', state: of('workshop-mnist-dp'), guess: speedup(2),
    question: 'nn.DataParallel: one process drives both A100 of the node, the batch of 128 is split. How much faster is it than one GPU?',
    tries: ['Batch 1024, 8192: from where on do two GPUs win?', 'Change the strategy to ddp: what is different?', 'Slower kernels: does the GIL still matter?'] },
  { id: 'ddp', title: 'The same with DDP', course: 'C-DAC workshop', state: of('workshop-mnist-ddp'), guess: speedup(4),
    question: 'One process per GPU, 128 samples each, no loader workers. How much faster are two nodes of two GPUs?', tries: ['Loader workers: 2, 6.', 'Buckets of 1 MiB.', 'Links of a tenth: one node or two?'] },
  { id: 'workers', title: 'Loader workers and cores', course: 'C-DAC workshop', state: of('cdac-mnist-workers'), guess: waiting(1),
    question: 'One A100, batch 64, six loader workers on six cores. What share of each step waits for images?',
    tries: ['Two cores for the task.', 'Batch 128, then 256.', 'No workers at all.'] },
  { id: 'chtc', title: 'Four slow cards, each layer by itself', course: 'CHTC templates', state: of('chtc-cifar-four'), guess: speedup(4),
    question: 'DataParallel around every layer sends 564 MB of weights over PCIe in every step. Four RTX 2080 Ti: how many times as fast as one?',
    tries: ['Strategy ddp.', 'Ten times faster links.', 'A batch of 1024.'] },
  { id: 'chtc-ddp', title: 'DDP without a sampler', course: 'CHTC templates', state: of('chtc-cifar-ddp-spawn'), guess: speedup(4),
    question: 'mp.spawn starts a process per GPU, but without a DistributedSampler each goes through the whole data set. What is the speedup?', tries: ['More cores per GPU.'] },
  { id: 'spiral', title: '2,834 parameters on eight A100', course: 'MPCDF tutorial', state: of('raven-spiral-ddp'), guess: speedup(8),
    question: 'A tiny network in Lightning on Raven, batch 32 per GPU. Eight GPUs have an eighth of the steps each. How much faster is an epoch?',
    tries: ['Faster kernels: does anything change?', 'What bounds the step?', 'A batch of 1024 per GPU.'] },
  { id: 'princeton', title: 'Where does the time go?', course: 'Princeton, one GPU', state: of('princeton-mnist-profile'), guess: waiting(1),
    question: 'The MNIST example of PyTorch on one A100 with one loader worker, as Princeton profiles it. What share of a step waits for data?', tries: ['Workers: 2, 4, 8.', 'Then cores.'] },
  { id: 'cpus', title: 'How many CPU cores per GPU?', course: 'Princeton, image classification', state: of('princeton-cassava-cpus'), guess: waiting(1),
    question: 'A data set of photographs that must be decoded. What share of the step waits with the cores that the job asked for?', tries: ['Turn the cores up until nothing waits.', 'Workers without cores: does it help?'] },
];

export const findPreset = (id: string): Preset | undefined => kPresets.find((p) => p.id === id);
