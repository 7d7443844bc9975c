// Describes the command line for completion. The kind of a value follows from the option's name and from its
// choices in the help.
#include "sim/app/pages/completion.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "sim/app/pages/command_pages.hpp"
#include "sim/base/named_rows.hpp"

namespace foretrain {

namespace {

// Columns of a summary beside an option in zsh and fish.
constexpr std::size_t kLongestSummary = 70;

// An option or argument whose values are names of a catalog.
struct CatalogOption {
  std::string_view name;
  std::string_view catalog;
  /// True when a file is as usual a value as a name of the catalog.
  bool is_file = false;
};
// Positional arguments are listed by their noun in capitals.
constexpr CatalogOption kCatalogOptions[] = {
    {"--cluster", "clusters"},
    {"--clusters", "clusters"},
    {"CLUSTER", "clusters", true},
    {"--model", "models"},
    {"--models", "models"},
    {"MODEL", "models", true},
    {"--gpu", "gpus"},
    {"SCENARIO", "scenarios", true},
    {"CALIBRATION", "calibrations", true},
    {"--strategy", "strategies"},
    {"--strategies", "strategies"},
    {"--transport", "transports"},
    {"--dataset", "datasets", true},
};

// The names that the help lists for an option.
struct Choices {
  std::vector<std::string> names;
  /// True when "…" stands among them: the help lists only some.
  bool has_more = false;
};

/// Returns the names in the braces of "FORMAT:{table,json}", or those at the start of the help, as in
/// "fp32|tf32|…".
Choices choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name(), help = option.get_description();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open < close && close != std::string::npos)
    return {CLI::detail::split(type.substr(open + 1, close - open - 1), ',')};
  const std::string first = help.substr(0, help.find_first_of(" ,;:"));
  std::vector<std::string> names = CLI::detail::split(first, '|');
  const bool has_more = std::erase(names, "…") > 0;
  if (first.find('|') == std::string::npos) return {};
  return {std::move(names), has_more};
}

/// Returns the start of a help text, short enough for one line.
std::string summary_of(const std::string& text) {
  std::string out = text.substr(0, std::min(text.find("; "), text.find('\n')));
  if (out.size() <= kLongestSummary) return out;
  return out.substr(0, out.rfind(' ', kLongestSummary)) + " …";
}

/// Returns what may stand as the value of the option.
CompletedValue value_of(const CLI::Option& option, const std::string& name) {
  const std::string type = option.get_type_name();
  CompletedValue value;
  value.meaning = option.get_description();
  value.noun = option.get_positional() ? name : type.substr(0, type.find(':'));
  Choices choices = choices_of(option);
  value.choices = std::move(choices.names);
  value.has_more_choices = choices.has_more;
  value.is_list = option.get_delimiter() != '\0';
  value.is_repeated = !value.is_list && option.get_items_expected_max() > 1;
  value.is_required = option.get_required();
  const CatalogOption* row = find_row(kCatalogOptions, name);
  if (row != nullptr) value.catalog = row->catalog;
  value.is_file = (row != nullptr && row->is_file) || value.noun == "FILE";
  return value;
}

/// Returns the option's names with dashes, short ones first as in the help.
std::vector<std::string> names_with_dashes(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// Adds an option, or the positional argument, to the command.
void add(const CLI::Option& option, CompletedCommand& command) {
  if (option.get_positional()) {
    command.argument = value_of(option, option.get_name(true));
    return;
  }
  CompletedOption completed{names_with_dashes(option), summary_of(option.get_description()), {}};
  completed.value.meaning = option.get_description();
  if (option.get_items_expected_max() > 0) completed.value = value_of(option, completed.names.back());
  command.options.push_back(std::move(completed));
}

/// Returns the description of one command. Its path leaves out the program's own name, which shells have
/// typed already.
CompletedCommand completed(const CommandPlace& place) {
  CompletedCommand command;
  const std::string path = place.path();
  command.path = path.substr(std::min(path.find(' '), path.size() - 1) + 1);
  if (place.parent.empty()) command.path.clear();
  command.summary = summary_of(place.command->get_description());
  command.description = place.command->get_description();
  for (const CLI::Option* option : place.command->get_options()) add(*option, command);
  for (const CLI::App* child : place.command->get_subcommands([](CLI::App*) { return true; })) {
    if (!child->get_name().empty()) {
      command.commands.push_back(child->get_name());
      continue;
    }
    // Options of an option group.
    for (const CLI::Option* option : child->get_options()) add(*option, command);
  }
  return command;
}

}  // namespace

// The first entry is the program itself, whose path is empty.
std::vector<CompletedCommand> completed_commands(CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CommandPlace& place : commands_of(app)) commands.push_back(completed(place));
  // `foretrain help` is completed with the names of the commands.
  for (CompletedCommand& command : commands) {
    if (command.path == "help") command.argument.choices = commands.front().commands;
  }
  return commands;
}

}  // namespace foretrain
