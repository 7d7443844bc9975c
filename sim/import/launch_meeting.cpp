// Decides whether what a launcher starts on several nodes becomes one training, by the rules of the command
// lines of torchrun, accelerate, DeepSpeed and Lightning.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

using Options = std::vector<LauncherOption>;

/// Says whether a number of nodes means a single one.
bool says_one_node(std::string_view count) { return count == "1" || count == "1:1"; }

/// Returns the reason why torchrun stays alone (torch/distributed/run.py). --standalone makes a store of its
/// own, --nnodes is 1:1 by default, and the rendezvous is on localhost unless an address is given.
/// Each option has a variable PET_…, which counts if the option is missing.
std::optional<std::string> why_torchrun_is_alone(const Options& options, const ShellValues& values) {
  if (find_option(options, {"--standalone"}) != nullptr) return "torchrun --standalone";
  // The options go before the variables, which go before torchrun's defaults.
  const LauncherOption* nodes = find_option(options, {"--nnodes"});
  const std::string count = nodes != nullptr ? nodes->value : values.find("PET_NNODES").value_or("1");
  if (says_one_node(count)) return nodes == nullptr ? "torchrun without --nnodes" : "torchrun --nnodes=1";
  const bool has_address = find_option(options, {"--rdzv-endpoint", "--master-addr"}) != nullptr ||
                           values.find("PET_RDZV_ENDPOINT") || values.find("PET_MASTER_ADDR");
  return has_address ? std::nullopt
                     : std::optional<std::string>("torchrun without --rdzv_endpoint or --master_addr");
}

/// Returns the reason why accelerate or Lightning stays alone: both start the processes of one machine unless
/// they are given a number of machines.
std::optional<std::string> why_few_machines(const Options& options, std::string_view launcher,
                                            std::string_view option) {
  const LauncherOption* machines = find_option(options, {option});
  if (machines != nullptr && !says_one_node(machines->value)) return std::nullopt;
  return fmt::format("{} {}{}{}", launcher, machines == nullptr ? "without " : "", option,
                     machines == nullptr ? "" : "=1");
}

/// Returns the reason for each launcher; no value if the starts meet or if it is unknown. A configuration
/// file of accelerate may state more machines.
std::optional<std::string> why_alone(StartedBy starter, const Options& options, const ShellValues& values) {
  switch (starter) {
    case StartedBy::torchrun:
      return why_torchrun_is_alone(options, values);
    case StartedBy::accelerate:
      return find_option(options, {"--config-file"}) != nullptr
                 ? std::nullopt
                 : why_few_machines(options, "accelerate launch", "--num-machines");
    case StartedBy::lightning:
      return why_few_machines(options, "fabric run", "--num-nodes");
    case StartedBy::deepspeed:
      return find_option(options, {"--hostfile", "-H", "--launcher", "--no-ssh"}) != nullptr
                 ? std::nullopt
                 : std::optional<std::string>("deepspeed without a host file");
    default:
      return std::nullopt;
  }
}

}  // namespace

void LaunchReader::set_standalone(const Words& words, std::size_t first, std::size_t end,
                                  const Options& options, JobLaunch& launch) const {
  // An outer starter, such as mpirun inside of srun, may have given a reason already.
  if (launch.alone) return;
  for (std::size_t i = first; i < std::min(end, words.size()); ++i) {
    const bool is_value =
        std::ranges::any_of(options, [&](const LauncherOption& option) { return option.word == &words[i]; });
    // A variable may hold any option, so nothing is known.
    if (!words[i].known && !is_value) return;
  }
  if (auto why = why_alone(launch.started_by->value, options, values_))
    launch.alone = {std::move(*why), launch.started_by->span};
}

}  // namespace foretrain
