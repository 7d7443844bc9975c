// The short help of commands with many options. Each option has one line, cut at the end of its first clause,
// so that the whole help has at most kHelpLines lines. --help-all prints everything.
#include "sim/app/pages/short_help.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/pages/command_pages.hpp"

namespace foretrain {

namespace {

using Names = std::string_view[];
// The options that each short help shows, in this order.
constexpr Names kOfPredict{"SCENARIO",    "--gpus",    "--model", "--cluster",  "--batch",     "--epochs",
                           "--precision", "--dataset", "--set",   "--strategy", "--recommend", "--deadline",
                           "--sbatch",    "--format",  "--html",  "--details"};
constexpr Names kOfCompare{"SCENARIO", "--gpus",       "--model",    "--cluster", "--batch",
                           "--set",    "--strategies", "--clusters", "--gpu",     "--deadline",
                           "--price",  "--format",     "--html",     "--explain"};
constexpr Names kOfPlan{"SCENARIO",   "--model",     "--cluster", "--gpus", "--nodes",  "--global-batch",
                        "--sequence", "--precision", "--set",     "--top",  "--format", "--sbatch"};
constexpr Names kOfTune{"SCENARIO", "--over", "--axis",     "--where",  "--gpus",
                        "--set",    "--best", "--searches", "--format", "--output"};
constexpr Names kOfCollective{"--cluster",  "--op",        "--gpus",   "--nodes", "--sizes",  "--algorithm",
                              "--protocol", "--transport", "--format", "--svg",   "--explain"};
constexpr Names kOfValidate{"FILE",    "--no-anchor", "--gpus",   "--by",
                            "--worst", "--set",       "--format", "--html"};
constexpr Names kOfExplain{"FILE",      "--job",  "--scenario", "--model",
                           "--cluster", "--gpus", "--set",      "--format"};
constexpr Names kOfImport{"FILE", "--gpu", "--gpus-per-node", "--nodes", "--network", "--output"};

constexpr Names kOfExport{"FORMAT",     "SCENARIO", "--gpus", "--model", "--cluster",
                          "--strategy", "--batch",  "--set",  "--output"};
constexpr Names kOfRows{"DATABASE", "--where",   "--best", "--pareto", "--effects",
                        "--failed", "--columns", "--most", "--format", "--output"};
constexpr Names kOfSubmit{"SWEEP",    "--slurm",   "--htcondor", "--kubernetes", "--flux",
                          "--shards", "--threads", "--db",       "--output",     "--now"};
constexpr Names kOfModel{"MODEL",     "--batch", "--precision", "--gpu",
                         "--cluster", "--set",   "--layers",    "--format"};
constexpr Names kOfModelImport{"FILE", "--sequence", "--image", "--batch", "--name", "--output"};
constexpr Names kOfFit{"FILE",    "--cluster",  "--op",    "--gpus",   "--nodes",
                       "--model", "--strategy", "--batch", "--output", "--svg"};
constexpr Names kOfCheck{"FILE",    "--cluster",  "--op",    "--gpus",     "--nodes",
                         "--model", "--strategy", "--batch", "--hold-out", "--format"};

constexpr Names kOfJobCheck{"FILE",    "--cluster", "--model",  "--program", "--set",
                            "--brief", "--strict",  "--format", "--output"};

// Commands with a short help, by the words behind "foretrain". `check` is `job check` under a shorter name.
constexpr CommonOptions kCommonOptions[] = {{"predict", kOfPredict},
                                            {"compare", kOfCompare},
                                            {"plan", kOfPlan},
                                            {"tune", kOfTune},
                                            {"collective", kOfCollective},
                                            {"validate", kOfValidate},
                                            {"explain", kOfExplain},
                                            {"topology import", kOfImport},
                                            {"export", kOfExport},
                                            {"sweep show", kOfRows},
                                            {"sweep submit", kOfSubmit},
                                            {"model show", kOfModel},
                                            {"model import", kOfModelImport},
                                            {"calibrate fit", kOfFit},
                                            {"calibrate check", kOfCheck},
                                            {"job check", kOfJobCheck},
                                            {"check", kOfJobCheck}};

// Columns of an option's name and of the longest text beside it.
constexpr std::size_t kNameColumn = 24, kWidestText = 84;
// Examples that are shown at most.
constexpr std::ptrdiff_t kMostExamples = 3;
// Lines for the examples' heading and the last line, with a blank line before each.
constexpr std::ptrdiff_t kLinesAround = 4;

/// Cuts a text that is too long at the last of these marks that fits, and appends `end`.
std::string cut_at(std::string text, std::string_view mark, std::string_view end) {
  if (text.size() <= kWidestText) return text;
  const std::size_t place = text.rfind(mark, kWidestText);
  return place == std::string::npos ? text : text.substr(0, place) + std::string(end);
}

/// Returns true when a bracket is opened and not closed.
bool is_left_open(const std::string& text, char open, char close) {
  return std::ranges::count(text, open) > std::ranges::count(text, close);
}

/// Returns the first clause of a description, without a bracket that the cut left open.
std::string first_clause(const std::string& text) {
  std::string out = text.substr(0, text.find(';'));
  out = cut_at(std::move(out), ", ", "");
  out = cut_at(std::move(out), "|", "|…");
  if (is_left_open(out, '(', ')')) out = out.substr(0, out.rfind(" ("));
  if (is_left_open(out, '[', ']')) out = out.substr(0, out.rfind(": "));
  return out;
}

/// Returns the line of an option: name, type of value, and the first clause of its description.
std::string option_line(const CLI::Option& option) {
  const bool is_flag = option.get_items_expected_max() == 0;
  const std::string type = is_flag || option.get_positional() ? "" : option.get_type_name();
  std::string name = option.get_name(option.get_positional(), false);
  if (!type.empty()) name += " " + type.substr(0, type.find_first_of(":|"));
  return fmt::format("  {:<{}}{}\n", name, kNameColumn, first_clause(option.get_description()));
}

/// Returns the first `most` lines under "Examples:"; empty when there are none.
std::string first_examples(const std::string& footer, std::ptrdiff_t most) {
  const std::size_t begin = footer.find("Examples:\n");
  if (begin == std::string::npos) return "";
  std::string out = "\nExamples:\n";
  std::istringstream lines(footer.substr(begin));
  std::string line;
  std::getline(lines, line);
  for (; most > 0 && std::getline(lines, line) && line.starts_with("  "); --most) out += line + "\n";
  return out;
}

/// Returns the words behind the program's name, such as "predict" for "foretrain predict".
std::string_view command_of(std::string_view path) {
  const std::size_t space = path.find(' ');
  return space == std::string_view::npos ? "" : path.substr(space + 1);
}

/// Returns the option of that name, also from option groups, which CLI11 stores as commands without a name.
/// nullptr: none.
const CLI::Option* option_named(const CLI::App& app, std::string_view name) {
  for (const CLI::Option* option : app.get_options())
    if (option->check_name(std::string(name))) return option;
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    if (group->get_name().empty())
      if (const CLI::Option* found = option_named(*group, name)) return found;
  return nullptr;
}

// Formats the help: short for commands of kCommonOptions, as CLI11 does for all others.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const auto common = std::ranges::find(kCommonOptions, command_of(name), &CommonOptions::command);
    if (mode == CLI::AppFormatMode::All || common == std::end(kCommonOptions))
      return CLI::Formatter::make_help(app, name, CLI::AppFormatMode::Normal);
    std::string out = app->get_description() + "\n";
    const std::string usage = make_usage(app, name);
    out += usage.substr(0, usage.find_last_not_of('\n') + 1) + "\n\n";
    for (const std::string_view wanted : common->names)
      if (const CLI::Option* option = option_named(*app, wanted)) out += option_line(*option);
    // Examples fill the lines that the options leave.
    const std::ptrdiff_t left = kHelpLines - kLinesAround - std::ranges::count(out, '\n');
    return out + first_examples(app->get_footer(), std::min(kMostExamples, left)) +
           fmt::format("\nAll options: {} --help-all\n", name);
  }
};

}  // namespace

std::span<const CommonOptions> common_options() { return kCommonOptions; }

void add_help_all(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_all_flag("--help-all", "Print every option and exit");
}

void show_help_all_where_needed(CLI::App& app) {
  // The option is hidden by an empty group; it works all the same.
  for (const CommandPlace& place : commands_of(app)) {
    CLI::Option* all = const_cast<CLI::Option*>(place.command->get_help_all_ptr());
    const bool has_more = std::ranges::find(kCommonOptions, command_of(place.path()),
                                            &CommonOptions::command) != std::end(kCommonOptions);
    if (all != nullptr && !has_more) all->group("");
  }
}

}  // namespace foretrain
