// The interface of a strategy: a function from workload, cluster, placement and options to the tasks of a few
// training steps. The options of all strategies are kept here, each under its own type.
#pragma once

#include <any>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/decisions.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/settings.hpp"
#include "sim/engine/task_graph.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The options of a job, for all strategies. Every strategy (or family of them) has an options type: a struct
/// whose initializers are the framework's own defaults. A member is empty where its default depends on the
/// framework's version or on the job. The type stands with the strategy; nothing here, and no other strategy,
/// knows it.
class StrategyOptions {
 public:
  int accumulation = 1;  ///< micro-steps per optimizer step, whatever the strategy
  /// DDP and FSDP exchange gradients in the last micro-step only. With false they do so in every one, as
  /// without no_sync().
  bool no_sync = true;
  /// True where ranks exchange gradients in micro-step `micro`, counted from 0.
  bool exchanges_in(int micro) const { return !no_sync || micro + 1 == accumulation; }

  /// Returns the options of one type, or their defaults while edit() was not called for them. The reference
  /// stays valid as long as this object; a reference to the defaults does not change with a later edit().
  template <typename Options>
  const Options& get() const {
    static const Options kDefaults{};
    const auto found = held_.find(typeid(Options));
    return found == held_.end() ? kDefaults : *std::any_cast<Options>(&found->second);
  }
  /// Returns the options of one type for changes, made with their defaults on first use.
  template <typename Options>
  Options& edit() {
    const auto held = held_.try_emplace(typeid(Options), Options{}).first;
    return *std::any_cast<Options>(&held->second);
  }

 private:
  std::map<std::type_index, std::any> held_;  ///< under a type only values of this type
};

/// An option that takes one value, with the function that stores it.
template <typename Value>
struct KnobValue {
  void (*put)(StrategyOptions&, Value);
};

/// An option that takes one of several names, with the function that stores the i-th one.
struct KnobChoice {
  std::vector<std::string_view> names;
  void (*take)(StrategyOptions&, std::size_t);
};

/// An option as a scenario file may set it, with the texts of its reference page.
struct Knob {
  std::string_view name;  ///< key in [strategy]
  std::variant<KnobValue<Bytes>, KnobValue<Time>, KnobValue<int>, KnobValue<std::int64_t>, KnobValue<double>,
               KnobValue<bool>, KnobValue<FrameworkVersion>, KnobChoice>
      value;
  std::string_view example;   ///< a value, as TOML
  std::string_view fallback;  ///< value when the key is missing, in words
  std::string_view meaning;
  double least = 0, most = std::numeric_limits<double>::max();  ///< range of a number (bytes, seconds)
};

/// The types behind a pointer to a member: the options that it belongs to, and the value that it takes (of an
/// optional: the value that it holds).
template <typename Member>
struct OptionMember;
template <typename T, typename O>
struct OptionMember<T O::*> {
  using Options = O;
  using Value = T;
};
template <typename T, typename O>
struct OptionMember<std::optional<T> O::*> {
  using Options = O;
  using Value = T;
};

/// Returns the option behind a member of an options type, as in option<&DdpOptions::bucket_cap>().
template <auto Member>
auto option() {
  using Of = OptionMember<decltype(Member)>;
  return KnobValue<typename Of::Value>{[](StrategyOptions& options, typename Of::Value value) {
    options.edit<typename Of::Options>().*Member = value;
  }};
}

/// Returns a choice between the values 0, 1, … of the enum (or optional enum) behind `Member`.
template <auto Member>
KnobChoice choice_of(std::vector<std::string_view> names) {
  using Of = OptionMember<decltype(Member)>;
  return {std::move(names), [](StrategyOptions& options, std::size_t i) {
            options.edit<typename Of::Options>().*Member = static_cast<typename Of::Value>(i);
          }};
}

/// Returns StrategyOptions::no_sync as an option, for the strategies that have it.
Knob no_sync_knob();  // catalog.cpp

/// The account that GPU time is charged to; the keys of the breakdown.
enum class Account : std::uint8_t { compute, exposed_communication, input_stall, host, optimizer, other };
inline constexpr std::size_t kAccountCount = 6;

