"""Types of the JSON reports, printed by `foretrain reference python` from the declared fields."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, TypedDict, Union


class Interval(TypedDict):
    """Where a time lies"""

    #: lower end; in seconds
    low_s: float
    #: upper end; in seconds
    high_s: float
    #: share of cases that lie inside
    level: float


class LevelRange(TypedDict):
    """Where a number lies"""

    #: lower end
    low: float
    #: upper end
    high: float
    #: share of cases that lie inside
    level: float


class MemoryRow(TypedDict):
    """What a class of tensors takes when the GPU is fullest in each phase of a step"""

    #: the class
    tensors: str
    #: in the forward pass; in bytes
    forward_bytes: int
    #: in the backward pass; in bytes
    backward_bytes: int
    #: in the optimizer's step; in bytes
    optimizer_bytes: int


class MemoryLedger(TypedDict):
    """The memory by class of tensors and phase"""

    #: classes that take something in a phase
    rows: List[MemoryRow]
    #: the fullest phase: torch.cuda.max_memory_allocated(); in bytes
    allocated_bytes: int
    #: with what the allocator rounds up: max_memory_reserved(); in bytes
    reserved_bytes: int
    #: with context, libraries and NCCL: nvidia-smi; in bytes
    shown_bytes: int


class _Memory(TypedDict):
    """Memory of the GPU that needs most"""

    #: what it holds, with as much scratch memory of convolutions as the GPU has room for; in bytes
    bytes: int
    #: what the GPU has; in bytes
    capacity_bytes: int
    #: whether it fits: bytes is no more than capacity_bytes
    fits: bool
    #: whether it fits only with less scratch memory than the fastest convolutions take
    fits_tightly: bool
    #: the chance that the training runs in this memory and, with offload, in the node's, from the error of
    #: predicted memory
    chance_of_fitting: float
    #: the largest batch of a micro-step that fits with all the scratch memory the fastest convolutions
    #: take, whatever batch was asked for: one sample more fits tightly or not at all; at most 1,000,000, 0:
    #: none
    largest_batch_per_gpu: int
    #: weights; in bytes
    parameters_bytes: int
    #: gradients; in bytes
    gradients_bytes: int
    #: the optimizer's state; in bytes
    optimizer_bytes: int
    #: buckets of gradients that are exchanged; in bytes
    buckets_bytes: int
    #: what forward keeps for backward; in bytes
    activations_bytes: int
    #: scratch memory of convolutions; in bytes
    workspace_bytes: int
    #: of framework, libraries and driver; in bytes
    framework_bytes: int


class Memory(_Memory, total=False):
    """Memory of the GPU that needs most"""

    #: of unlike nodes those with the least to spare, whose memory this is
    kind: str
    #: by class of tensors and phase; of networks that are not cut, on ranks that are alike
    ledger: MemoryLedger


class Breakdown(TypedDict):
    """The account of a step; the parts sum to it"""

    #: kernels; in seconds
    compute_s: float
    #: communication that nothing hides; in seconds
    exposed_communication_s: float
    #: waits for data; in seconds
    input_stall_s: float
    #: waits for the host; in seconds
    host_s: float
    #: the update; in seconds
    optimizer_s: float
    #: everything else; in seconds
    other_s: float


class HostMemory(TypedDict):
    """What is offloaded to the memory of the fullest node"""

    #: of all ranks of the node; in bytes
    bytes: int
    #: what the node has; null: the cluster does not state it; in bytes
    capacity_bytes: Optional[int]
    #: the chance that the node's memory holds it; null as capacity_bytes
    chance_of_fitting: Optional[float]
    #: weights that the optimizer steps on; in bytes
    masters_bytes: int
    #: the optimizer's state; in bytes
    moments_bytes: int
    #: as the optimizer reads them; in bytes
    gradients_bytes: int
    #: weights that are copied to GPUs; in bytes
    weights_bytes: int
    #: activations that wait for backward; in bytes
    activations_bytes: int
    #: page-locked buffers, and what allocations are rounded up by; in bytes
    buffers_bytes: int
    #: Python and CUDA; in bytes
    processes_bytes: int
    #: on NVMe, besides; in bytes
    on_drive_bytes: int


class ParallelPoint(TypedDict):
    """The layout of [parallel], and what large models are compared by"""

    #: degrees above 1, as in TP 8 x PP 4 x DP 2
    layout: str
    #: of an optimizer step
    micro_batches: int
    #: training rate of a GPU; in tokens per second
    tokens_per_s_per_gpu: float
    #: 3 x forward with the causal half of attention, nothing recomputed; in TFLOP/s
    model_tflops_per_gpu: float
    #: over the peak of the products' precision
    mfu: float
    #: share of the step in which the busiest stage has nothing to do
    bubble: float
    #: whose memory decides, from 0
    fullest_stage: int


class UnlikeRanks(TypedDict):
    """Ranks of a job that are not like its others"""

    #: of node
    kind: str
    #: nodes they are on
    nodes: int
    #: number of GPUs
    gpus: int
    #: samples per GPU and micro-step
    batch_per_gpu: int
    #: of the GPUs, over that of others of the kind
    clock: float
    #: a step that waits for nobody slower; in seconds
    own_step_s: float
    #: waits for slower ranks in a step; in seconds
    waits_s: float
    #: what a GPU holds; in bytes
    memory_bytes: int
    #: what a GPU has; in bytes
    capacity_bytes: int
    #: whether it fits into memory
    fits: bool
    #: the largest batch of a micro-step that fits
    largest_batch_per_gpu: int


@dataclass
class PredictionPoint:
    """One number of GPUs"""

    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: samples per GPU and micro-step
    batch_per_gpu: int
    #: samples that an optimizer step trains, of all ranks; with a global batch that does not divide more
    #: than it
    global_batch: int
    #: null: the number of samples is unknown
    steps_per_epoch: Optional[int]
    #: a step; in seconds
    step_s: float
    #: an epoch; null: the number of samples is unknown, or drop_last leaves no step; in seconds
    epoch_s: Optional[float]
    #: the whole run; null as epoch_s; in seconds
    total_s: Optional[float]
    #: training rate over all GPUs; in samples per second
    samples_per_s: float
    #: rate / rate on one GPU; null: it does not fit into memory
    speedup: Optional[float]
    #: speedup / GPUs; null as speedup
    efficiency: Optional[float]
    #: GPUs times hours; null as total_s; in GPU-hours
    gpu_hours: Optional[float]
    #: of the run that is no training step; in seconds
    other_s: float
    #: of the run before its first step; in seconds
    startup_s: float
    #: of the run for loaders at the start of epochs; in seconds
    loader_restart_s: float
    #: of the run for validation; in seconds
    validation_s: float
    #: of the run for checkpoints; in seconds
    checkpoint_s: float
    #: of the run for other work of a given duration; in seconds
    periodic_s: float
    #: where step_s lies at the level; null: unknown
    interval: Optional[Interval]
    #: the same of epoch_s
    epoch_interval: Optional[Interval]
    #: the same of total_s
    total_interval: Optional[Interval]
    #: the same of speedup
    speedup_interval: Optional[LevelRange]
    #: probability that it is faster than one GPU
    chance_of_gain: Optional[float]
    #: of the GPU that needs most
    memory: Memory
    #: of a step; the parts sum to it
    breakdown: Breakdown
    #: gradients that are exchanged together, first to last; in bytes
    buckets_bytes: List[int]
    #: with offload: of the node that needs most
    host_memory: Optional[HostMemory] = None
    #: with [parallel]: the layout and what large models are compared by
    parallel: Optional[ParallelPoint] = None
    #: ranks of one machine, batch and clock each, in the order of their first ranks
    unlike_ranks: Optional[List[UnlikeRanks]] = None
    #: part of rank 0's exposed communication: slower ranks are not ready; only with unlike_ranks; in
    #: seconds
    waits_for_slower_s: Optional[float] = None


class RemovedCause(TypedDict):
    """A cause of a step's time, removed by itself"""

    #: the cause, or two that hide each other
    what: List[str]
    #: in words
    name: str
    #: the words for a step without it
    without: str
    #: the step without it; in seconds
    step_s: float
    #: what that saves of the step; in seconds
    saves_s: float


