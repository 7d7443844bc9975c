// Types of the JSON reports, printed by `foretrain reference typescript` from the declared fields.

/** Where a time lies */
export interface Interval {
  /** lower end; in seconds */
  low_s: number;
  /** upper end; in seconds */
  high_s: number;
  /** share of cases that lie inside */
  level: number;
}

/** Where a number lies */
export interface LevelRange {
  /** lower end */
  low: number;
  /** upper end */
  high: number;
  /** share of cases that lie inside */
  level: number;
}

/** What a class of tensors takes when the GPU is fullest in each phase of a step */
export interface MemoryRow {
  /** the class */
  tensors: string;
  /** in the forward pass; in bytes */
  forward_bytes: number;
  /** in the backward pass; in bytes */
  backward_bytes: number;
  /** in the optimizer's step; in bytes */
  optimizer_bytes: number;
}

/** The memory by class of tensors and phase */
export interface MemoryLedger {
  /** classes that take something in a phase */
  rows: Array<MemoryRow>;
  /** the fullest phase: torch.cuda.max_memory_allocated(); in bytes */
  allocated_bytes: number;
  /** with what the allocator rounds up: max_memory_reserved(); in bytes */
  reserved_bytes: number;
  /** with context, libraries and NCCL: nvidia-smi; in bytes */
  shown_bytes: number;
}

/** Memory of the GPU that needs most */
export interface Memory {
  /** what it holds, with as much scratch memory of convolutions as the GPU has room for; in bytes */
  bytes: number;
  /** what the GPU has; in bytes */
  capacity_bytes: number;
  /** whether it fits: bytes is no more than capacity_bytes */
  fits: boolean;
  /** whether it fits only with less scratch memory than the fastest convolutions take */
  fits_tightly: boolean;
  /** the chance that the training runs in this memory and, with offload, in the node's, from the error of predicted memory */
  chance_of_fitting: number;
  /** the largest batch of a micro-step that fits with all the scratch memory the fastest convolutions take, whatever batch was asked for: one sample more fits tightly or not at all; at most 1,000,000, 0: none */
  largest_batch_per_gpu: number;
  /** weights; in bytes */
  parameters_bytes: number;
  /** gradients; in bytes */
  gradients_bytes: number;
  /** the optimizer's state; in bytes */
  optimizer_bytes: number;
  /** buckets of gradients that are exchanged; in bytes */
  buckets_bytes: number;
  /** what forward keeps for backward; in bytes */
  activations_bytes: number;
  /** scratch memory of convolutions; in bytes */
  workspace_bytes: number;
  /** of framework, libraries and driver; in bytes */
  framework_bytes: number;
  /** of unlike nodes those with the least to spare, whose memory this is */
  kind?: string;
  /** by class of tensors and phase; of networks that are not cut, on ranks that are alike */
  ledger?: MemoryLedger;
}

/** The account of a step; the parts sum to it */
export interface Breakdown {
  /** kernels; in seconds */
  compute_s: number;
  /** communication that nothing hides; in seconds */
  exposed_communication_s: number;
  /** waits for data; in seconds */
  input_stall_s: number;
  /** waits for the host; in seconds */
  host_s: number;
  /** the update; in seconds */
  optimizer_s: number;
  /** everything else; in seconds */
  other_s: number;
}

/** What is offloaded to the memory of the fullest node */
export interface HostMemory {
  /** of all ranks of the node; in bytes */
  bytes: number;
  /** what the node has; null: the cluster does not state it; in bytes */
  capacity_bytes: number | null;
  /** the chance that the node's memory holds it; null as capacity_bytes */
  chance_of_fitting: number | null;
  /** weights that the optimizer steps on; in bytes */
  masters_bytes: number;
  /** the optimizer's state; in bytes */
  moments_bytes: number;
  /** as the optimizer reads them; in bytes */
  gradients_bytes: number;
  /** weights that are copied to GPUs; in bytes */
  weights_bytes: number;
  /** activations that wait for backward; in bytes */
  activations_bytes: number;
  /** page-locked buffers, and what allocations are rounded up by; in bytes */
  buffers_bytes: number;
  /** Python and CUDA; in bytes */
  processes_bytes: number;
  /** on NVMe, besides; in bytes */
  on_drive_bytes: number;
}

/** The layout of [parallel], and what large models are compared by */
export interface ParallelPoint {
  /** degrees above 1, as in TP 8 x PP 4 x DP 2 */
  layout: string;
  /** of an optimizer step */
  micro_batches: number;
  /** training rate of a GPU; in tokens per second */
  tokens_per_s_per_gpu: number;
  /** 3 x forward with the causal half of attention, nothing recomputed; in TFLOP/s */
  model_tflops_per_gpu: number;
  /** over the peak of the products' precision */
  mfu: number;
  /** share of the step in which the busiest stage has nothing to do */
  bubble: number;
  /** whose memory decides, from 0 */
  fullest_stage: number;
}

/** Ranks of a job that are not like its others */
export interface UnlikeRanks {
  /** of node */
  kind: string;
  /** nodes they are on */
  nodes: number;
  /** number of GPUs */
  gpus: number;
  /** samples per GPU and micro-step */
  batch_per_gpu: number;
  /** of the GPUs, over that of others of the kind */
  clock: number;
  /** a step that waits for nobody slower; in seconds */
  own_step_s: number;
  /** waits for slower ranks in a step; in seconds */
  waits_s: number;
  /** what a GPU holds; in bytes */
  memory_bytes: number;
  /** what a GPU has; in bytes */
  capacity_bytes: number;
  /** whether it fits into memory */
  fits: boolean;
  /** the largest batch of a micro-step that fits */
  largest_batch_per_gpu: number;
}

