// What a sweep and its workers tell each other, as bytes: requests for cases, and answers with their rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/sweep/sweep_database.hpp"

namespace foretrain {

/// Cases that differ in their number of GPUs alone.
struct CaseRequest {
  std::int64_t first = 0;  ///< number of the first case
  std::vector<int> gpus;   ///< of each
};
std::string request_message(std::int64_t first, const std::vector<int>& gpus);
CaseRequest read_request(std::string_view message);

/// What a worker process returns for one case: a row, or the reason why there is none.
struct WorkerAnswer {
  /// ready: the worker has begun. rows: of a request. failure: an exception of a case. environment: the
  /// system failed.
  enum class Kind : std::uint8_t { ready, rows, failure, environment };
  Kind kind = Kind::ready;
  std::vector<CaseRow> rows{};
  std::string text{};  ///< of a failure or an environment error
};
std::string ready_message();
std::string rows_message(const std::vector<CaseRow>& rows);
std::string failure_message(std::string_view text);
std::string environment_message(std::string_view text);
/// Numbers keep every bit.
WorkerAnswer read_answer(std::string_view message);

}  // namespace foretrain
