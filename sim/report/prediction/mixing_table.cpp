// Writes the ranks that are not alike, the possible choices of nodes, and which choice is the fastest. Steps
// and waits are times of one step; "of" is the memory of a card.
#include <cctype>

#include <fmt/format.h>

#include "sim/analysis/search/mixing.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/prediction/table.hpp"

namespace foretrain {

namespace {

/// Returns the table of ranks. "own step" is a step without slower ranks; "waits" is the time that it waits
/// for them.
std::string ranks_table(const Mixing& mixing) {
  std::string out = fmt::format("\n{:<28} {:>6} {:>5} {:>8} {:>10} {:>10} {:>10} {:>10}\n", "ranks", "GPUs",
                                "nodes", "batch", "own step", "waits", "memory", "of");
  for (const UnlikeShare& ranks : mixing.ranks) {
    out += fmt::format("{:<28} {:>6} {:>5} {:>8} {:>10} {:>10} {:>10} {:>10}{}\n", name_of(ranks), ranks.gpus,
                       ranks.nodes, ranks.batch_per_gpu, to_string(seconds(ranks.own_step_s)),
                       to_string(seconds(ranks.waits_s)), to_string(ranks.memory.total()),
                       to_string(ranks.memory_capacity),
                       ranks.memory.least() <= ranks.memory_capacity ? "" : " !");
  }
  return out;
}

/// Returns the table of choices; "!" marks one that does not fit into memory.
std::string choices_table(const Mixing& mixing) {
  std::string out = fmt::format("\n{:<34} {:>6} {:>5} {:>8} {:>10} {:>11}\n", "nodes of the job", "GPUs",
                                "nodes", "batch", "step", "samples/s");
  for (const MixingChoice& choice : mixing.choices) {
    out += fmt::format("{:<34} {:>6} {:>5} {:>8} {:>10} {:>11}{}\n", choice.what, choice.gpus, choice.nodes,
                       choice.global_batch, to_string(seconds(choice.step_s)),
                       decimal(choice.samples_per_s, 1), choice.fits ? "" : " !");
  }
  return out;
}

}  // namespace

// The verdict is stored without capital and full stop, as it also stands within sentences.
std::string spoken_verdict(const Mixing& mixing) {
  std::string sentence = mixing.verdict;
  if (!sentence.empty())
    sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return sentence + ".";
}

std::string write_mixing(const Mixing& mixing) {
  return fmt::format("\nNot all ranks of {} are alike\n{}{}{}\n", counted(mixing.gpus, "GPU"),
                     ranks_table(mixing), choices_table(mixing), spoken_verdict(mixing));
}

}  // namespace foretrain
