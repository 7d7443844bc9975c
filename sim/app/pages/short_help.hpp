// The help of a command with many options: what people use, and where the rest is.
#pragma once

#include <span>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace foretrain {

/// Lines of the longest help that a person reads.
inline constexpr int kHelpLines = 25;

/// The options that the short help of a command shows, in their order.
struct CommonOptions {
  std::string_view command;  ///< "predict", "topology import"
  std::span<const std::string_view> names;
};
/// Commands whose whole help is longer than kHelpLines; `--help-all` prints that.
std::span<const CommonOptions> common_options();

/// Before any command is added: --help of these commands is short, and --help-all is the whole.
void add_help_all(CLI::App& app);

/// Shows --help-all only where it prints more than --help.
void show_help_all_where_needed(CLI::App& app);

}  // namespace foretrain