class CausePart(TypedDict):
    """What a cause adds when causes are removed one after another"""

    #: the cause
    what: str
    #: of the step; in seconds
    seconds: float


class StepCauses(TypedDict):
    """The causes of a step's time, each found by simulating the step without it"""

    #: number of GPUs
    gpus: int
    #: the step as simulated; in seconds
    step_s: float
    #: each cause removed by itself, largest saving first; two that hide each other are removed as a pair
    removed: List[RemovedCause]
    #: causes removed one after another: the seconds sum to step_s - kernels_s
    in_turn: List[CausePart]
    #: the step without any of them; in seconds
    kernels_s: float


class FittingWay(TypedDict):
    """A change with which a training fits that does not as asked"""

    #: the change, in words
    what: str
    #: what to add to the command
    option: str
    #: number of GPUs
    gpus: int
    #: needed on each GPU; in bytes
    memory_bytes: int
    #: 0 to 1
    chance_of_fitting: float
    #: the predicted step; in seconds
    step_s: float


class TrainingLimits(TypedDict):
    """How far a training can be taken on its GPUs, each limit with all else as asked"""

    #: number of GPUs
    gpus: int
    #: as asked
    batch_per_gpu: int
    #: the largest batch of a micro-step that fits; 0: none
    largest_batch_per_gpu: int
    #: of a sample, as asked; 0: the network reads no tokens
    tokens: int
    #: the longest samples that fit at that batch; 0: none
    longest_tokens: int
    #: of a card on which the training surely fits; in bytes
    least_memory_bytes: int
    #: those of the catalog with the least memory that is enough
    smallest_cards: List[str]