/** One number of GPUs */
export interface PredictionPoint {
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** samples per GPU and micro-step */
  batch_per_gpu: number;
  /** samples that an optimizer step trains, of all ranks; with a global batch that does not divide more than it */
  global_batch: number;
  /** null: the number of samples is unknown */
  steps_per_epoch: number | null;
  /** a step; in seconds */
  step_s: number;
  /** an epoch; null: the number of samples is unknown, or drop_last leaves no step; in seconds */
  epoch_s: number | null;
  /** the whole run; null as epoch_s; in seconds */
  total_s: number | null;
  /** training rate over all GPUs; in samples per second */
  samples_per_s: number;
  /** rate / rate on one GPU; null: it does not fit into memory */
  speedup: number | null;
  /** speedup / GPUs; null as speedup */
  efficiency: number | null;
  /** GPUs times hours; null as total_s; in GPU-hours */
  gpu_hours: number | null;
  /** of the run that is no training step; in seconds */
  other_s: number;
  /** of the run before its first step; in seconds */
  startup_s: number;
  /** of the run for loaders at the start of epochs; in seconds */
  loader_restart_s: number;
  /** of the run for validation; in seconds */
  validation_s: number;
  /** of the run for checkpoints; in seconds */
  checkpoint_s: number;
  /** of the run for other work of a given duration; in seconds */
  periodic_s: number;
  /** where step_s lies at the level; null: unknown */
  interval: Interval | null;
  /** the same of epoch_s */
  epoch_interval: Interval | null;
  /** the same of total_s */
  total_interval: Interval | null;
  /** the same of speedup */
  speedup_interval: LevelRange | null;
  /** probability that it is faster than one GPU */
  chance_of_gain: number | null;
  /** of the GPU that needs most */
  memory: Memory;
  /** of a step; the parts sum to it */
  breakdown: Breakdown;
  /** gradients that are exchanged together, first to last; in bytes */
  buckets_bytes: Array<number>;
  /** with offload: of the node that needs most */
  host_memory?: HostMemory;
  /** with [parallel]: the layout and what large models are compared by */
  parallel?: ParallelPoint;
  /** ranks of one machine, batch and clock each, in the order of their first ranks */
  unlike_ranks?: Array<UnlikeRanks>;
  /** part of rank 0's exposed communication: slower ranks are not ready; only with unlike_ranks; in seconds */
  waits_for_slower_s?: number;
}

/** A cause of a step's time, removed by itself */
export interface RemovedCause {
  /** the cause, or two that hide each other */
  what: Array<"links" | "host" | "input" | "stragglers" | "busy_node" | "sharing" | "optimizer" | "other">;
  /** in words */
  name: string;
  /** the words for a step without it */
  without: string;
  /** the step without it; in seconds */
  step_s: number;
  /** what that saves of the step; in seconds */
  saves_s: number;
}

/** What a cause adds when causes are removed one after another */
export interface CausePart {
  /** the cause */
  what: "links" | "host" | "input" | "stragglers" | "busy_node" | "sharing" | "optimizer" | "other";
  /** of the step; in seconds */
  seconds: number;
}

/** The causes of a step's time, each found by simulating the step without it */
export interface StepCauses {
  /** number of GPUs */
  gpus: number;
  /** the step as simulated; in seconds */
  step_s: number;
  /** each cause removed by itself, largest saving first; two that hide each other are removed as a pair */
  removed: Array<RemovedCause>;
  /** causes removed one after another: the seconds sum to step_s - kernels_s */
  in_turn: Array<CausePart>;
  /** the step without any of them; in seconds */
  kernels_s: number;
}

/** A change with which a training fits that does not as asked */
export interface FittingWay {
  /** the change, in words */
  what: string;
  /** what to add to the command */
  option: string;
  /** number of GPUs */
  gpus: number;
  /** needed on each GPU; in bytes */
  memory_bytes: number;
  /** 0 to 1 */
  chance_of_fitting: number;
  /** the predicted step; in seconds */
  step_s: number;
}

/** How far a training can be taken on its GPUs, each limit with all else as asked */
export interface TrainingLimits {
  /** number of GPUs */
  gpus: number;
  /** as asked */
  batch_per_gpu: number;
  /** the largest batch of a micro-step that fits; 0: none */
  largest_batch_per_gpu: number;
  /** of a sample, as asked; 0: the network reads no tokens */
  tokens: number;
  /** the longest samples that fit at that batch; 0: none */
  longest_tokens: number;
  /** of a card on which the training surely fits; in bytes */
  least_memory_bytes: number;
  /** those of the catalog with the least memory that is enough */
  smallest_cards: Array<string>;
}

/** Something that nobody stated and that carries weight */
export interface Assumption {
  /** what is assumed */
  text: string;
  /** the option that states it */
  option: string;
}

