// Answers about job scripts without a prediction, in the order of VerdictKind and in the words of a
// prediction's answer.
#include "sim/analysis/answer/job_answer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_words.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/spoken.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

/// The first mistake by line is the one that a user meets first.
Answer would_not_start(const std::vector<Diagnostic>& refused) {
  Answer answer;
  answer.kind = VerdictKind::would_not_start;
  const Diagnostic& first =
      *std::ranges::min_element(refused, {}, [](const Diagnostic& row) { return row.span.line; });
  answer.verdict = fmt::format("The job would not start: {}.", first.message);
  if (refused.size() > 1)
    answer.verdict +=
        fmt::format(" It has {}.", counted(static_cast<std::int64_t>(refused.size() - 1), "more mistake"));
  answer.action = first.hint.empty() ? "Mend the lines that are marked as errors."
                                     : fmt::format("{}.", capitalized(first.hint));
  answer.quantity = "step";
  return answer;
}

/// Idle GPUs need no prediction to be found, so they are reported before the missing facts.
Answer answer_without_prediction(const Scenario* scenario, const std::string& missing) {
  Answer answer;
  answer.kind = VerdictKind::cannot_say;
  answer.quantity = "step";
  answer.verdict = fmt::format("Cannot say how long: {}.", missing);
  answer.action = "Give what is missing, and the answer is that of foretrain predict.";
  if (scenario == nullptr) return answer;
  answer.gpus = scenario->gpus.back();
  answer.counts = scenario->gpus;
  answer.question = fmt::format("a job on {}, on {}", scenario->cluster.name, counted_list(answer.counts));
  const int working = working_gpu_count(*scenario, answer.gpus);
  if (working == answer.gpus) return answer;
  answer.kind = VerdictKind::idle_gpus;
  answer.verdict = idle_words(working, answer.gpus);
  answer.cause = idle_cause(working, answer.gpus);
  answer.action = idle_action(answer.gpus, reserved_gpus(*scenario, answer.gpus).nodes);
  return answer;
}

}  // namespace foretrain
