// The command `record`. Every word behind it belongs to the recorder, and behind `--` to the user's command
// line.
#include "sim/app/options/record_options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/cluster_text.hpp"

namespace foretrain {

// The command has no options here: it exists for help and completion.
void add_record(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "record", "What your own distributed program does in a step, without a GPU: for predict --program");
  command->prefix_command();
  command->footer(
      "Runs `python3 -m foretrain record` (FORETRAIN_PYTHON names another Python), which needs PyTorch 2.4 "
      "or "
      "newer. The program runs unchanged as one pretend rank; nothing is sent, and nothing is written but "
      "the "
      "program file.\n\nExamples:\n  foretrain record -o step.toml -- torchrun --nnodes 4 --nproc-per-node 8 "
      "train.py\n  foretrain predict --program step.toml --cluster puhti");
}

// This is checked before the parse, because CLI11 would interpret words of the user's command.
bool run_record_line(std::span<const std::string> words) {
  // Words of the recorder that foretrain's own help answers; "" stands for no word at all.
  constexpr std::array<std::string_view, 4> kHelp{"-h", "--help", "--help-all", ""};
  if (words.empty() || words[0] != "record") return false;
  if (std::ranges::find(kHelp, words.size() > 1 ? words[1] : std::string()) != kHelp.end()) return false;
  run_record({{words.begin() + 1, words.end()}});
  return true;
}

// A recorded program replaces the model, and its file becomes the key model.program.
void add_recorded_program(CLI::App& command, ScenarioOverrides& overrides) {
  // Several recordings make one setting, so that their order is kept.
  command
      .add_option_function<std::vector<std::string>>(
          "--program",
          [&overrides](const std::vector<std::string>& files) {
            std::vector<std::string> quoted;
            for (const std::string& file : files) quoted.push_back(quoted_text(file));
            const std::string setting = fmt::format("model.program=[{}]", fmt::join(quoted, ", "));
            overrides.settings.push_back(setting);
            overrides.origins[setting] = {fmt::format("--program {}", fmt::join(files, ","))};
          },
          "A program that `foretrain record` recorded, instead of a model; recordings of one program on "
          "several "
          "numbers of ranks tell how it grows")
      ->delimiter(',')
      ->type_name("FILE");
}

}  // namespace foretrain