/** The one answer, as every output says it */
export interface Answer {
  /** which sentence answers */
  kind: "cannot_say" | "would_not_start" | "idle_gpus" | "does_not_fit" | "request" | "waits_for_input" | "slower" | "time";
  /** what was asked, as it was understood */
  question: string;
  /** the sentence to act on; headline is the same */
  verdict: string;
  /** the number of GPUs that verdict, cause and action are about */
  gpus: number;
  /** what value_s is, in seconds; of tune its goal, with the goal's unit */
  quantity: "total" | "epoch" | "step" | "total_s" | "epoch_s" | "step_s" | "samples_per_s" | "gpu_hours" | "energy_kwh" | "cost" | "time";
  /** the predicted time; in seconds */
  value_s: number;
  /** where it lies at the level; null: unknown */
  interval: Interval | null;
  /** the numbers of GPUs of its table; no verdict speaks of another */
  counts: Array<number>;
  /** the cause whose removal saves most of the step; empty where it does not run */
  cause: string;
  /** the causes of a step on gpus; null: it does not run */
  causes: StepCauses | null;
  /** what to do, with the option or line to paste */
  action: string;
  /** changes with which a training that does not fit does; largest change last */
  what_fits: Array<FittingWay>;
  /** how far the training can be taken; null: not asked for */
  limits: TrainingLimits | null;
  /** what nobody stated, largest effect first */
  assumptions: Array<Assumption>;
  /** settings that decide and are not modelled */
  not_understood: Array<string>;
  /** figures that break a law of physics */
  not_credible: Array<string>;
  /** measured runs that the prediction is calibrated to */
  measured: string | null;
  /** where nothing comparable was measured */
  extrapolated: Array<string>;
  /** what would narrow the interval most */
  next_measurement: string | null;
}

/** Neighbouring numbers of GPUs that a person would request */
export interface GpuRange {
  /** the smallest */
  first: number;
  /** the largest */
  last: number;
}

/** Numbers of GPUs that reach an efficiency */
export interface WorthRequesting {
  /** from 1 to this, all that a person would request */
  every_up_to: number;
  /** the largest number that does */
  most: number;
}

/** One thing that a step on many GPUs loses time to */
export interface LossPart {
  /** in words */
  what: string;
  /** of the step; in seconds */
  seconds: number;
  /** of the whole loss */
  share: number;
}

/** What a step takes longer than if every GPU were as fast as one alone */
export interface LossCause {
  /** number of GPUs */
  gpus: number;
  /** the loss of a step; in seconds */
  loss_s: number;
  /** of the loss, largest first; they sum to it */
  parts: Array<LossPart>;
}

/** How thoroughly numbers of GPUs were looked at */
export interface CrossoverSearch {
  /** the answers are about 1 to this */
  up_to: number;
  /** so many of which a person would request */
  numbers: number;
  /** of these, for the answers */
  simulated: number;
  /** false: dips between simulated numbers may be missed */
  certain: boolean;
}

/** Where more GPUs stop paying */
export interface Crossover {
  /** the fewest GPUs within 0.1 % of the largest throughput */
  fastest_gpus: number;
  /** numbers of GPUs with less throughput than one */
  slower_than_one_gpu: Array<GpuRange>;
  /** numbers with less throughput than a smaller one */
  slower_than_fewer_gpus: Array<GpuRange>;
  /** the smallest number beyond the fastest; null: there is none */
  no_gain_from: number | null;
  /** from so many GPUs on, by efficiency */
  efficiency_below: Record<string, number | null>;
  /** the smallest of slower_than_one_gpu; null: none */
  slower_than_one_gpu_from: number | null;
  /** the smallest of slower_than_fewer_gpus; null: none */
  slower_than_previous_from: number | null;
  /** of the losses, in words */
  cause: string;
  /** GPUs that are used so well, by efficiency */
  worth_requesting: Record<string, WorthRequesting>;
  /** what is lost at each of the answers, fewest GPUs first */
  causes: Array<LossCause>;
  /** how thoroughly was looked */
  search: CrossoverSearch;
}

/** Lowest and highest number of GPUs */
export interface IntegerRange {
  /** the lowest */
  low: number;
  /** the highest */
  high: number;
}

/** Lowest and highest number of GPUs where there is one */
export interface KnownIntegerRange {
  /** the lowest; null: never */
  low: number | null;
  /** the highest; null: never */
  high: number | null;
}

/** The 90 % interval of each answer of the crossover; null where no draw has one */
export interface CrossoverInterval {
  /** the fastest number of GPUs */
  fastest_gpus: IntegerRange;
  /** that some number of GPUs is slower than one */
  chance_slower_than_one_gpu: number;
  /** from where on */
  slower_than_one_gpu_from: KnownIntegerRange;
  /** share of cases that lie inside */
  level: number;
}

/** One way to run the training */
export interface JobOption {
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** how the work is divided */
  strategy: string;
  /** samples per GPU and micro-step */
  batch_per_gpu: number;
  /** micro-steps of an optimizer step */
  accumulation: number;
  /** loader processes of a GPU; 0: none, or loading is not described */
  workers_per_gpu: number;
  /** of the cluster; empty: its file names none */
  partition: string;
  /** to ask for, of one job; in seconds */
  time_limit_s: number;
  /** in a row, where the partition allows less than the run takes */
  jobs: number;
  /** the whole run; in seconds */
  total_s: number;
  /** where it lies at the level */
  total_interval: Interval;
  /** the run with its wait in the queue; in seconds */
  time_to_result_s: number;
  /** rate / rate on one GPU; null: it does not fit into memory */
  speedup: number | null;
  /** speedup / GPUs; null as speedup */
  efficiency: number | null;
  /** GPUs times hours; in GPU-hours */
  gpu_hours: number;
  /** of the GPUs alone; null: unknown; in kWh */
  gpu_energy_kwh: number | null;
  /** with the job's share of its nodes; null: unknown; in kWh */
  energy_kwh: number | null;
  /** in cost_unit */
  cost: number;
  /** that it ends in time; null: no deadline was given */
  deadline_probability: number | null;
  /** what it gives and takes against the recommendation, in words */
  trade: string;
}