class Assumption(TypedDict):
    """Something that nobody stated and that carries weight"""

    #: what is assumed
    text: str
    #: the option that states it
    option: str


class Answer(TypedDict):
    """The one answer, as every output says it"""

    #: which sentence answers
    kind: str
    #: what was asked, as it was understood
    question: str
    #: the sentence to act on; headline is the same
    verdict: str
    #: the number of GPUs that verdict, cause and action are about
    gpus: int
    #: what value_s is, in seconds; of tune its goal, with the goal's unit
    quantity: str
    #: the predicted time; in seconds
    value_s: float
    #: where it lies at the level; null: unknown
    interval: Optional[Interval]
    #: the numbers of GPUs of its table; no verdict speaks of another
    counts: List[int]
    #: the cause whose removal saves most of the step; empty where it does not run
    cause: str
    #: the causes of a step on gpus; null: it does not run
    causes: Optional[StepCauses]
    #: what to do, with the option or line to paste
    action: str
    #: changes with which a training that does not fit does; largest change last
    what_fits: List[FittingWay]
    #: how far the training can be taken; null: not asked for
    limits: Optional[TrainingLimits]
    #: what nobody stated, largest effect first
    assumptions: List[Assumption]
    #: settings that decide and are not modelled
    not_understood: List[str]
    #: figures that break a law of physics
    not_credible: List[str]
    #: measured runs that the prediction is calibrated to
    measured: Optional[str]
    #: where nothing comparable was measured
    extrapolated: List[str]
    #: what would narrow the interval most
    next_measurement: Optional[str]


class GpuRange(TypedDict):
    """Neighbouring numbers of GPUs that a person would request"""

    #: the smallest
    first: int
    #: the largest
    last: int


class WorthRequesting(TypedDict):
    """Numbers of GPUs that reach an efficiency"""

    #: from 1 to this, all that a person would request
    every_up_to: int
    #: the largest number that does
    most: int


class LossPart(TypedDict):
    """One thing that a step on many GPUs loses time to"""

    #: in words
    what: str
    #: of the step; in seconds
    seconds: float
    #: of the whole loss
    share: float


class LossCause(TypedDict):
    """What a step takes longer than if every GPU were as fast as one alone"""

    #: number of GPUs
    gpus: int
    #: the loss of a step; in seconds
    loss_s: float
    #: of the loss, largest first; they sum to it
    parts: List[LossPart]


class CrossoverSearch(TypedDict):
    """How thoroughly numbers of GPUs were looked at"""

    #: the answers are about 1 to this
    up_to: int
    #: so many of which a person would request
    numbers: int
    #: of these, for the answers
    simulated: int
    #: false: dips between simulated numbers may be missed
    certain: bool


