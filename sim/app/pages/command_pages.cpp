// Writes the reference page of commands, the manual page and the help of one command. All texts come from the
// parser's own tables, so they cannot differ from what is parsed.
#include "sim/app/pages/command_pages.hpp"

#include <algorithm>
#include <regex>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/options/usage.hpp"

namespace foretrain {

namespace {

/// Returns all commands below `app`, including option groups.
std::vector<CLI::App*> children_of(CLI::App& app) {
  return app.get_subcommands([](CLI::App*) { return true; });
}

/// Escapes text for man(7), where a backslash, a hyphen, and a dot or quote at the start of a line are
/// requests.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : std::regex_replace(text, std::regex("…"), "...")) {
    const bool at_begin = out.empty() || out.back() == '\n';
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else
      out += c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

/// Returns the heading of an option, such as "\fB\-\-gpus\fR \fILIST\fR".
std::string roff_head(const CLI::Option& option) {
  std::string out = "\\fB" + roff(option.get_name(option.get_positional(), true)) + "\\fR";
  const std::string type = option.get_items_expected_max() > 0 ? option.get_type_name() : "";
  if (!type.empty() && !option.get_positional())
    out += " \\fI" + roff(type.substr(0, type.find(':'))) + "\\fR";
  return out;
}

/// Returns all options of a command, including those of option groups, which CLI11 stores as commands without
/// a name.
std::string roff_options(CLI::App& command) {
  std::string out;
  for (CLI::App* child : children_of(command))
    if (child->get_name().empty()) out += roff_options(*child);
  for (const CLI::Option* option : command.get_options()) {
    // An option without a group is hidden from the help.
    if (option->get_group().empty()) continue;
    out += ".TP\n" + roff_head(*option) + "\n" + roff(option->get_description()) + "\n";
    if (!option->get_default_str().empty())
      out += fmt::format("(default {})\n", roff(option->get_default_str()));
  }
  return out;
}

/// Returns examples and notes, with their lines as they stand.
std::string roff_footer(const std::string& footer) {
  return footer.empty() ? "" : ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
}

/// Returns the section of one command.
std::string roff_section(const CommandPlace& place) {
  return fmt::format(".SS {}\n{}\n{}{}", roff(place.path()), roff(place.command->get_description()),
                     roff_options(*place.command), roff_footer(place.command->get_footer()));
}

}  // namespace

std::string CommandPlace::path() const {
  return parent.empty() ? command->get_name() : parent + " " + command->get_name();
}

std::vector<CommandPlace> commands_of(CLI::App& app) {
  // Breadth first: the list grows while it is walked.
  std::vector<CommandPlace> places{{"", &app}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string path = places[i].path();
    for (CLI::App* child : children_of(*places[i].command))
      if (!child->get_name().empty()) places.push_back({path, child});
  }
  return places;
}

// Every command is shown with its complete help, in the same text that --help-all prints.
std::string markdown_of(CLI::App& app) {
  std::string out = "# Commands\n\nPrinted by `foretrain reference commands`.\n";
  for (const CommandPlace& place : commands_of(app))
    out += fmt::format("\n## `{}`\n\n```\n{}```\n", place.path(),
                       place.command->help(place.parent, CLI::AppFormatMode::All));
  return out;
}

/// The page has no date, so that two builds of one version print the same page.
std::string manual_of(CLI::App& app) {
  std::string out = fmt::format(
      ".TH FORETRAIN 1 \"\" \"foretrain {}\" \"User Commands\"\n.SH NAME\nforetrain \\- {}\n.SH SYNOPSIS\n"
      ".B foretrain\n.I COMMAND\n.RI [ OPTIONS ]\n.SH DESCRIPTION\n{}\n{}",
      FORETRAIN_VERSION, "how long a training epoch takes on N GPUs", roff(app.get_description()),
      roff_options(app));
  out += ".SH COMMANDS\n";
  std::vector<CommandPlace> places = commands_of(app);
  for (std::size_t i = 1; i < places.size(); ++i) out += roff_section(places[i]);
  return out + ".SH EXIT STATUS\n" + roff(app.get_footer()) +
         "\n.SH ENVIRONMENT\n.TP\nFORETRAIN_PATH\nfolders with catalogs of your own, separated by colons; "
         "what stands in them comes before ours\n";
}

// Each word must name a command below the one before it.
std::string help_of(CLI::App& app, const std::vector<std::string>& words) {
  CommandPlace place{"", &app};
  for (const std::string& word : words) {
    const std::vector<CLI::App*> children = children_of(*place.command);
    const auto child =
        std::ranges::find_if(children, [&](const CLI::App* each) { return each->get_name() == word; });
    if (child == children.end())
      throw CLI::ValidationError(unknown_command(*place.command, place.path(), word),
                                 CLI::ExitCodes::ValidationError);
    place = {place.path(), *child};
  }
  return place.command->help(place.parent);
}

}  // namespace foretrain
