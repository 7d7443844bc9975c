// Messages between a sweep and its workers as bytes: requests for cases, and answers with their rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/sweep/sweep_database.hpp"

namespace foretrain {

/// Cases that differ only in their number of GPUs.
struct CaseRequest {
  /// Number of the first case.
  std::int64_t first = 0;
  /// Number of GPUs of each case.
  std::vector<int> gpus;
};
/// Encode and decode a request.
std::string request_message(std::int64_t first, const std::vector<int>& gpus);
CaseRequest read_request(std::string_view message);

/// A worker's answer to a request: rows, or the reason why there are none.
struct WorkerAnswer {
  /// ready: the worker has started. rows: the rows of a request. failure: a case threw an exception.
  /// environment: the system failed, so that the sweep must end.
  enum class Kind : std::uint8_t { ready, rows, failure, environment };
  Kind kind = Kind::ready;
  std::vector<CaseRow> rows{};
  /// Message of a failure or an environment error.
  std::string text{};
};
/// Encode the four kinds of answer.
std::string ready_message();
std::string rows_message(const std::vector<CaseRow>& rows);
std::string failure_message(std::string_view text);
std::string environment_message(std::string_view text);
/// Decodes an answer. Numbers keep every bit.
WorkerAnswer read_answer(std::string_view message);

}  // namespace foretrain