class Crossover(TypedDict):
    """Where more GPUs stop paying"""

    #: the fewest GPUs within 0.1 % of the largest throughput
    fastest_gpus: int
    #: numbers of GPUs with less throughput than one
    slower_than_one_gpu: List[GpuRange]
    #: numbers with less throughput than a smaller one
    slower_than_fewer_gpus: List[GpuRange]
    #: the smallest number beyond the fastest; null: there is none
    no_gain_from: Optional[int]
    #: from so many GPUs on, by efficiency
    efficiency_below: Dict[str, Optional[int]]
    #: the smallest of slower_than_one_gpu; null: none
    slower_than_one_gpu_from: Optional[int]
    #: the smallest of slower_than_fewer_gpus; null: none
    slower_than_previous_from: Optional[int]
    #: of the losses, in words
    cause: str
    #: GPUs that are used so well, by efficiency
    worth_requesting: Dict[str, WorthRequesting]
    #: what is lost at each of the answers, fewest GPUs first
    causes: List[LossCause]
    #: how thoroughly was looked
    search: CrossoverSearch


class IntegerRange(TypedDict):
    """Lowest and highest number of GPUs"""

    #: the lowest
    low: int
    #: the highest
    high: int


class KnownIntegerRange(TypedDict):
    """Lowest and highest number of GPUs where there is one"""

    #: the lowest; null: never
    low: Optional[int]
    #: the highest; null: never
    high: Optional[int]


class CrossoverInterval(TypedDict):
    """The 90 % interval of each answer of the crossover; null where no draw has one"""

    #: the fastest number of GPUs
    fastest_gpus: IntegerRange
    #: that some number of GPUs is slower than one
    chance_slower_than_one_gpu: float
    #: from where on
    slower_than_one_gpu_from: KnownIntegerRange
    #: share of cases that lie inside
    level: float


class JobOption(TypedDict):
    """One way to run the training"""

    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: how the work is divided
    strategy: str
    #: samples per GPU and micro-step
    batch_per_gpu: int
    #: micro-steps of an optimizer step
    accumulation: int
    #: loader processes of a GPU; 0: none, or loading is not described
    workers_per_gpu: int
    #: of the cluster; empty: its file names none
    partition: str
    #: to ask for, of one job; in seconds
    time_limit_s: float
    #: in a row, where the partition allows less than the run takes
    jobs: int
    #: the whole run; in seconds
    total_s: float
    #: where it lies at the level
    total_interval: Interval
    #: the run with its wait in the queue; in seconds
    time_to_result_s: float
    #: rate / rate on one GPU; null: it does not fit into memory
    speedup: Optional[float]
    #: speedup / GPUs; null as speedup
    efficiency: Optional[float]
    #: GPUs times hours; in GPU-hours
    gpu_hours: float
    #: of the GPUs alone; null: unknown; in kWh
    gpu_energy_kwh: Optional[float]
    #: with the job's share of its nodes; null: unknown; in kWh
    energy_kwh: Optional[float]
    #: in cost_unit
    cost: float
    #: that it ends in time; null: no deadline was given
    deadline_probability: Optional[float]
    #: what it gives and takes against the recommendation, in words
    trade: str


class ConfirmingRun(TypedDict):
    """A run of some minutes that tells whether the recommendation is right"""

    #: number of GPUs
    gpus: int
    #: optimizer steps
    steps: int
    #: with start-up; in seconds
    duration_s: float
    #: the line to type
    command: str


class Recommendation(TypedDict):
    """What to ask the cluster for"""

    #: what the job is best at
    goal: str
    #: of cost; empty: that of the given price
    cost_unit: str
    #: the job to ask for; null: none can run
    best: Optional[JobOption]
    #: the next smaller and the next larger job
    runners_up: List[JobOption]
    #: all jobs that were, by growing number of GPUs
    looked_at: List[JobOption]
    #: by the energy and the grid of the site; null: unknown; in kg
    co2_kg: Optional[float]
    #: the two shortest that would tell whether it is right
    confirming_runs: List[ConfirmingRun]
    #: what changes the training, in sentences
    warnings: List[str]
    #: why no job keeps the limits; null: one does
    why_none: Optional[str]
    #: about batch, workers and strategies, in sentences
    notes: List[str]


class UncertainInput(TypedDict):
    """What one uncertain input alone does to the time, the others as predicted"""

    #: which, in words
    input: str
    #: where its value comes from
    origin: str
    #: lower end; in seconds
    low_s: float
    #: upper end; in seconds
    high_s: float
    #: of the variance that the inputs make together
    share: float


class NarrowedBy(TypedDict):
    """The interval of the time once something has been measured"""

    #: the measurement, in words
    what: str
    #: lower end; in seconds
    low_s: float
    #: upper end; in seconds
    high_s: float


class RunsToMake(TypedDict):
    """Short runs of one's own"""

    #: number of GPUs, one for each run
    gpus: List[int]
    #: part of what is uncertain now
    uncertainty_left: float