/** A run of some minutes that tells whether the recommendation is right */
export interface ConfirmingRun {
  /** number of GPUs */
  gpus: number;
  /** optimizer steps */
  steps: number;
  /** with start-up; in seconds */
  duration_s: number;
  /** the line to type */
  command: string;
}

/** What to ask the cluster for */
export interface Recommendation {
  /** what the job is best at */
  goal: string;
  /** of cost; empty: that of the given price */
  cost_unit: string;
  /** the job to ask for; null: none can run */
  best: JobOption | null;
  /** the next smaller and the next larger job */
  runners_up: Array<JobOption>;
  /** all jobs that were, by growing number of GPUs */
  looked_at: Array<JobOption>;
  /** by the energy and the grid of the site; null: unknown; in kg */
  co2_kg: number | null;
  /** the two shortest that would tell whether it is right */
  confirming_runs: Array<ConfirmingRun>;
  /** what changes the training, in sentences */
  warnings: Array<string>;
  /** why no job keeps the limits; null: one does */
  why_none: string | null;
  /** about batch, workers and strategies, in sentences */
  notes: Array<string>;
}

/** What one uncertain input alone does to the time, the others as predicted */
export interface UncertainInput {
  /** which, in words */
  input: string;
  /** where its value comes from */
  origin: string;
  /** lower end; in seconds */
  low_s: number;
  /** upper end; in seconds */
  high_s: number;
  /** of the variance that the inputs make together */
  share: number;
}

/** The interval of the time once something has been measured */
export interface NarrowedBy {
  /** the measurement, in words */
  what: string;
  /** lower end; in seconds */
  low_s: number;
  /** upper end; in seconds */
  high_s: number;
}

/** Short runs of one's own */
export interface RunsToMake {
  /** number of GPUs, one for each run */
  gpus: Array<number>;
  /** part of what is uncertain now */
  uncertainty_left: number;
}

/** Which inputs matter, largest first, and which measurement would narrow the answer most */
export interface Sensitivity {
  /** number of GPUs */
  gpus: number;
  /** the whole run; null: the number of samples is unknown; in seconds */
  total_s: number | null;
  /** a step, which inputs and measure are then about; null: total_s is known; in seconds */
  step_s: number | null;
  /** where that lies at the level */
  interval: Interval;
  /** uncertain inputs */
  inputs: Array<UncertainInput>;
  /** measurements, best first */
  measure: Array<NarrowedBy>;
  /** short runs of one's own, those that leave least of the uncertainty of the largest step first */
  runs?: Array<RunsToMake>;
}

/** A measured run that is like the training */
export interface Neighbour {
  /** who measured it */
  source: string;
  /** the run of that source */
  run: string;
  /** the network */
  model: string;
  /** the GPU */
  gpu: string;
  /** the cluster */
  cluster: string;
  /** how often it was measured */
  repeats: number;
  /** 0: the same run; 1: nothing in common */
  distance: number;
  /** of its residual in the estimate */
  weight: number;
  /** how far it was believed beside the others */
  believed: number;
}

/** How far measured runs of the like lie from the simulation */
export interface Estimate {
  /** expected logarithm of measured over simulated */
  log_factor: number;
  /** standard deviation of a further run's */
  spread: number;
  /** part of the spread without any measurement */
  uncertainty_left: number;
  /** the measured runs, nearest first */
  neighbours: Array<Neighbour>;
}

/** Measured runs of this very training */
export interface MeasuredRuns {
  /** the cluster */
  where: string;
  /** who measured them */
  source: string;
  /** how many */
  runs: number;
  /** number of GPUs */
  gpus: number;
  /** the shortest measured step; in seconds */
  low_s: number;
  /** the longest; in seconds */
  high_s: number;
}

/** A point as simulated, before evidence corrected it */
export interface RawPoint {
  /** number of GPUs */
  gpus: number;
  /** the step; in seconds */
  step_s: number;
  /** where it lies at the level */
  interval: Interval;
}

/** How measured runs corrected the points */
export interface Evidence {
  /** of every step */
  log_factor: number;
  /** for each doubling of the GPUs */
  log_factor_per_doubling: number;
  /** of the step on one GPU */
  step: Estimate;
  /** of the largest listed number over one GPU */
  ratio: Estimate;
  /** measured runs of this very training that the prediction is calibrated to */
  measured: Array<MeasuredRuns>;
  /** the points as simulated */
  raw: Array<RawPoint>;
}

/** A way to run the job: on all of its nodes, or without some */
export interface MixingChoice {
  /** which nodes, in words */
  nodes_of_the_job: string;
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** samples that an optimizer step trains */
  global_batch: number;
  /** a step; in seconds */
  step_s: number;
  /** training rate over all GPUs; in samples per second */
  samples_per_s: number;
  /** the whole run; null: the number of samples is unknown; in seconds */
  total_s: number | null;
  /** whether it fits into memory */
  fits: boolean;
}

