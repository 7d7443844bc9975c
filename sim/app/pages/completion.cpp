// What a value is, is told by the name of its option and by its choices, both of which the help shows.
#include "sim/app/pages/completion.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "sim/app/pages/command_pages.hpp"
#include "sim/base/named_rows.hpp"

namespace foretrain {

namespace {

/// Columns that zsh and fish show beside an option.
constexpr std::size_t kLongestSummary = 70;

/// Options and arguments whose values are names of a catalog.
struct CatalogOption {
  std::string_view name;
  std::string_view catalog;
  bool is_file = false;  ///< or a file, whose name is typed as often as one of the catalog
};
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

struct Choices {
  std::vector<std::string> names;
  bool has_more = false;  ///< "…" stands among them
};

/// The names in the braces of "FORMAT:{table,json}", or those that the help begins with: "fp32|tf32|…, as".
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

/// The beginning of what the help says, for one line.
std::string summary_of(const std::string& text) {
  std::string out = text.substr(0, std::min(text.find("; "), text.find('\n')));
  if (out.size() <= kLongestSummary) return out;
  return out.substr(0, out.rfind(' ', kLongestSummary)) + " …";
}

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

/// Short names first, as the help has them.
std::vector<std::string> names_with_dashes(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

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

/// Paths begin behind the program's own name, which shells have typed already.
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
    for (const CLI::Option* option : child->get_options()) add(*option, command);  // a group of options
  }
  return command;
}

}  // namespace

std::vector<CompletedCommand> completed_commands(CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CommandPlace& place : commands_of(app)) commands.push_back(completed(place));
  for (CompletedCommand& command : commands) {
    if (command.path == "help") command.argument.choices = commands.front().commands;
  }
  return commands;
}

}  // namespace foretrain