class _Sensitivity(TypedDict):
    """Which inputs matter, largest first, and which measurement would narrow the answer most"""

    #: number of GPUs
    gpus: int
    #: the whole run; null: the number of samples is unknown; in seconds
    total_s: Optional[float]
    #: a step, which inputs and measure are then about; null: total_s is known; in seconds
    step_s: Optional[float]
    #: where that lies at the level
    interval: Interval
    #: uncertain inputs
    inputs: List[UncertainInput]
    #: measurements, best first
    measure: List[NarrowedBy]


class Sensitivity(_Sensitivity, total=False):
    """Which inputs matter, largest first, and which measurement would narrow the answer most"""

    #: short runs of one's own, those that leave least of the uncertainty of the largest step first
    runs: List[RunsToMake]


class Neighbour(TypedDict):
    """A measured run that is like the training"""

    #: who measured it
    source: str
    #: the run of that source
    run: str
    #: the network
    model: str
    #: the GPU
    gpu: str
    #: the cluster
    cluster: str
    #: how often it was measured
    repeats: int
    #: 0: the same run; 1: nothing in common
    distance: float
    #: of its residual in the estimate
    weight: float
    #: how far it was believed beside the others
    believed: float


class Estimate(TypedDict):
    """How far measured runs of the like lie from the simulation"""

    #: expected logarithm of measured over simulated
    log_factor: float
    #: standard deviation of a further run's
    spread: float
    #: part of the spread without any measurement
    uncertainty_left: float
    #: the measured runs, nearest first
    neighbours: List[Neighbour]


class MeasuredRuns(TypedDict):
    """Measured runs of this very training"""

    #: the cluster
    where: str
    #: who measured them
    source: str
    #: how many
    runs: int
    #: number of GPUs
    gpus: int
    #: the shortest measured step; in seconds
    low_s: float
    #: the longest; in seconds
    high_s: float


class RawPoint(TypedDict):
    """A point as simulated, before evidence corrected it"""

    #: number of GPUs
    gpus: int
    #: the step; in seconds
    step_s: float
    #: where it lies at the level
    interval: Interval


class Evidence(TypedDict):
    """How measured runs corrected the points"""

    #: of every step
    log_factor: float
    #: for each doubling of the GPUs
    log_factor_per_doubling: float
    #: of the step on one GPU
    step: Estimate
    #: of the largest listed number over one GPU
    ratio: Estimate
    #: measured runs of this very training that the prediction is calibrated to
    measured: List[MeasuredRuns]
    #: the points as simulated
    raw: List[RawPoint]


class MixingChoice(TypedDict):
    """A way to run the job: on all of its nodes, or without some"""

    #: which nodes, in words
    nodes_of_the_job: str
    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: samples that an optimizer step trains
    global_batch: int
    #: a step; in seconds
    step_s: float
    #: training rate over all GPUs; in samples per second
    samples_per_s: float
    #: the whole run; null: the number of samples is unknown; in seconds
    total_s: Optional[float]
    #: whether it fits into memory
    fits: bool


class Mixing(TypedDict):
    """What it costs that the ranks of a job are not alike, on the most GPUs that are listed"""

    #: number of GPUs
    gpus: int
    #: ranks of one machine, batch and clock each, in the order of their first ranks
    ranks: List[UnlikeRanks]
    #: all nodes of the job first, then without some
    choices: List[MixingChoice]
    #: the fastest choice that fits, from 0
    best: int
    #: which nodes to take, in a sentence
    verdict: str


class _BreakEvenValue(TypedDict):
    """Where one thing alone, changed, makes the numbers equal"""

    #: the value; null: none up to the limit
    at: Optional[float]


class BreakEvenValue(_BreakEvenValue, total=False):
    """Where one thing alone, changed, makes the numbers equal"""

    #: the scenario's own; null: the number of samples is unknown
    now: Optional[float]
    #: the GPUs beat one already; null as now
    beats_now: Optional[bool]
    #: how far was looked
    limit: float
    #: into the GPU's memory there
    fits: bool
    #: less of it helps: at is the largest that beats one GPU
    is_upper: bool
    #: why it was not looked for; then nothing else is there
    why_not: str