/** What it costs that the ranks of a job are not alike, on the most GPUs that are listed */
export interface Mixing {
  /** number of GPUs */
  gpus: number;
  /** ranks of one machine, batch and clock each, in the order of their first ranks */
  ranks: Array<UnlikeRanks>;
  /** all nodes of the job first, then without some */
  choices: Array<MixingChoice>;
  /** the fastest choice that fits, from 0 */
  best: number;
  /** which nodes to take, in a sentence */
  verdict: string;
}

/** Where one thing alone, changed, makes the numbers equal */
export interface BreakEvenValue {
  /** the scenario's own; null: the number of samples is unknown */
  now?: number | null;
  /** the GPUs beat one already; null as now */
  beats_now?: boolean | null;
  /** the value; null: none up to the limit */
  at: number | null;
  /** how far was looked */
  limit?: number;
  /** into the GPU's memory there */
  fits?: boolean;
  /** less of it helps: at is the largest that beats one GPU */
  is_upper?: boolean;
  /** why it was not looked for; then nothing else is there */
  why_not?: string;
}

/** The bandwidth at which another number of GPUs is the fastest */
export interface FastestBreakEven {
  /** the scenario's own; null: the number of samples is unknown */
  now?: number | null;
  /** the GPUs beat one already; null as now */
  beats_now?: boolean | null;
  /** the value; null: none up to the limit */
  at: number | null;
  /** how far was looked */
  limit?: number;
  /** into the GPU's memory there */
  fits?: boolean;
  /** less of it helps: at is the largest that beats one GPU */
  is_upper?: boolean;
  /** why it was not looked for; then nothing else is there */
  why_not?: string;
  /** the fastest number now */
  gpus_now: number;
  /** and with that bandwidth */
  gpus_then: number;
}

/** How large batch, network or epoch must be for the GPUs to beat one, and how fast the link */
export interface BreakEven {
  /** number of GPUs */
  gpus: number;
  /** rate / rate on one GPU, as the scenario stands */
  speedup: number;
  /** of all GPUs; with strong scaling */
  global_batch?: BreakEvenValue;
  /** samples per GPU and micro-step; with weak scaling */
  batch_per_gpu?: BreakEvenValue;
  /** the network's, as a factor */
  width: BreakEvenValue;
  /** of the data set: whole steps of all GPUs */
  epoch_samples: BreakEvenValue;
  /** what bounds the GPUs; null: no link does */
  link: string | null;
  /** of one such link now; null: no link bounds them; in bytes per second */
  link_bytes_per_s: number | null;
  /** of links of that kind, as a factor */
  bandwidth: BreakEvenValue;
  /** the bandwidth at which another number of GPUs is the fastest */
  fastest: FastestBreakEven;
}

/** What the model chose, and why */
export interface Decision {
  /** what it is about */
  subject: string;
  /** what was chosen */
  choice: string;
  /** the reason, in a sentence */
  why: string;
}

/** A scaling table */
export interface Prediction {
  /** names what this report is */
  schema: "foretrain.prediction/1";
  /** its name: the file without folder and ending, or "model on cluster" */
  scenario: string;
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** how the work is divided */
  strategy: string;
  /** as model.precision of a scenario; "as recorded" of a recorded program */
  precision: string;
  /** weak: the batch per GPU stays; strong: the global batch does */
  scaling: "weak" | "strong";
  /** the answer in a sentence */
  headline: string;
  /** one for each number of GPUs or size */
  points: Array<PredictionPoint>;
  /** the one answer, as every output says it */
  answer: Answer;
  /** no number of GPUs has the memory */
  cannot_run: boolean;
  /** where more GPUs stop paying; null: it cannot run */
  crossover: Crossover | null;
  /** the 90 % interval of its answers */
  crossover_interval: CrossoverInterval | null;
  /** of a wide interval what makes it so and what to measure; null where none is wide */
  to_narrow: string | null;
  /** with --recommend */
  recommendation?: Recommendation;
  /** with --sensitivity */
  sensitivity?: Sensitivity;
  /** where measured runs corrected the points; --evidence off: never */
  evidence?: Evidence;
  /** where ranks are not alike: what that costs on the most GPUs that are listed */
  mixing?: Mixing;
  /** with --break-even */
  break_even?: BreakEven;
  /** what the model chose, and why */
  decisions: Array<Decision>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
  /** where nothing comparable was measured */
  extrapolated: Array<string>;
}

/** Several predictions */
export interface Predictions {
  /** names what this report is */
  schema: "foretrain.predictions/1";
  /** one for each scenario or scaling */
  predictions: Array<Prediction>;
}

/** A setting that the study varies */
export interface StudyAxis {
  /** as written */
  name: string;
  /** of the scenario */
  key: string;
  /** in their order */
  values: Array<string | number | boolean | null>;
}

/** Memory of the GPU that needs most, without its parts */
export interface ShortMemory {
  /** what it holds; in bytes */
  bytes: number;
  /** what the GPU has; in bytes */
  capacity_bytes: number;
  /** whether it fits: bytes is no more than capacity_bytes */
  fits: boolean;
  /** the largest batch of a micro-step that fits; 0: none */
  largest_batch_per_gpu: number;
}

