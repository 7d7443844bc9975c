// The short help of commands with many options: the options that most users need, and where the others are.
#pragma once

#include <span>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace foretrain {

/// Largest number of lines of a short help, which fits into a terminal.
inline constexpr int kHelpLines = 25;

/// The options that the short help of one command shows, in their order.
struct CommonOptions {
  /// Words behind "foretrain", such as "predict" or "topology import".
  std::string_view command;
  std::span<const std::string_view> names;
};
/// Returns the commands that have a short help, because their whole help is longer than kHelpLines.
std::span<const CommonOptions> common_options();

/// Gives the app short helps and --help-all. Call it before commands are added, as they inherit the
/// formatter.
void add_help_all(CLI::App& app);

/// Hides --help-all from commands where it prints no more than --help. Call it when all commands are added.
void show_help_all_where_needed(CLI::App& app);

}  // namespace foretrain