class _FastestBreakEven(TypedDict):
    """The bandwidth at which another number of GPUs is the fastest"""

    #: the value; null: none up to the limit
    at: Optional[float]
    #: the fastest number now
    gpus_now: int
    #: and with that bandwidth
    gpus_then: int


class FastestBreakEven(_FastestBreakEven, total=False):
    """The bandwidth at which another number of GPUs is the fastest"""

    #: the scenario's own; null: the number of samples is unknown
    now: Optional[float]
    #: the GPUs beat one already; null as now
    beats_now: Optional[bool]
    #: how far was looked
    limit: float
    #: into the GPU's memory there
    fits: bool
    #: less of it helps: at is the largest that beats one GPU
    is_upper: bool
    #: why it was not looked for; then nothing else is there
    why_not: str


class _BreakEven(TypedDict):
    """How large batch, network or epoch must be for the GPUs to beat one, and how fast the link"""

    #: number of GPUs
    gpus: int
    #: rate / rate on one GPU, as the scenario stands
    speedup: float
    #: the network's, as a factor
    width: BreakEvenValue
    #: of the data set: whole steps of all GPUs
    epoch_samples: BreakEvenValue
    #: what bounds the GPUs; null: no link does
    link: Optional[str]
    #: of one such link now; null: no link bounds them; in bytes per second
    link_bytes_per_s: Optional[float]
    #: of links of that kind, as a factor
    bandwidth: BreakEvenValue
    #: the bandwidth at which another number of GPUs is the fastest
    fastest: FastestBreakEven


class BreakEven(_BreakEven, total=False):
    """How large batch, network or epoch must be for the GPUs to beat one, and how fast the link"""

    #: of all GPUs; with strong scaling
    global_batch: BreakEvenValue
    #: samples per GPU and micro-step; with weak scaling
    batch_per_gpu: BreakEvenValue


class Decision(TypedDict):
    """What the model chose, and why"""

    #: what it is about
    subject: str
    #: what was chosen
    choice: str
    #: the reason, in a sentence
    why: str


@dataclass
class PredictionFields:
    """A scaling table"""

    #: its name: the file without folder and ending, or "model on cluster"
    scenario: str
    #: the network
    model: str
    #: the cluster
    cluster: str
    #: how the work is divided
    strategy: str
    #: as model.precision of a scenario; "as recorded" of a recorded program
    precision: str
    #: weak: the batch per GPU stays; strong: the global batch does
    scaling: str
    #: the answer in a sentence
    headline: str
    #: one for each number of GPUs or size
    points: List[PredictionPoint]
    #: the one answer, as every output says it
    answer: Answer
    #: no number of GPUs has the memory
    cannot_run: bool
    #: where more GPUs stop paying; null: it cannot run
    crossover: Optional[Crossover]
    #: the 90 % interval of its answers
    crossover_interval: Optional[CrossoverInterval]
    #: of a wide interval what makes it so and what to measure; null where none is wide
    to_narrow: Optional[str]
    #: what the model chose, and why
    decisions: List[Decision]
    #: what the user should know, in sentences
    warnings: List[str]
    #: where nothing comparable was measured
    extrapolated: List[str]
    #: with --recommend
    recommendation: Optional[Recommendation] = None
    #: with --sensitivity
    sensitivity: Optional[Sensitivity] = None
    #: where measured runs corrected the points; --evidence off: never
    evidence: Optional[Evidence] = None
    #: where ranks are not alike: what that costs on the most GPUs that are listed
    mixing: Optional[Mixing] = None
    #: with --break-even
    break_even: Optional[BreakEven] = None


class SpeedRatio(TypedDict):
    """Samples per second over those of the fastest; null: it does not fit into memory"""

    #: the ratio
    value: Optional[float]
    #: lower end
    low: Optional[float]
    #: upper end
    high: Optional[float]
    #: share of cases that lie inside
    level: float


class ShortMemory(TypedDict):
    """Memory of the GPU that needs most, without its parts"""

    #: what it holds; in bytes
    bytes: int
    #: what the GPU has; in bytes
    capacity_bytes: int
    #: whether it fits: bytes is no more than capacity_bytes
    fits: bool
    #: the largest batch of a micro-step that fits; 0: none
    largest_batch_per_gpu: int


class StepPart(TypedDict):
    """A part of a step, or a difference of one"""

    #: in words
    what: str
    #: of the step; in seconds
    seconds: float


