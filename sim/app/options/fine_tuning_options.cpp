// Options of fine-tuning. Each becomes one or more settings of the scenario, and a mistake in a setting is
// reported with the option that the user typed.
#include "sim/app/options/fine_tuning_options.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/scenario/gpu_servers.hpp"

namespace foretrain {

namespace {

/// Adds a setting, and remembers the typed option as its origin.
void put_setting(ScenarioOverrides& overrides, std::string setting, std::string_view typed) {
  overrides.origins[setting] = {std::string(typed)};
  overrides.settings.push_back(std::move(setting));
}

/// Splits the text at each mark. Empty parts are kept, so that lora::q_proj has the usual rank.
std::vector<std::string> split(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(mark, at);
    parts.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

/// Adds the settings of "lora", "lora:16" or "lora:16:q_proj,v_proj": kind, rank and targets. Throws
/// InputError when there are more parts.
void put_adapters(ScenarioOverrides& overrides, const std::string& value) {
  const std::string typed = fmt::format("--adapters {}", value);
  const std::vector<std::string> parts = split(value, ':');
  if (parts.size() > 3)
    throw InputError(
        fmt::format("--adapters: \"{}\" has more than a kind, a rank and targets", value.substr(0, 60)),
        "as in --adapters lora:16:q_proj,v_proj");
  put_setting(overrides, fmt::format("model.adapters.kind={}", quoted_text(parts[0])), typed);
  if (parts.size() > 1 && !parts[1].empty())
    put_setting(overrides, fmt::format("model.adapters.rank={}", parts[1]), typed);
  if (parts.size() < 3) return;
  std::string list;
  for (const std::string& name : split(parts[2], ',')) list += (list.empty() ? "" : ", ") + quoted_text(name);
  put_setting(overrides, fmt::format("model.adapters.targets=[{}]", list), typed);
}

}  // namespace

// Values are checked by the reader of scenarios, so they have the same limits as the keys.
void add_fine_tuning(CLI::App& command, ScenarioOverrides& overrides) {
  command
      .add_option_function<std::string>(
          "--adapters", [&overrides](const std::string& value) { put_adapters(overrides, value); },
          "Train adapters beside frozen weights: a kind, a rank, and which linear layers have one, as in "
          "lora:16 or "
          "lora:8:all-linear")
      ->type_name("KIND[:RANK[:TARGETS]]");
  command
      .add_option_function<std::string>(
          "--weights",
          [&overrides](const std::string& value) {
            put_setting(overrides, fmt::format("model.weights={}", quoted_text(value)),
                        fmt::format("--weights {}", value));
          },
          "bf16|fp16|int8|nf4|…, how weights are stored, as model.weights")
      ->type_name("VALUE");
  command
      .add_option_function<std::string>(
          "--sequence",
          [&overrides](const std::string& value) {
            put_setting(overrides, fmt::format("model.sequence_length={}", value),
                        fmt::format("--sequence {}", value));
          },
          "Tokens of a sample, as model.sequence_length")
      ->type_name("N");
}

// The option excludes --cluster, since both name the machine.
void add_gpu(CLI::App& command, ScenarioOverrides& overrides) {
  command
      .add_option_function<std::string>(
          "--gpu",
          [&overrides](const std::string& name) {
            // A server with this GPU is a cluster that the catalog makes on demand.
            overrides.cluster = std::string(kGpuServer) + gpu_named(name);
          },
          "A GPU instead of a cluster: one machine with GPUs of this name and the links that such machines "
          "usually "
          "have")
      ->type_name("NAME")
      ->excludes("--cluster");
}

}  // namespace foretrain
