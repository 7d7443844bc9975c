// The catalog of strategies: one row per strategy, made by the strategy's own file.
#include "sim/strategy/catalog.hpp"

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/strategy/ddp/ddp.hpp"
#include "sim/strategy/fsdp/fsdp.hpp"
#include "sim/strategy/horovod/horovod.hpp"
#include "sim/strategy/program/program.hpp"
#include "sim/strategy/replicas/data_parallel.hpp"
#include "sim/strategy/replicas/mirrored.hpp"
#include "sim/strategy/servers/byteps.hpp"
#include "sim/strategy/servers/parameter_server.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/zero/zero.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

const std::vector<StrategyEntry>& strategy_catalog() {
  static const std::vector<StrategyEntry> rows{
      single_strategy(),
      data_parallel_strategy(),
      data_parallel_layers_strategy(),
      ddp_strategy(),
      horovod_strategy(),
      mirrored_strategy(),
      multi_worker_mirrored_strategy(),
      parameter_server_strategy(),
      byteps_strategy(),
      zero0_strategy(),
      zero1_strategy(),
      zero2_strategy(),
      zero3_strategy(),
      fsdp_strategy(),
      fsdp2_strategy(),
  };
  return rows;
}

namespace {

/// Returns the row of recorded programs, which no scenario names and the catalog does not list.
const StrategyEntry& program_row() {
  static const StrategyEntry row = program_strategy();
  return row;
}

/// Returns the row with exactly this name or alias; nullptr when there is none.
const StrategyEntry* row_called(std::string_view name) {
  if (name == program_row().name) return &program_row();
  for (const StrategyEntry& row : strategy_catalog()) {
    if (!name.empty() && (row.name == name || row.alias == name)) return &row;
  }
  return nullptr;
}

}  // namespace

// An exact name wins; otherwise a name that differs only in spelling is looked up.
const StrategyEntry* find_strategy(std::string_view name) {
  const StrategyEntry* row = row_called(name);
  return row != nullptr ? row : row_called(spelt_alike(name, names_and_aliases()));
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyEntry& row : strategy_catalog()) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> names_and_aliases() {
  std::vector<std::string> names = strategy_names();
  for (const StrategyEntry& row : strategy_catalog()) {
    if (!row.alias.empty()) names.emplace_back(row.alias);
  }
  return names;
}

const std::vector<Knob>& shared_knobs() {
  static const std::vector<Knob> knobs{
      {"accumulation",
       KnobValue<int>{[](StrategyOptions& options, int steps) { options.accumulation = steps; }}, "4", "1",
       "micro-steps per optimizer step", 1, 4096},
  };
  return knobs;
}

WireType weight_type(const Workload& workload) {
  return has_half_weights(workload) ? WireType::half : WireType::fp32;
}

Knob no_sync_knob() {
  return {"no_sync", KnobValue<bool>{[](StrategyOptions& options, bool value) { options.no_sync = value; }},
          "false", "true",
          "with accumulation, gradients are exchanged in the last micro-step only; false: in every one, as a "
          "loop without no_sync() does"};
}

std::string what_it_needs(const StrategyEntry& strategy, FrameworkKind framework) {
  const FrameworkKind own = strategy.framework.value_or(framework);
  if (own != framework) return fmt::format("the training written for {}", profile_of(own).title);
  return strategy.home == framework ? "" : std::string(strategy.needs);
}

std::string why_not(const StrategyEntry& strategy, const Placement& placement) {
  if (strategy.processes != Processes::one || placement.nodes == 1) return {};
  return fmt::format("{} is one process, which cannot drive GPUs of {} nodes", strategy.name,
                     placement.nodes);
}

}  // namespace foretrain
