// Horovod's background thread in the graph: its cycles, what it launches on its stream, and the main thread's
// wait for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/strategy/horovod/horovod_fusion.hpp"
#include "sim/strategy/horovod/horovod_settings.hpp"
#include "sim/strategy/horovod/horovod_sparse.hpp"
#include "sim/strategy/process/process.hpp"

namespace foretrain {

// The clock of Horovod's background thread: which gradients fall into which cycle, and when each cycle
// begins.

/// A gradient on the timeline of one step. Times count from one moment of the step, the same for all.
struct Arrival {
  FusionTensor tensor;
  Time enqueued{};  ///< the framework has handed it to Horovod
  Time ready{};     ///< its kernel has ended
};

/// A cycle that finds gradients in the queue.
struct Cycle {
  Time start{};
  Time negotiation{};
  std::vector<FusedMessage> messages;
};

/// The times that decide the background thread's cycles: when it wakes, how much it fuses, and how long
/// negotiation and launches keep it.
struct CycleRules {
  Time cycle_time{};  ///< from start to start, unless a cycle's own work takes longer
  Bytes threshold{};
  bool padded = true;
  /// The thread waits until a message's gradients have been computed before it launches anything.
  bool waits_for_data = false;
  std::function<Time(std::size_t)> negotiation;     ///< of so many tensors
  std::function<Time(const FusedMessage&)> launch;  ///< how long a message keeps the thread
};

/// The cycles of a step when the first one begins at `first`. Requires arrivals in the order of `enqueued`.
std::vector<Cycle> run_cycles(std::span<const Arrival> arrivals, const CycleRules& rules, Time first);

/// The clock runs freely, so a step meets it in any phase. These are the cycles of the phase, out of 32
/// evenly spaced ones, whose last launch is nearest to the mean over all: the last gradient waits about half
/// a cycle.
std::vector<Cycle> typical_cycles(std::span<const Arrival> arrivals, const CycleRules& rules);

// How Horovod's background thread reduces one message: one NCCL call, or two levels of the machine.

/// Sums gradients the way Horovod does: hooks put tensors into a queue, the background thread negotiates and
/// fuses them, NCCL sums the fusion buffer. One object for each simulated process; it must outlive the step.
class HorovodReduction {
 public:
  /// `thread`: the background thread.
  HorovodReduction(Process& process, const HorovodSettings& settings, const HostThread& thread);

  /// Launches it on the NCCL stream behind `after`; returns its last task there.
  TaskId reduce(Bytes size, LabelId label, std::span<const TaskId> after);
  /// How long the thread is kept once the data are there; on an idle machine.
  Time held(Bytes size) const;
  /// Whether the thread waits for the GPU, so that it needs the data before it can go on.
  bool blocks() const { return settings_.levels == HorovodLevels::hierarchical; }

 private:
  TaskId over_cpus(Bytes size, std::span<const TaskId> after);
  TaskId on_torus(Bytes size, LabelId label, std::span<const TaskId> after);
  TaskId all_reduce_between_nodes(Bytes share);
  TaskId copy_by_host(const Route& route, Bytes share, LabelId label);
  Route between_gpu_and_host() const;
  Time latency_between_nodes(Bytes share) const;
  double sent_per_byte() const;

  Process& process_;
  const HorovodSettings& settings_;
  HostThread thread_;
  int nodes_;
  PatternId between_nodes_ = kNone;
  ByteRate slowest_between_nodes_{};
  Time message_latency_{};
  LabelId scatter_label_, gather_label_, copy_label_, mpi_label_;
};

// How Horovod brings sparse gradients together: every rank gets the rows of all ranks, by NCCL or, before
// 0.20, by MPI in host memory.

/// The exchange of sparse gradients (embedding tables) by all-gather of rows and indices.
class HorovodGathering {
 public:
  /// `thread`: the background thread.
  HorovodGathering(Process& process, const HorovodSettings& settings, const HostThread& thread);

  bool is_sparse(std::uint32_t parameter) const { return gradients_[parameter].has_value(); }
  /// Rows of all ranks, with their indices.
  Bytes gathered(std::uint32_t parameter) const;
  /// MPI: the gradient is handed over only when TensorFlow has copied it into host memory; how long after its
  /// kernel.
  Time hand_over_delay(std::uint32_t parameter) const;
  /// Behind the kernel `ready`; returns the task at whose end the rows of all ranks are on the GPU.
  TaskId gather(std::uint32_t parameter, TaskId ready);
  /// How long the thread is kept.
  Time held(std::uint32_t parameter) const;
  /// The other ranks' rows are added to the table's gradient, on the compute stream; backward has done that
  /// with the rank's own.
  void add_rows(const HostThread& thread, std::uint32_t parameter);