/** One combination of a study on one number of GPUs */
export interface Combination {
  /** what the combination sets, by the name of the axis */
  settings: Record<string, string | number | boolean | null>;
  /** number of GPUs */
  gpus: number;
  /** whether it can run */
  runs: boolean;
  /** why it cannot run */
  why_not?: string;
  /** nodes they are on */
  nodes?: number;
  /** samples per GPU and micro-step */
  batch_per_gpu?: number;
  /** samples that an optimizer step trains, of all ranks; with a global batch that does not divide more than it */
  global_batch?: number;
  /** null: the number of samples is unknown */
  steps_per_epoch?: number | null;
  /** a step; in seconds */
  step_s?: number;
  /** an epoch; null: the number of samples is unknown, or drop_last leaves no step; in seconds */
  epoch_s?: number | null;
  /** the whole run; null as epoch_s; in seconds */
  total_s?: number | null;
  /** GPUs times hours; null as total_s; in GPU-hours */
  gpu_hours?: number | null;
  /** training rate over all GPUs; in samples per second */
  samples_per_s?: number;
  /** rate / rate on one GPU; null: it does not fit into memory */
  speedup?: number | null;
  /** speedup / GPUs; null as speedup */
  efficiency?: number | null;
  /** where step_s lies at the level; null: unknown */
  interval?: Interval | null;
  /** of the GPU that needs most */
  memory?: ShortMemory;
  /** of a step; the parts sum to it */
  breakdown?: Breakdown;
}

/** Every combination of a grid */
export interface Study {
  /** names what this report is */
  schema: "foretrain.study/1";
  /** its name: the file without folder and ending, or "model on cluster" */
  scenario: string;
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** how the work is divided */
  strategy: string;
  /** as model.precision of a scenario; "as recorded" of a recorded program */
  precision: string;
  /** the settings that are varied */
  axes: Array<StudyAxis>;
  /** in the order of the axes, within each by number of GPUs */
  combinations: Array<Combination>;
  /** of combinations; null: none fits into memory */
  fastest: number | null;
  /** null as fastest */
  cheapest: number | null;
  /** what the model chose, and why */
  decisions: Array<Decision>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
}

/** Samples per second over those of the fastest; null: it does not fit into memory */
export interface SpeedRatio {
  /** the ratio */
  value: number | null;
  /** lower end */
  low: number | null;
  /** upper end */
  high: number | null;
  /** share of cases that lie inside */
  level: number;
}

/** A part of a step, or a difference of one */
export interface StepPart {
  /** in words */
  what: string;
  /** of the step; in seconds */
  seconds: number;
}

/** One strategy on one number of GPUs; without figures where it cannot run */
export interface StrategyResult {
  /** how the work is divided */
  strategy: string;
  /** whether it can run on these GPUs */
  runs: boolean;
  /** how it stands to the fastest */
  standing: string;
  /** why it cannot run */
  why_not?: string;
  /** what it takes besides a script of the scenario's framework; empty: nothing */
  needs?: string;
  /** samples per second over those of the fastest; null: it does not fit into memory */
  ratio?: SpeedRatio;
  /** samples per GPU and micro-step */
  batch_per_gpu?: number;
  /** samples that an optimizer step trains, of all ranks; with a global batch that does not divide more than it */
  global_batch?: number;
  /** a step; in seconds */
  step_s?: number;
  /** an epoch; null: the number of samples is unknown, or drop_last leaves no step; in seconds */
  epoch_s?: number | null;
  /** the whole run; null as epoch_s; in seconds */
  total_s?: number | null;
  /** training rate over all GPUs; in samples per second */
  samples_per_s?: number;
  /** rate / rate on one GPU; null: it does not fit into memory */
  speedup?: number | null;
  /** speedup / GPUs; null as speedup */
  efficiency?: number | null;
  /** as simulated, where measured runs corrected it; in seconds */
  raw_step_s?: number;
  /** of the GPU that needs most */
  memory?: ShortMemory;
  /** of a step; the parts sum to it */
  breakdown?: Breakdown;
  /** what launch or sampler waste, in words */
  job_losses?: string;
  /** of its step */
  parts?: Array<StepPart>;
  /** its parts minus those of the fastest, largest first */
  against_best?: Array<StepPart>;
}

/** One number of GPUs: the strategies side by side */
export interface ComparisonPoint {
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** whether to change the strategy, in a sentence */
  verdict: string;
  /** the one answer, as every output says it */
  answer: Answer;
  /** of those that fit; null: none does */
  fastest: string | null;
  /** the one to use first */
  strategies: Array<StrategyResult>;
}

/** Strategies side by side */
export interface Comparison {
  /** names what this report is */
  schema: "foretrain.comparison/1";
  /** its name: the file without folder and ending, or "model on cluster" */
  scenario: string;
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** as model.precision of a scenario; "as recorded" of a recorded program */
  precision: string;
  /** weak: the batch per GPU stays; strong: the global batch does */
  scaling: "weak" | "strong";
  /** that of the scenario */
  own_strategy: string;
  /** a step of the plain loop on one GPU; in seconds */
  one_gpu_step_s: number;
  /** one for each number of GPUs or size */
  points: Array<ComparisonPoint>;
  /** where measured runs corrected every strategy by the scenario's own; raw is empty, each strategy has raw_step_s; --evidence off: never */
  evidence?: Evidence;
  /** what the model chose, and why */
  decisions: Array<Decision>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
}

/** Several comparisons */
export interface Comparisons {
  /** names what this report is */
  schema: "foretrain.comparisons/1";
  /** one for each scenario */
  comparisons: Array<Comparison>;
}

/** The best strategy of one network on one cluster */
export interface StrategyChoice {
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** the strategy to use */
  best: string;
  /** strategies besides it that are as fast */
  others_as_fast: number;
  /** a step of the best; in seconds */
  step_s: number;
  /** rate / rate on one GPU; null: it does not fit into memory */
  speedup: number | null;
  /** whether it fits into memory */
  fits: boolean;
  /** the first that is no longer as fast; null: there is none */
  runner_up: string | null;
  /** samples per second of the runner-up over those of the best */
  runner_up_by: number | null;
}

