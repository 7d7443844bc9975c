// Expansion of recorded programs. Every run of consecutive rows of one pass is grouped into calls by itself.
// Equal operators are found by a text of all that decides their price: layers repeat, so few differ.
#include "sim/workload/program/expand_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "sim/workload/device/host_time.hpp"
#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/recorded/call_groups.hpp"
#include "sim/workload/recorded/expand_recorded.hpp"

namespace foretrain {
namespace {

/// Returns a text of what decides the price of an operator.
std::string price_key(const Operator& op) {
  const auto length = [](const std::optional<Time>& time) { return time ? to_seconds(*time) : -1; };
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", static_cast<int>(op.cls),
                  static_cast<int>(op.call), op.backward, op.kernels, op.calls, op.flops.at(1),
                  op.bytes.at(1), op.visits.at(1), op.channels, op.keeps_averages, length(op.stated),
                  op.is_roofline, op.half_capable, op.stays_wide, op.narrows_result,
                  static_cast<int>(op.width), op.over_model, length(op.stated_host), op.product_count);
  for (std::uint8_t i = 0; i < op.product_count; ++i) {
    const Product& p = op.products[i];
    key += fmt::format(" {} {} {} {} {} {} {} {} {} {}", p.m, p.n, p.k, p.count, p.serial,
                       static_cast<int>(p.grows), p.window, p.stride, p.bytes.at(1), p.unmasked_share);
  }
  return key;
}

/// Expands the rows of one kind of rank in order. Holds a reference to it.
class RankExpansion {
 public:
  explicit RankExpansion(const ProgramRank& rank) : rank_(rank), network_(rank.network) {
    layer_of_.resize(std::max<std::size_t>(1, network_.module_names.size()));
    std::iota(layer_of_.begin(), layer_of_.end(), 0);
  }

  // A run is a maximal sequence of rows of the same pass.
  ExpandedRank run() && {
    std::size_t at = 0;
    while (at < rank_.rows.size()) {
      std::size_t end = at + 1;
      while (end < rank_.rows.size() && rank_.rows[end].pass == rank_.rows[at].pass) ++end;
      add_run(at, end);
      at = end;
    }
    return std::move(out_);
  }

 private:
  /// Groups the operators of a run, prices lists of the optimizer, and adds the run's events.
  void add_run(std::size_t begin, std::size_t end) {
    // The shell has the tables that all runs share; it is copied for every run and filled with operators.
    RecordedNetwork run = shell_;
    if (run.sizes.empty()) {
      run.operator_names = network_.operator_names;
      run.module_names = network_.module_names;
      run.node_names = network_.node_names;
      run.sizes = network_.sizes;
      shell_ = run;
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (rank_.rows[i].kind == ProgramRow::Kind::op)
        run.operators.push_back(network_.operators[rank_.rows[i].index]);
    }
    GroupedStep step = group_calls(run, layer_of_, RecordedTypes::half_kept);
    if (rank_.rows[begin].pass == ProgramPass::optimizer) price_lists(run, step);
    put(begin, end, step);
  }

  /// Gives optimizer calls on lists of tensors the host costs that networks written layer by layer have.
  void price_lists(const RecordedNetwork& run, GroupedStep& step) const {
    const auto is_list = [&](std::size_t i) {
      const std::string& name = run.operator_names.at(run.operators[step.source_of_forward[i]].name);
      return name.starts_with("aten::_foreach_") || name.starts_with("aten::_fused_");
    };
    std::vector<std::size_t> lists;
    for (std::size_t i = 0; i < step.forward.size(); ++i) {
      if (is_list(i)) lists.push_back(i);
    }
    if (lists.empty()) return;
    // The host time of a whole optimizer step is divided evenly among its calls on lists.
    const auto trained =
        std::ranges::count_if(network_.parameters, [](const RecordedParameter& p) { return !p.frozen; });
    const Time each = packed_step_host(static_cast<std::size_t>(trained), lists.size()) /
                      static_cast<std::int64_t>(lists.size());
    for (const std::size_t i : lists)
      step.forward[i].stated_host = each + HostCalibration{}.launch * std::int64_t{step.forward[i].kernels};
  }

