// Results of sweeps for people and programs: how far a database is, its rows, the best of them, what each
// axis does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/sweep/sweep_query.hpp"
#include "sim/scenario/sweep/sweep_cases.hpp"

namespace foretrain {

/// How far a database is.
struct SweepState {
  std::string file, sweep, version;
  Shard shard{};
  std::int64_t done = 0;
  CaseCount all{};
  double rate = 0;  ///< cases a second of its last run; 0: none has finished
  std::int64_t failed = 0;
  std::int64_t crashed = 0;            ///< of these: cases that ended the process that predicted them
  std::vector<std::string> crashes{};  ///< of the first of them: number and message
};

std::string write_states(const std::vector<SweepState>& states);
std::string write_states_json(const std::vector<SweepState>& states);

/// How far a sweep is.
struct StateReport {
  std::string_view name;
  std::string (*write)(const std::vector<SweepState>&);
};
inline constexpr StateReport kStateReports[] = {{"table", write_states}, {"json", write_states_json}};

std::string write_answer(const SweepAnswer& answer);
std::string write_answer_csv(const SweepAnswer& answer);
std::string write_answer_json(const SweepAnswer& answer);

/// A printed answer to a question about a sweep.
struct AnswerReport {
  std::string_view name;
  std::string (*write)(const SweepAnswer&);
};
inline constexpr AnswerReport kAnswerReports[] = {
    {"table", write_answer}, {"csv", write_answer_csv}, {"json", write_answer_json}};

}  // namespace foretrain
