// A folder with a small sweep that was run, for tests of the commands about sweeps.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace foretrain::test {

inline constexpr const char* kSweep =
    "scenario = \"workshop-mnist-ddp\"\nwhere = [\"batch * gpus < 1000\"]\n[axes]\nbatch = [64, 128, "
    "256]\nworkers "
    "= [2, 4]\ngpus = [1, 2, 4]\n";

/// A folder with sweep.toml, run into all.sqlite.
struct Swept : TemporaryFolder {
  Swept() {
    write("sweep.toml", kSweep);
    succeed("run sweep.toml --db all.sqlite");
  }
  std::string succeed(const std::string& arguments) const {
    const ProgramRun done = run("foretrain sweep " + arguments);
    INFO(arguments << "\n" << done.output);
    REQUIRE(done.exit_code == 0);
    return done.output;
  }
  nlohmann::json rows(const std::string& database, const std::string& arguments = "") const {
    return nlohmann::json::parse(
        succeed("show " + database + " --most 1000 --format json " + arguments))["rows"];
  }
  void refuse(const std::string& arguments, const std::string& sentence, int code = 1) const {
    const ProgramRun done = run("foretrain sweep " + arguments);
    INFO(arguments << "\n" << done.output);
    CHECK(done.exit_code == code);
    CHECK_THAT(done.output, ContainsSubstring(sentence));
  }
};

}  // namespace foretrain::test
