// Explains wrong command lines. Words that the parser leaves over belong to the innermost command that it
// recognised.
#include "sim/app/options/usage.hpp"

#include <algorithm>
#include <tuple>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/sections/given_settings.hpp"

namespace foretrain {

namespace {

// Largest number of wrong words that are explained, and characters of one that are quoted.
constexpr std::size_t kMostWords = 5, kLongestWord = 60;

// The innermost command of a line, with the words that lead to it.
struct ChosenCommand {
  const CLI::App* command;
  /// Such as "foretrain topology show".
  std::string path;
};

/// Returns the innermost command, as far as the line was understood.
ChosenCommand chosen_command(const CLI::App& app) {
  ChosenCommand chosen{&app, app.get_name()};
  while (!chosen.command->get_subcommands().empty()) {
    chosen.command = chosen.command->get_subcommands().front();
    chosen.path += " " + chosen.command->get_name();
  }
  return chosen;
}

/// Returns the names of the commands below.
std::vector<std::string> names_of_commands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* child : command.get_subcommands([](const CLI::App*) { return true; }))
    // Option groups are commands without a name.
    if (!child->get_name().empty()) names.push_back(child->get_name());
  return names;
}

/// Returns the options' names with their dashes, long names of each option first.
std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// Returns "; did you mean …?" when a name is near; otherwise nothing, because the help lists them all.
std::string nearest_of(const std::string& word, const std::vector<std::string>& names) {
  return nearest_names(word, names).empty() ? "" : "; " + did_you_mean(word, names);
}

/// Returns a sentence about a word that nothing takes. A word with a dash is an unknown option; another is a
/// mistyped command or an argument too many.
std::string about_word(const ChosenCommand& chosen, const std::string& word) {
  if (!word.starts_with('-')) {
    if (!names_of_commands(*chosen.command).empty())
      return unknown_command(*chosen.command, chosen.path, word);
    return fmt::format("{} does not take \"{}\"", chosen.path, shortened(word, kLongestWord));
  }
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("{} has no option {}{}", chosen.path, shortened(name, kLongestWord),
                     nearest_of(name, names_of_options(*chosen.command)));
}

/// Returns true when the leftover words explain the mistake better than the parser's message about what is
/// missing.
bool is_explained_by_words(const CLI::ParseError& error, const ChosenCommand& chosen) {
  const bool wants_command = !names_of_commands(*chosen.command).empty();
  return dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || wants_command;
}

}  // namespace

// The names are copied into the check, as it outlives the caller.
CLI::Validator one_of(std::vector<std::string> names) {
  const std::string shown = fmt::format("{{{}}}", fmt::join(names, ","));
  // A name in other case or with other separators is replaced by the exact one.
  const auto take = [names = std::move(names)](std::string& value) {
    std::string known = spelt_alike(value, names);
    std::string problem = known.empty() ? fmt::format("unknown \"{}\"; {}", shortened(value, kLongestWord),
                                                      did_you_mean(value, names))
                                        : "";
    if (!known.empty()) value = std::move(known);
    return problem;
  };
  return {take, shown, "one of"};
}

std::string unknown_command(const CLI::App& command, const std::string& path, const std::string& word) {
  return fmt::format("{} has no command \"{}\"; {}", path, shortened(word, kLongestWord),
                     did_you_mean(word, names_of_commands(command)));
}

// Without leftover words the parser's own message is the best there is.
std::string usage_mistake(const CLI::App& app, const CLI::ParseError& error) {
  const ChosenCommand chosen = chosen_command(app);
  const std::vector<std::string> words = chosen.command->remaining();
  std::string out;
  if (words.empty() || !is_explained_by_words(error, chosen)) {
    const std::vector<std::string> commands = names_of_commands(*chosen.command);
    const bool lacks_command = !commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error);
    out = lacks_command ? fmt::format("{}: which of {}?\n", chosen.path, fmt::join(commands, ", "))
                        : std::string(error.what()) + "\n";
  }
  const bool wants_command = !names_of_commands(*chosen.command).empty();
  std::size_t count = 0;
  std::string before;
  // A word behind an unknown option or command is its value, and is not explained.
  for (const std::string& word : words) {
    const bool is_of_another = !before.empty() && (before.starts_with('-') || wants_command);
    if (is_of_another && !word.starts_with('-')) continue;  // what the unknown option or command was given
    if (count++ < kMostWords) out += about_word(chosen, word) + "\n";
    before = word;
  }
  return out + fmt::format("Run {} --help for more information.\n", chosen.path);
}

// Contradictions are found before the parse, since CLI11 would silently keep both values.
std::vector<std::string> checked_words(std::vector<std::string> words) {
  // Both spellings, "--set KEY=VALUE" and "--set=KEY=VALUE", are collected.
  constexpr std::string_view kSet = "--set", kSetIs = "--set=";
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kSet && i + 1 < words.size()) settings.push_back(words[i + 1]);
    if (words[i].starts_with(kSetIs)) settings.push_back(words[i].substr(kSetIs.size()));
  }
  check_given_settings(settings);
  return words;
}

}  // namespace foretrain