@dataclass
class StrategyResult:
    """One strategy on one number of GPUs; without figures where it cannot run"""

    #: how the work is divided
    strategy: str
    #: whether it can run on these GPUs
    runs: bool
    #: how it stands to the fastest
    standing: str
    #: why it cannot run
    why_not: Optional[str] = None
    #: what it takes besides a script of the scenario's framework; empty: nothing
    needs: Optional[str] = None
    #: samples per second over those of the fastest; null: it does not fit into memory
    ratio: Optional[SpeedRatio] = None
    #: samples per GPU and micro-step
    batch_per_gpu: Optional[int] = None
    #: samples that an optimizer step trains, of all ranks; with a global batch that does not divide more
    #: than it
    global_batch: Optional[int] = None
    #: a step; in seconds
    step_s: Optional[float] = None
    #: an epoch; null: the number of samples is unknown, or drop_last leaves no step; in seconds
    epoch_s: Optional[float] = None
    #: the whole run; null as epoch_s; in seconds
    total_s: Optional[float] = None
    #: training rate over all GPUs; in samples per second
    samples_per_s: Optional[float] = None
    #: rate / rate on one GPU; null: it does not fit into memory
    speedup: Optional[float] = None
    #: speedup / GPUs; null as speedup
    efficiency: Optional[float] = None
    #: as simulated, where measured runs corrected it; in seconds
    raw_step_s: Optional[float] = None
    #: of the GPU that needs most
    memory: Optional[ShortMemory] = None
    #: of a step; the parts sum to it
    breakdown: Optional[Breakdown] = None
    #: what launch or sampler waste, in words
    job_losses: Optional[str] = None
    #: of its step
    parts: Optional[List[StepPart]] = None
    #: its parts minus those of the fastest, largest first
    against_best: Optional[List[StepPart]] = None


@dataclass
class ComparisonPoint:
    """One number of GPUs: the strategies side by side"""

    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: whether to change the strategy, in a sentence
    verdict: str
    #: the one answer, as every output says it
    answer: Answer
    #: of those that fit; null: none does
    fastest: Optional[str]
    #: the one to use first
    strategies: List[StrategyResult]


@dataclass
class ComparisonFields:
    """Strategies side by side"""

    #: its name: the file without folder and ending, or "model on cluster"
    scenario: str
    #: the network
    model: str
    #: the cluster
    cluster: str
    #: as model.precision of a scenario; "as recorded" of a recorded program
    precision: str
    #: weak: the batch per GPU stays; strong: the global batch does
    scaling: str
    #: that of the scenario
    own_strategy: str
    #: a step of the plain loop on one GPU; in seconds
    one_gpu_step_s: float
    #: one for each number of GPUs or size
    points: List[ComparisonPoint]
    #: what the model chose, and why
    decisions: List[Decision]
    #: what the user should know, in sentences
    warnings: List[str]
    #: where measured runs corrected every strategy by the scenario's own; raw is empty, each strategy has
    #: raw_step_s; --evidence off: never
    evidence: Optional[Evidence] = None


class Range(TypedDict):
    """Lowest and highest value of 90 %"""

    #: lower end
    low: float
    #: upper end
    high: float


@dataclass
class Layout:
    """One layout of a large model"""

    #: degrees above 1, as in TP 8 x PP 4 x DP 2
    layout: str
    #: GPUs that share each layer
    tensor: int
    #: stages
    pipeline: int
    #: parts of a stage
    virtual_stages: int
    #: GPUs that share each sequence
    context: int
    #: GPUs that share the experts
    expert: int
    #: copies of the network
    data: int
    #: sequences
    micro_batch: int
    #: of a step
    micro_batches: int
    #: order of the passes of a pipeline
    schedule: str
    #: what data ranks share out
    shard: str
    #: what backward computes again
    recompute: str
    #: a step; in seconds
    step_s: float
    #: 90 % interval of the step, of layouts that the table shows; seconds
    step_90: Optional[Range]
    #: likewise of the step over the first layout's
    over_first_90: Optional[Range]
    #: training rate of a GPU; in tokens per second
    tokens_per_s_per_gpu: float
    #: 3 x forward FLOPs, causal half of attention, over the peak
    mfu: float
    #: share of the step
    bubble: float
    #: of the fullest stage; in bytes
    memory_bytes: int
    #: into the memory, from the error of measured memory; 0 to 1
    chance_of_fitting: float
    #: of a step of the busiest stage; the parts sum to it
    breakdown: Breakdown
    #: within 2 %
    tied_with_first: bool
    #: nothing is faster and needs less memory
    on_front: bool


