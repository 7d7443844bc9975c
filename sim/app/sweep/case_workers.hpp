// The cases of a sweep dealt out to worker processes, and their rows brought to one place. A case that
// crashes ends its worker and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/report/sweep/sweep_database.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// Cases that differ in nothing but their number of GPUs.
struct GroupRows {
  std::vector<std::int64_t> numbers;
  std::vector<std::vector<Value>> values;
  std::vector<CaseRow> rows;
};

/// Predicts one scenario on each of some numbers of GPUs, in a worker process.
using GroupPredictor =
    std::function<std::vector<CaseResult>(const std::vector<StudySetting>&, const std::vector<int>& gpus)>;

/// The worker processes of a sweep: how many there are, and what each is given.
struct CaseWorkers {
  Shard shard{};
  int workers = 1;
  std::vector<std::int64_t> done{};  ///< numbers of cases that are left out, ascending
  std::uint64_t most_bytes = 0;      ///< memory that a worker may take; 0: as much as the system gives
  /// Called in the calling process, in no order of the cases.
  std::function<void(const GroupRows&)> take;
  /// Called now and then between results, in the calling process; true: no further cases.
  std::function<bool()> stops;
  /// Called once in each worker. Empty: a CasePredictor of the scenario.
  std::function<GroupPredictor()> predictor{};
};

/// Returns when every case of the shard has been taken, or when stops() has returned true and the cases that
/// were begun have been taken. A case that ends its worker (by a signal, or because it runs out of memory) is
/// tried once more by itself; when it ends that worker too, its row has a message that says so, and the sweep
/// goes on. An exception of a case is such a message, too. Throws EnvironmentError where the system fails.
/// The calling process must have one thread, since workers are forked from it.
void predict_cases(const SweptScenario& scenario, SweepCases& cases, const CaseWorkers& how);

}  // namespace foretrain