/// The type of a message's elements. half: 16 bits, in the type of the job's precision.
enum class WireType : std::uint8_t { unsaid, fp32, half, fp64, int32, int64, uint8, bf16, fp16 };
/// Returns the type of weights and gradients of a replica that holds the whole network.
WireType weight_type(const Workload& workload);  // catalog.cpp

/// The part of a step that issues a message.
enum class StepPass : std::uint8_t { forward, backward, optimizer };

/// The models of one GPU and its host that a plan is priced with.
struct DeviceModel {
  KernelCalibration kernel;
  HostCalibration host;
  /// Factor on the time of a batch in the input pipeline, from a calibration.
  double input_time_scale = 1;
  double communication_time_scale = 1;  ///< factor on latencies and bytes of everything between GPUs
  /// Factors on all tasks that are charged to an account.
  std::array<double, kAccountCount> account_time_scale{1, 1, 1, 1, 1, 1};
  double scale_of(Account account) const { return account_time_scale[static_cast<std::size_t>(account)]; }
  double rank_spread = 0.01;    ///< standard deviation of step time between ranks (docs/models/step.md)
  double busy_node = 0;         ///< slowdown of kernels when all GPUs of a node work
  double busy_host = 0;         ///< slowdown of host calls in that case
  double collective_share = 1;  ///< share of a GPU that collectives take, over the formula's
};

struct PlanReuse;  // plan_reuse.hpp

/// The input of a strategy: workload, machine, placement, options and costs of calls. References must outlive
/// the plan. No time of any task is known here.
struct PlanRequest {
  const Workload& workload;
  const Cluster& cluster;
  const Placement& placement;
  const StrategyOptions& knobs;
  const DeviceModel& device;
  int steps = 3;
  CollectiveSettings collective{};
  /// Results kept for this workload, whatever its batch, and this cluster; nullptr: everything is computed
  /// anew.
  PlanReuse* reuse = nullptr;
  CallCosts calls{};
  /// The ranks in their order, where `placement` is rotated so that the representative comes first. It is set
  /// where ranks that are not alike have a representative each; nullptr: `placement` is that order.
  const Placement* job = nullptr;

  /// Returns the node of the representative.
  const NodeSpec& own_node() const { return cluster.node_spec(placement.ranks.front().node); }
  /// Returns the strategy's options, or their defaults. Call it once per plan, not per task.
  template <typename Options>
  const Options& options() const {
    return knobs.get<Options>();
  }
};

/// The tasks of `steps` optimizer steps on the representative (slowest) rank, with the traffic of all ranks
/// in its collectives.
struct Plan {
  TaskGraph graph;
  std::vector<TaskId> step_ends;  ///< last task of each step on the GPU
  /// Messages that carry the gradients of a step, in launch order; empty for one GPU.
  std::vector<Bytes> buckets;
  StrategyMemory memory;  ///< memory of the GPU that holds most
  Decisions decisions;
};

using PlanFunction = Plan (*)(const PlanRequest&);

/// The processes of a strategy: one per GPU; one per node, which drives all its GPUs; or one for the whole
/// job, which must then fit into one node.
enum class Processes : std::uint8_t { per_gpu, per_node, one };

/// The launcher of one process per GPU, unless the job names another.
enum class Starter : std::uint8_t { torchrun, horovodrun, deepspeed };

/// A row of the catalog: one per strategy, made by the file of the same name.
struct StrategyEntry {
  std::string_view name;
  std::string_view summary;
  PlanFunction plan;
  Processes processes = Processes::per_gpu;
  bool one_gpu = false;  ///< the plain loop, which no launcher spreads over several
  Starter starter = Starter::torchrun;
  std::optional<FrameworkKind> framework{};  ///< the framework that it belongs to; none: any
  /// Requirements besides a script of its framework, as in "servers beside the job"; empty: none.
  std::string_view needs{};
  std::optional<FrameworkKind> home{};  ///< the framework in which it needs nothing, as a part of it
  std::vector<Knob> knobs{};            ///< options besides those that every strategy has
  std::string_view alias{};             ///< another name people use
};

}  // namespace foretrain
