// The short help: at most so many lines for every command, and --help-all with all of it.
#include "sim/app/pages/short_help.hpp"

#include <algorithm>
#include <sstream>

#include "sim/app/command_line.hpp"
#include "sim/app/pages/completion.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace short_help_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

TEST_CASE("the help of every command has at most 25 lines of at most 116 columns") {
  const TemporaryFolder folder;
  int commands = 0;
  for (const CompletedCommand& command : described_commands()) {
    if (command.path.empty()) continue;
    const ProgramRun run = folder.run("foretrain " + command.path + " --help");
    INFO(command.path << "\n" << run.output);
    REQUIRE(run.exit_code == 0);
    CHECK(std::ranges::count(run.output, '\n') <= kHelpLines);
    ++commands;
    if (std::ranges::find(common_options(), command.path, &CommonOptions::command) == common_options().end())
      continue;
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 116);
  }
  CHECK(commands > 40);
}

TEST_CASE("help-all has every option, and the short help those of its row in their order") {
  const TemporaryFolder folder;
  for (const CommonOptions& row : common_options()) {
    const std::string command = "foretrain " + std::string(row.command);
    const std::string all = folder.run(command + " --help-all").output;
    const std::string few = folder.run(command + " --help").output;
    INFO(row.command);
    CHECK_THAT(few, ContainsSubstring("All options: " + command + " --help-all"));
    CHECK(std::ranges::count(all, '\n') > kHelpLines);
    std::size_t from = 0;
    for (const std::string_view name : row.names) {
      INFO(name);
      CHECK_THAT(all, ContainsSubstring(std::string(name)));
      const std::size_t place = few.find("\n  " + std::string(name) + " ", from);
      CHECK(place != std::string::npos);
      from = std::min(place, few.size());
    }
  }
}

}  // namespace short_help_test
