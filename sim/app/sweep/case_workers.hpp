// Predicts the cases of a sweep in worker processes and brings their rows to the calling process. A case that
// crashes ends its worker and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/report/sweep/sweep_database.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// Cases that differ only in their number of GPUs. The three lists have one entry for each case.
struct GroupRows {
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<Value>> values;
  std::vector<CaseRow> rows;
};

/// Predicts one scenario on each of the given numbers of GPUs, in a worker process. Returns one result for
/// each.
using GroupPredictor =
    std::function<std::vector<CaseResult>(const std::vector<StudySetting>&, const std::vector<int>& gpus)>;

/// Describes how the cases of a sweep are distributed, and what happens with their rows.
struct CaseWorkers {
  /// Part of the groups that this process predicts.
  Shard shard{};
  /// Number of worker processes.
  int workers = 1;
  /// Numbers of cases that are left out, ascending.
  std::vector<std::int64_t> done{};
  /// Bytes of memory that a worker may take; 0: no limit.
  std::uint64_t most_bytes = 0;
  /// Receives the rows of a group, in the calling process. Groups come in any order.
  std::function<void(const GroupRows&)> take;
  /// Is called now and then between results, in the calling process. Returns true to stop sending cases.
  std::function<bool()> stops;
  /// Makes the predictor, once in each worker. Empty: a CasePredictor of the scenario.
  std::function<GroupPredictor()> predictor{};
};

/// Predicts all cases of the shard. Returns when every case has been taken, or when stops() has returned true
/// and the cases that were begun have been taken. A case that ends its worker (by a signal, or by running out
/// of memory) is tried once more by itself. When it ends that worker too, its row has a message, and the
/// sweep goes on. An exception of a case becomes such a message as well. Throws EnvironmentError when the
/// system fails. Precondition: the calling process has one thread, as workers are forked from it.
void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how);

}  // namespace foretrain
