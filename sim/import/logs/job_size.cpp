// The first line that states a number counts; hints fill in what no line states. Lines are compared in lower
// case.
#include <algorithm>
#include <array>

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Words that a number of GPUs follows; " on " counts only if "gpu" follows the number.
constexpr std::array<std::string_view, 10> kGpuMarks{
    "number of gpus:", "num_gpus=",    "num gpus:", "world size:", "world_size:",
    "world_size=",     "world size =", "--ntasks=", " on ",        "number of devices:"};
/// Words that a number of nodes follows.
constexpr std::array<std::string_view, 7> kNodeMarks{
    "number of nodes:", "num_nodes=", "num_nodes:", "nnodes=", "nnodes ", "--nodes=", "nodes:"};
/// Limit of a stated number.
constexpr std::int64_t kMost = 10'000'000;

/// Returns the number that follows a mark, if it is plausible; 0 otherwise.
int count_in(std::string_view line, std::string_view mark) {
  const auto value = integer_behind(line, mark);
  if (!value || *value < 1 || *value > kMost) return 0;
  if (mark == " on " && !holds(text_behind(line, mark).substr(0, 12), "gpu")) return 0;
  return static_cast<int>(*value);
}

/// Reads the command line of a launcher: "mpirun -np 8 -H a:4,b:4" or "mpirun -n 8 -npernode 4". Fills
/// processes and the nodes that they are on.
void read_launcher(std::string_view line, JobSize& size) {
  if (!holds(line, "mpirun ") && !holds(line, "mpiexec ") && !holds(line, "horovodrun ")) return;
  if (size.gpus == 0) size.gpus = std::max(count_in(line, " -np "), count_in(line, " -n "));
  for (const std::string_view mark : {"-npernode ", "--npernode ", "-ppn "}) {
    const int on_node = count_in(line, mark);
    if (size.nodes == 0 && on_node > 0 && size.gpus % on_node == 0) size.nodes = size.gpus / on_node;
  }
  // The line is in lower case, so "-h" is the list of hosts.
  for (const std::string_view mark : {" -h ", " -host ", " --host "}) {
    const std::vector<std::string_view> hosts = words_of(text_behind(line, mark), 1);
    if (size.nodes == 0 && !hosts.empty())
      size.nodes = 1 + static_cast<int>(std::count(hosts[0].begin(), hosts[0].end(), ','));
  }
}

/// Returns a number of the comments at the top of the log; 0 when they have none.
int fact(std::string_view text, std::string_view key) {
  return static_cast<int>(
      std::clamp<std::int64_t>(integer_of(comment_fact(text, key)).value_or(0), 0, kMost));
}

}  // namespace

JobSize stated_job_size(std::string_view text, const LogHints& hints) {
  JobSize size{std::max(fact(text, "ranks"), fact(text, "gpus")), fact(text, "nodes")};
  LogLine line;
  for (LogLines lines(text); (size.gpus == 0 || size.nodes == 0) && lines.next(line);) {
    // Long lines are dumps of data; searching them for every mark would take too long.
    if (line.text.size() > 2000) continue;
    const std::string lower = lower_case(line.text);
    read_launcher(lower, size);
    for (std::size_t i = 0; i < kGpuMarks.size() && size.gpus == 0; ++i)
      size.gpus = count_in(lower, kGpuMarks[i]);
    for (std::size_t i = 0; i < kNodeMarks.size() && size.nodes == 0; ++i)
      size.nodes = count_in(lower, kNodeMarks[i]);
  }
  if (size.gpus == 0) size.gpus = hints.gpus;
  if (size.nodes == 0) size.nodes = hints.nodes;
  if (size.gpus == 1) size.nodes = 1;
  return size;
}

}  // namespace foretrain