 private:
  enum class CopyTo { host, gpu };
  struct Sending {
    QueueId queue;
    Time first;  ///< before the flows start
    PatternId pattern;
    Bytes traffic;
    LabelId label;
  };
  TaskId send(const Sending& what, TaskId after, Time wake);
  std::vector<PatternFlow> copies_of_the_node(CopyTo to) const;
  TaskId over_hosts(Bytes own, TaskId ready);
  Time alone(Bytes own) const;
  Time outside_links(Bytes own) const;
  Route route_of(const GpuPlace& place, CopyTo to) const;

  Process& process_;
  const HorovodSettings& settings_;
  const std::vector<std::optional<SparseGradient>> gradients_;
  const int ranks_;
  HostThread thread_;
  QueueId to_host_ = kNone, to_gpu_ = kNone;
  PatternId ring_ = kNone, to_host_pattern_ = kNone, to_gpu_pattern_ = kNone;
  ByteRate copy_rate_{}, slowest_link_{};
  Time message_latency_{};
  LabelId values_label_, indices_label_, copy_label_, mpi_label_, add_label_;
};

// What the framework does for Horovod in a backward pass: it hands over each gradient, compressed if asked
// for.

/// A gradient in the queue of the background thread.
struct Enqueued {
  std::uint32_t parameter;
  TaskId call;   ///< host task at whose end it is in the queue
  TaskId ready;  ///< kernel at whose end its data are there
};

/// PyTorch: a Python hook per gradient. TensorFlow: an operator of the graph, which runs when the executor
/// has launched the gradient's kernel; in XLA, and behind an eager tape, all gradients come out together
/// behind backward's last kernel.
class GradientQueue {
 public:
  GradientQueue(Process& process, const HorovodSettings& settings);
  /// A backward pass whose gradients are only added up.
  void count_down();
  void on_gradient(std::uint32_t parameter);
  void end_backward();
  /// What was handed over since the last call, in that order.
  std::vector<Enqueued> take() { return std::exchange(enqueued_, {}); }

 private:
  void enqueue(const HostThread& thread, std::uint32_t parameter, TaskId ready);
  Time call_cost() const;

  Process& process_;
  const HorovodSettings& settings_;
  const std::vector<std::optional<SparseGradient>> sparse_;  ///< never compressed
  const Framework& framework_;
  bool is_tape_;
  LabelId compress_label_, hook_label_;
  std::vector<std::uint32_t> held_back_;
  std::vector<Enqueued> enqueued_;
};

/// The tasks that Horovod's background thread adds to a step's graph: cycles with negotiation and launches,
/// and the wait of optimizer.step() for all reductions.
class HorovodThread {
 public:
  HorovodThread(Process& process, const HorovodSettings& settings);

  const HorovodGathering& gathering() const { return gathering_; }
  /// Durations of what the thread does, for the clock. Refers to this object.
  CycleRules rules() const;
  /// One step's cycles, each `Cycle::start` after the end of `origin`, on the gradients that were handed
  /// over.
  void add_cycles(const std::vector<Cycle>& cycles, TaskId origin, const std::vector<Enqueued>& gradients);
  /// optimizer.step(): the main thread waits until every reduction has ended on the GPU, then takes the
  /// gradients back.
  void synchronize();

 private:
  struct Done {
    TaskId last;
    std::vector<std::uint32_t> parameters;
  };
  void perform(const FusedMessage& message, LabelId label);
  TaskId reduce(const FusedMessage& message, LabelId label, TaskId ready);
  bool is_sparse(const FusedMessage& message) const {
    return gathering_.is_sparse(message.parameters.front());
  }
  TaskId copy(const FusedMessage& message, LabelId label, std::span<const TaskId> after);
  void take_back(const Done& done);
  Time launch_time(const FusedMessage& message) const;
  std::size_t copies_of(const FusedMessage& message) const;

  Process& process_;
  const HorovodSettings& settings_;
  const Negotiation negotiation_;
  HostThread thread_;
  HorovodReduction reduction_;
  HorovodGathering gathering_;
  std::vector<Enqueued> handed_over_;  ///< by parameter
  std::vector<Done> done_;
  LabelId cycle_label_, launch_label_, in_label_, out_label_, take_back_label_, decompress_label_;
};

}  // namespace foretrain