  /// Emits a run's operators, with the other rows at their places: such a row stands behind every operator
  /// that began before it.
  void put(std::size_t begin, std::size_t end, const GroupedStep& step) {
    std::size_t emitted = 0, recorded = 0;
    // Emits grouped operators up to the first whose recorded operator has not been passed yet.
    std::uint32_t stream = 0;
    const auto emit = [&] {
      for (; emitted < step.forward.size() + step.backward.size(); ++emitted) {
        const bool is_forward = emitted < step.forward.size();
        const std::size_t place = is_forward ? emitted : emitted - step.forward.size();
        const auto source = is_forward ? step.source_of_forward[place] : step.source_of_backward[place];
        if (source >= recorded) return;
        add_operator(is_forward ? step.forward[place] : step.backward[place].op, rank_.rows[begin].pass,
                     stream);
      }
    };
    for (std::size_t i = begin; i < end; ++i) {
      const ProgramRow& row = rank_.rows[i];
      const bool is_operator = row.kind == ProgramRow::Kind::op;
      // Operators before another kind of row, or before a change of stream, are emitted first: they stay in
      // front of it and on their own stream.
      if (!is_operator || row.stream != stream) emit();
      if (!is_operator) {
        out_.events.push_back({row, 0});
        continue;
      }
      stream = row.stream;
      ++recorded;
    }
    emit();
  }

  /// Adds an event for an operator. Operators with the same price share one entry.
  void add_operator(const Operator& op, ProgramPass pass, std::uint32_t stream) {
    const auto [known, is_new] =
        known_.try_emplace(price_key(op), static_cast<std::uint32_t>(out_.operators.size()));
    if (is_new) out_.operators.push_back(op);
    ProgramRow row;
    row.kind = ProgramRow::Kind::op;
    row.pass = pass;
    row.index = known->second;
    row.stream = stream;
    out_.events.push_back({row, op.layer});
  }

  const ProgramRank& rank_;
  const RecordedNetwork& network_;
  RecordedNetwork shell_;
  std::vector<std::uint32_t> layer_of_;
  std::map<std::string, std::uint32_t> known_;
  ExpandedRank out_;
};

}  // namespace

ExpandedModel first_micro_step(const Program& program) {
  const ProgramRank& rank = program.ranks.front();
  RecordedNetwork network = rank.network;
  network.operators.clear(), network.storages.clear();
  network.name = program.name;
  network.by = program.by;
  network.batch = std::max<std::int64_t>(1, program.batch / program.micro_steps);
  // The micro-step ends where forward begins again after a backward pass.
  bool was_backward = false;
  for (const ProgramRow& row : rank.rows) {
    if (row.kind != ProgramRow::Kind::op || row.pass == ProgramPass::optimizer) continue;
    if (was_backward && row.pass == ProgramPass::forward) break;
    was_backward = row.pass == ProgramPass::backward;
    network.operators.push_back(rank.network.operators[row.index]);
  }
  return expand_recorded(network);
}

namespace {

Bytes& place_of(ProgramMemory& memory, StorageUse use) {
  switch (use) {
    case StorageUse::parameter:
      return memory.parameters;
    case StorageUse::gradient:
      return memory.gradients;
    case StorageUse::optimizer:
      return memory.optimizer;
    case StorageUse::activation:
    case StorageUse::input:
      return memory.activations;
    case StorageUse::communication:
      return memory.communication;
    case StorageUse::unknown:
    case StorageUse::buffer:
    case StorageUse::temporary:
      break;
  }
  return memory.other;
}

}  // namespace

// The fullest moment is that with most bytes in all accounts together.
ProgramMemory memory_of(const ProgramRank& rank) {
  const RecordedNetwork& network = rank.network;
  const auto bytes = [&](SizeId size) {
    const TensorSize& of = network.sizes[size];
    return static_cast<std::int64_t>(of.elements(1)) * bytes_of(of.type);
  };
  // Storages by the moment that adds them and the moment that takes them away. A storage lives from the row
  // that makes it to the last row that uses it.
  std::vector<std::vector<std::size_t>> made(rank.rows.size() + 1), freed(rank.rows.size() + 1);
  bool has_parameters = false;
  for (std::size_t i = 0; i < network.storages.size(); ++i) {
    const RecordedStorage& storage = network.storages[i];
    made[storage.made].push_back(i);
    if (storage.freed) freed[std::max(*storage.freed, storage.made) + 1].push_back(i);
    has_parameters = has_parameters || storage.use == StorageUse::parameter;
  }
  // Recordings without storages of parameters count the parameters from their list.
  ProgramMemory now, most;
  if (!has_parameters) {
    for (const RecordedParameter& parameter : network.parameters)
      now.parameters += Bytes{bytes(parameter.size)};
  }
  for (const RecordedBuffer& buffer : network.buffers) now.other += Bytes{bytes(buffer.size)};
  for (std::size_t row = 0; row <= rank.rows.size(); ++row) {
    // A freed storage is gone before the row's own storages are made.
    for (const std::size_t i : freed[row])
      place_of(now, network.storages[i].use) -= Bytes{bytes(network.storages[i].size)};
    for (const std::size_t i : made[row])
      place_of(now, network.storages[i].use) += Bytes{bytes(network.storages[i].size)};
    if (now.total().count > most.total().count) most = now;
  }
  return most;
}

ExpandedRank expand_rank(const ProgramRank& rank) { return RankExpansion(rank).run(); }

}  // namespace foretrain