/** The best strategy of many jobs */
export interface Strategies {
  /** names what this report is */
  schema: "foretrain.strategies/1";
  /** number of GPUs */
  gpus: number;
  /** those that were compared */
  strategies: Array<string>;
  /** network after network, within it cluster after cluster */
  choices: Array<StrategyChoice>;
}

/** One cluster and number of GPUs */
export interface MachineRow {
  /** the cluster */
  cluster: string;
  /** its GPU, a name of the catalog */
  gpu: string;
  /** number of GPUs */
  gpus: number;
  /** nodes they are on; null: it cannot run there */
  nodes: number | null;
  /** whether it can run the training */
  runs: boolean;
  /** the reason where it cannot */
  why_not: string | null;
  /** a step; null: it cannot run, as for all figures; in seconds */
  step_s: number | null;
  /** training rate over all GPUs; in samples per second */
  samples_per_s: number | null;
  /** time of `amount`; in seconds */
  time_s: number | null;
  /** of time_s; null: it cannot run, or nobody computed intervals */
  time_interval: Interval | null;
  /** time of the fastest row / time_s: 1 or less */
  speed: number | null;
  /** that the job pays for `amount`; in GPU-hours */
  gpu_hours: number | null;
  /** of the GPUs and their share of the nodes, for `amount`; null: unknown; in kWh */
  energy_kwh: number | null;
  /** of `amount`; null: no price is known */
  cost: number | null;
  /** as the site bills; empty: the currency of --price */
  cost_unit: string | null;
  /** of the GPU that needs most; null: nothing was predicted */
  memory: ShortMemory | null;
}

/** One training on several machines */
export interface Machines {
  /** names what this report is */
  schema: "foretrain.machines/1";
  /** its name: the file without folder and ending, or "model on cluster" */
  scenario: string;
  /** the network */
  model: string;
  /** how the work is divided */
  strategy: string;
  /** as model.precision of a scenario; "as recorded" of a recorded program */
  precision: string;
  /** weak: the batch per GPU stays; strong: the global batch does */
  scaling: "weak" | "strong";
  /** with strong scaling of all GPUs, else of each GPU */
  batch: number;
  /** what times, GPU-hours, cost and energy are of: the run where data set and epochs are given, else one epoch's steps, else a million samples */
  amount: "run" | "epoch" | "million_samples";
  /** of the question; null: none was given; in seconds */
  deadline_s: number | null;
  /** what decides which row is cheapest: cost where all prices are in one unit */
  compares: "cost" | "gpu_hours";
  /** which machine to use, for people */
  verdict: string;
  /** place in rows; null: none runs */
  fastest: number | null;
  /** place in rows; null: none runs */
  cheapest: number | null;
  /** place in rows of the cheapest that keeps the deadline with 95 %, without a deadline of the row that is both fastest and cheapest; null: there is none */
  best: number | null;
  /** one for each cluster and number of GPUs, the fastest first; those that cannot run last */
  rows: Array<MachineRow>;
  /** measured runs of this training that calibrate the predictions, for people */
  measured: Array<string>;
  /** of each server that is known by its GPU alone what it is, for people */
  assumed: Array<string>;
  /** what the model chose, and why, by cluster */
  decisions: Record<string, Array<Decision>>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
}

/** Lowest and highest value of 90 % */
export interface Range {
  /** lower end */
  low: number;
  /** upper end */
  high: number;
}

/** One layout of a large model */
export interface Layout {
  /** degrees above 1, as in TP 8 x PP 4 x DP 2 */
  layout: string;
  /** GPUs that share each layer */
  tensor: number;
  /** stages */
  pipeline: number;
  /** parts of a stage */
  virtual_stages: number;
  /** GPUs that share each sequence */
  context: number;
  /** GPUs that share the experts */
  expert: number;
  /** copies of the network */
  data: number;
  /** sequences */
  micro_batch: number;
  /** of a step */
  micro_batches: number;
  /** order of the passes of a pipeline */
  schedule: string;
  /** what data ranks share out */
  shard: string;
  /** what backward computes again */
  recompute: string;
  /** a step; in seconds */
  step_s: number;
  /** 90 % interval of the step, of layouts that the table shows; seconds */
  step_90: Range | null;
  /** likewise of the step over the first layout's */
  over_first_90: Range | null;
  /** training rate of a GPU; in tokens per second */
  tokens_per_s_per_gpu: number;
  /** 3 x forward FLOPs, causal half of attention, over the peak */
  mfu: number;
  /** share of the step */
  bubble: number;
  /** of the fullest stage; in bytes */
  memory_bytes: number;
  /** into the memory, from the error of measured memory; 0 to 1 */
  chance_of_fitting: number;
  /** of a step of the busiest stage; the parts sum to it */
  breakdown: Breakdown;
  /** within 2 % */
  tied_with_first: boolean;
  /** nothing is faster and needs less memory */
  on_front: boolean;
}