@dataclass
class PlanFields:
    """All layouts that fit, fastest first"""

    #: the network
    model: str
    #: the cluster
    cluster: str
    #: number of GPUs
    gpus: int
    #: sequences of a step
    global_batch: int
    #: tokens of a step
    tokens_per_step: int
    #: layouts that divide
    possible: int
    #: those of them that need more than a GPU has
    without_memory: int
    #: what the second-best kind of layout loses; null: nothing fits
    why_first: Optional[str]
    #: what is nearest where nothing fits; null: something does
    why_none: Optional[str]
    #: machines on which another layout would be first
    would_change: List[str]
    #: that fit, fastest first
    layouts: List[Layout]
    #: the one answer, of a plan on one number of GPUs
    answer: Optional[Answer] = None


@dataclass
class PlannedCount:
    """One number of GPUs"""

    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: whether any layout does
    fits: bool
    #: of the first layout, all GPUs; in tokens per second
    tokens_per_s: Optional[float]
    #: for tokens_of_run; in seconds
    run_s: Optional[float]
    #: of that; in GPU-hours
    gpu_hours: Optional[float]
    #: tokens/s a GPU over that of the fewest GPUs that fit
    efficiency: Optional[float]
    #: a doubling since the last number that pays is 1.4 times as fast or more
    pays: bool
    #: its layouts
    plan: PlanFields


@dataclass
class PlansFields:
    """Layouts on several numbers of GPUs"""

    #: the network
    model: str
    #: the cluster
    cluster: str
    #: sequences of a step, on every number of GPUs
    global_batch: int
    #: tokens of a step
    tokens_per_step: int
    #: what run_s and gpu_hours are about
    tokens_of_run: float
    #: else 10^12 tokens
    is_run_of_scenario: bool
    #: the answer's verdict and action
    verdict: List[str]
    #: the one answer, as every output says it
    answer: Answer
    #: the last number that pays; null: nothing fits
    best_gpus: Optional[int]
    #: by growing number of GPUs
    counts: List[PlannedCount]


class CollectiveParts(TypedDict):
    """What a call's time goes to"""

    #: the host, of one thread of a process; in seconds
    launch_s: float
    #: the kernel's start; in seconds
    start_s: float
    #: latencies of the algorithm's steps; in seconds
    steps_s: float
    #: the pipeline fills; in seconds
    fill_s: float
    #: bytes over the busiest link; in seconds
    data_s: float


@dataclass
class CollectivePoint:
    """One message size"""

    #: size of the message; in bytes
    bytes: int
    #: of a call; in seconds
    time_s: float
    #: size / time; in bytes per second
    algbw_bytes_per_s: float
    #: bus bandwidth as nccl-tests defines it; in bytes per second
    busbw_bytes_per_s: float
    #: as NCCL calls it; null: nothing runs
    algorithm: Optional[str]
    #: as NCCL calls it; null: nothing runs
    protocol: Optional[str]
    #: or connections of a transport; 0: nothing runs
    channels: int
    #: what the time depends on most; null: nothing runs
    bound_by: Optional[str]
    #: the busiest link; null: there is none
    bottleneck: Optional[str]
    #: of the time, 90 %; null where nothing runs or nobody measured such
    interval: Optional[Interval]
    #: of the time
    parts: CollectiveParts
    #: the reason, in a sentence; with --explain
    why: Optional[str] = None
    #: as simulated, where measured runs corrected the curve; in seconds
    raw_time_s: Optional[float] = None
    #: what measured runs say of this size; no neighbours: as simulated
    evidence: Optional[Estimate] = None


@dataclass
class CollectiveFields:
    """A collective over message sizes"""

    #: the cluster
    cluster: str
    #: its GPU, a name of the catalog
    gpu: str
    #: as nccl-tests calls it
    op: str
    #: number of GPUs
    gpus: int
    #: nodes they are on
    nodes: int
    #: null: one for each GPU
    processes_per_node: Optional[int]
    #: whether times are of one call by itself, not of the loop of nccl-tests
    single: bool
    #: with its version
    library: str
    #: how it was simulated
    fidelity: str
    #: one for each message size
    points: List[CollectivePoint]
    #: what the user should know, in sentences
    warnings: List[str]
    #: the one answer, as every output says it
    answer: Answer
