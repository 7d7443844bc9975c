// Horovod's background thread in the graph: its cycles, the work that it launches on its stream, and the main
// thread's wait for it.
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

/// A gradient on the timeline of one step. All times count from the same moment of the step.
struct Arrival {
  FusionTensor tensor;
  Time enqueued{};  ///< the time at which the framework has handed it to Horovod
  Time ready{};     ///< the time at which its kernel has ended
};

/// A cycle that finds gradients in the queue.
struct Cycle {
  Time start{};
  Time negotiation{};
  std::vector<FusedMessage> messages;
};

/// The times that decide the background thread's cycles: when it wakes, how much it fuses, and how long
/// negotiation and launches occupy it.
struct CycleRules {
  Time cycle_time{};  ///< from start to start, unless a cycle's own work takes longer
  Bytes threshold{};
  bool padded = true;
  /// The thread waits until a message's gradients have been computed before it launches anything.
  bool waits_for_data = false;
  std::function<Time(std::size_t)> negotiation;     ///< time to negotiate a number of tensors
  std::function<Time(const FusedMessage&)> launch;  ///< time for which a message occupies the thread
};

/// Returns the cycles of a step when the first one begins at `first`. Requires arrivals in the order of
/// `enqueued`.
std::vector<Cycle> run_cycles(std::span<const Arrival> arrivals, const CycleRules& rules, Time first);

/// Returns the cycles of a typical phase. The clock runs freely, so a step meets it in any phase. Of 32
/// evenly spaced phases the one is taken whose last launch is nearest to the mean over all: the last gradient
/// waits about half a cycle.
std::vector<Cycle> typical_cycles(std::span<const Arrival> arrivals, const CycleRules& rules);

/// Adds the reduction of one message to the graph: one NCCL call, or two levels of the machine. There is one
/// object for each simulated process; it must outlive the planning of the step.
class HorovodReduction {
 public:
  /// `thread` is the background thread.
  HorovodReduction(Process& process, const HorovodSettings& settings, const HostThread& thread);

  /// Launches a message on the NCCL stream behind `after`; returns its last task there.
  TaskId reduce(Bytes size, LabelId label, std::span<const TaskId> after);
  /// Returns how long the thread is occupied once the data are there, on an idle machine.
  Time held(Bytes size) const;
  /// True where the thread waits for the GPU, so that it needs the data before it can go on.
  bool blocks() const { return settings_.levels == HorovodLevels::hierarchical; }

 private:
  /// Adds a reduction of two levels, over CPUs or on the stream.
  TaskId over_cpus(Bytes size, std::span<const TaskId> after);
  TaskId on_torus(Bytes size, LabelId label, std::span<const TaskId> after);
  /// Adds MPI's ring between the CPUs of nodes, and a copy between GPU and host on the thread.
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

/// Adds the exchange of sparse gradients (embedding tables): every rank gets the rows and indices of all
/// ranks, by NCCL or, before 0.20, by MPI in host memory.
class HorovodGathering {
 public:
  /// `thread` is the background thread.
  HorovodGathering(Process& process, const HorovodSettings& settings, const HostThread& thread);

  bool is_sparse(std::uint32_t parameter) const { return gradients_[parameter].has_value(); }
  /// Returns the bytes of the rows of all ranks, with their indices.
  Bytes gathered(std::uint32_t parameter) const;
  /// Returns the delay between a gradient's kernel and its hand-over. With MPI a gradient is handed over only
  /// when TensorFlow has copied it into host memory; otherwise the delay is 0.
  Time hand_over_delay(std::uint32_t parameter) const;
  /// Gathers rows behind the kernel `ready`; returns the task at whose end the rows of all ranks are on the
  /// GPU.
  TaskId gather(std::uint32_t parameter, TaskId ready);
  /// Returns how long the thread is occupied.
  Time held(std::uint32_t parameter) const;
  /// Adds the other ranks' rows to the table's gradient, on the compute stream. Backward has added the rank's
  /// own.
  void add_rows(const HostThread& thread, std::uint32_t parameter);

 private:
  enum class CopyTo { host, gpu };
  /// A copy or ring over host memory, as a task of the graph.
  struct Sending {
    QueueId queue;
    Time first;  ///< before the flows start
    PatternId pattern;
    Bytes traffic;
    LabelId label;
  };
  TaskId send(const Sending& what, TaskId after, Time wake);
  std::vector<PatternFlow> copies_of_the_node(CopyTo to) const;
  /// Adds a gather over host memory.
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

/// A gradient in the queue of the background thread.
struct Enqueued {
  std::uint32_t parameter;
  TaskId call;   ///< host task at whose end it is in the queue
  TaskId ready;  ///< kernel at whose end its data are there
};

/// The framework's side of a backward pass: it hands over each gradient, compressed if the options say so.
/// PyTorch has a Python hook per gradient. TensorFlow has an operator of the graph, which runs when the
/// executor has launched the gradient's kernel. In XLA, and behind an eager tape, all gradients appear
/// together behind backward's last kernel.
class GradientQueue {
 public:
  GradientQueue(Process& process, const HorovodSettings& settings);
  /// Counts a gradient of a backward pass whose gradients are only added up.
  void count_down();
  /// Hands over a gradient whose kernel was launched last, or holds it back until end_backward().
  void on_gradient(std::uint32_t parameter);
  void end_backward();
  /// Returns the gradients handed over since the last call, in that order.
  std::vector<Enqueued> take() { return std::exchange(enqueued_, {}); }

 private:
  /// Hands one gradient over, compressed if the options say so.
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

/// Adds the background thread's tasks to a step's graph: cycles with negotiation and launches, and the wait
/// of optimizer.step() for all reductions.
class HorovodThread {
 public:
  HorovodThread(Process& process, const HorovodSettings& settings);

  const HorovodGathering& gathering() const { return gathering_; }
  /// Returns the durations of the thread's work, for its clock. The result refers to this object.
  CycleRules rules() const;
  /// Adds the cycles of one step on the gradients that were handed over. Each `Cycle::start` counts from the
  /// end of `origin`.
  void add_cycles(const std::vector<Cycle>& cycles, TaskId origin, const std::vector<Enqueued>& gradients);
  /// Adds optimizer.step(): the main thread waits until every reduction has ended on the GPU, then takes the
  /// gradients back.
  void synchronize();

 private:
  /// A message that was launched, with the task at whose end its sums are on the GPU.
  struct Done {
    TaskId last;
    std::vector<std::uint32_t> parameters;
  };
  /// Adds the thread's work for one message.
  void perform(const FusedMessage& message, LabelId label);
  /// Adds copy in, reduction and copy out of one message.
  TaskId reduce(const FusedMessage& message, LabelId label, TaskId ready);
  bool is_sparse(const FusedMessage& message) const {
    return gathering_.is_sparse(message.parameters.front());
  }
  /// Adds the copies of a message into or out of the fusion buffer.
  TaskId copy(const FusedMessage& message, LabelId label, std::span<const TaskId> after);
  /// Adds the main thread's work for one reduced message.
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