/** All layouts that fit, fastest first */
export interface Plan {
  /** names what this report is */
  schema: "foretrain.plan/1";
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** number of GPUs */
  gpus: number;
  /** sequences of a step */
  global_batch: number;
  /** tokens of a step */
  tokens_per_step: number;
  /** layouts that divide */
  possible: number;
  /** those of them that need more than a GPU has */
  without_memory: number;
  /** what the second-best kind of layout loses; null: nothing fits */
  why_first: string | null;
  /** what is nearest where nothing fits; null: something does */
  why_none: string | null;
  /** machines on which another layout would be first */
  would_change: Array<string>;
  /** that fit, fastest first */
  layouts: Array<Layout>;
  /** the one answer, of a plan on one number of GPUs */
  answer?: Answer;
}

/** One number of GPUs */
export interface PlannedCount {
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** whether any layout does */
  fits: boolean;
  /** of the first layout, all GPUs; in tokens per second */
  tokens_per_s: number | null;
  /** for tokens_of_run; in seconds */
  run_s: number | null;
  /** of that; in GPU-hours */
  gpu_hours: number | null;
  /** tokens/s a GPU over that of the fewest GPUs that fit */
  efficiency: number | null;
  /** a doubling since the last number that pays is 1.4 times as fast or more */
  pays: boolean;
  /** its layouts */
  plan: Plan;
}

/** Layouts on several numbers of GPUs */
export interface Plans {
  /** names what this report is */
  schema: "foretrain.plans/1";
  /** the network */
  model: string;
  /** the cluster */
  cluster: string;
  /** sequences of a step, on every number of GPUs */
  global_batch: number;
  /** tokens of a step */
  tokens_per_step: number;
  /** what run_s and gpu_hours are about */
  tokens_of_run: number;
  /** else 10^12 tokens */
  is_run_of_scenario: boolean;
  /** the answer's verdict and action */
  verdict: Array<string>;
  /** the one answer, as every output says it */
  answer: Answer;
  /** the last number that pays; null: nothing fits */
  best_gpus: number | null;
  /** by growing number of GPUs */
  counts: Array<PlannedCount>;
}

/** What a call's time goes to */
export interface CollectiveParts {
  /** the host, of one thread of a process; in seconds */
  launch_s: number;
  /** the kernel's start; in seconds */
  start_s: number;
  /** latencies of the algorithm's steps; in seconds */
  steps_s: number;
  /** the pipeline fills; in seconds */
  fill_s: number;
  /** bytes over the busiest link; in seconds */
  data_s: number;
}

/** One message size */
export interface CollectivePoint {
  /** size of the message; in bytes */
  bytes: number;
  /** of a call; in seconds */
  time_s: number;
  /** size / time; in bytes per second */
  algbw_bytes_per_s: number;
  /** bus bandwidth as nccl-tests defines it; in bytes per second */
  busbw_bytes_per_s: number;
  /** as NCCL calls it; null: nothing runs */
  algorithm: string | null;
  /** as NCCL calls it; null: nothing runs */
  protocol: string | null;
  /** or connections of a transport; 0: nothing runs */
  channels: number;
  /** what the time depends on most; null: nothing runs */
  bound_by: string | null;
  /** the busiest link; null: there is none */
  bottleneck: string | null;
  /** of the time, 90 %; null where nothing runs or nobody measured such */
  interval: Interval | null;
  /** of the time */
  parts: CollectiveParts;
  /** the reason, in a sentence; with --explain */
  why?: string;
  /** as simulated, where measured runs corrected the curve; in seconds */
  raw_time_s?: number;
  /** what measured runs say of this size; no neighbours: as simulated */
  evidence?: Estimate;
}

/** A collective over message sizes */
export interface Collective {
  /** names what this report is */
  schema: "foretrain.collective/1";
  /** the cluster */
  cluster: string;
  /** its GPU, a name of the catalog */
  gpu: string;
  /** as nccl-tests calls it */
  op: string;
  /** number of GPUs */
  gpus: number;
  /** nodes they are on */
  nodes: number;
  /** null: one for each GPU */
  processes_per_node: number | null;
  /** whether times are of one call by itself, not of the loop of nccl-tests */
  single: boolean;
  /** with its version */
  library: string;
  /** how it was simulated */
  fidelity: "analytic" | "flow" | "chunk";
  /** one for each message size */
  points: Array<CollectivePoint>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
  /** the one answer, as every output says it */
  answer: Answer;
}

/** How far one database is */
export interface SweepState {
  /** as it was named */
  file: string;
  /** its name */
  sweep: string;
  /** of the program that wrote it */
  version: string;
  /** which part, from 1 */
  shard: number;
  /** of so many */
  shards: number;
  /** cases that are there */
  done: number;
  /** that the shard has */
  cases: number;
  /** false: estimated from some of them */
  cases_are_exact: boolean;
  /** of those that are there, cases that cannot run */
  failed: number;
  /** of those that failed, cases that ended the process that predicted them */
  crashed: number;
  /** of its last run that came to its end; null: none has; in seconds */
  cases_per_s: number | null;
}

/** How far databases of sweeps are */
export interface SweepStatus {
  /** names what this report is */
  schema: "foretrain.sweep_status/1";
  /** in the order they were named */
  files: Array<SweepState>;
}

/** Rows of a sweep */
export interface SweepRows {
  /** names what this report is */
  schema: "foretrain.sweep_rows/1";
  /** its name */
  sweep: string;
  /** what the rows are, as the table says it */
  heading: string;
  /** names in their order */
  columns: Array<string>;
  /** each with a key for every column */
  rows: Array<Record<string, string | number | boolean | null>>;
  /** what the user should know, in sentences */
  warnings: Array<string>;
}
