// Reports on sweeps: how far a database is, its rows, the best of them, and the effect of each axis.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/sweep/sweep_query.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// The state of one database.
struct SweepState {
  std::string file, sweep, version;
  /// Part of the sweep that the database holds.
  Shard shard{};
  /// Finished cases.
  std::int64_t done = 0;
  /// Cases of the shard.
  CaseCount all{};
  /// Cases per second of its last run; 0: none has finished.
  double rate = 0;
  /// Finished cases that cannot run.
  std::int64_t failed = 0;
  /// Failed cases that ended the process which predicted them.
  std::int64_t crashed = 0;
  /// Number and message of the first of these.
  std::vector<std::string> crashes{};
};

/// Return the output of `sweep status`; JSON is foretrain.sweep_status/1.
std::string write_states(const std::vector<SweepState>& states);
std::string write_states_json(const std::vector<SweepState>& states);

/// A format of `sweep status`.
struct StateReport {
  std::string_view name;
  std::string (*write)(const std::vector<SweepState>&);
};
inline constexpr StateReport kStateReports[] = {{"table", write_states}, {"json", write_states_json}};

/// Return the output of `sweep show`; JSON is foretrain.sweep_rows/1.
std::string write_answer(const SweepAnswer& answer);
std::string write_answer_csv(const SweepAnswer& answer);
std::string write_answer_json(const SweepAnswer& answer);

/// A format of `sweep show`.
struct AnswerReport {
  std::string_view name;
  std::string (*write)(const SweepAnswer&);
};
inline constexpr AnswerReport kAnswerReports[] = {
    {"table", write_answer}, {"csv", write_answer_csv}, {"json", write_answer_json}};

}  // namespace foretrain
