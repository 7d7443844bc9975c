// `foretrain sweep`, as typed: run, gone on with, merged, asked; and what is refused, in one sentence.
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/report/sweep/sweep_database.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/app/sweep/swept_folder.hpp"

namespace sweep_command_test {

using namespace foretrain;
using test::kSweep;
using test::ProgramRun;
using test::Swept;
using test::TemporaryFolder;

TEST_CASE("a sweep that is run again predicts nothing again, and shards merge to what one run gives") {
  const Swept folder;
  // 3 x 2 x 3 cases without those of 256 samples on 4 GPUs.
  CHECK(folder.rows("all.sqlite").size() == 16);
  CHECK_THAT(folder.succeed("run sweep.toml --db all.sqlite"), ContainsSubstring("16 had been there"));
  folder.succeed("run sweep.toml --db 1.sqlite --shard 1/2");
  folder.succeed("run sweep.toml --db 2.sqlite --shard 2/2 -j 3");
  CHECK_THAT(folder.succeed("merge 1.sqlite -o half.sqlite"), ContainsSubstring("are missing"));
  CHECK_THAT(folder.succeed("merge 1.sqlite 2.sqlite 1.sqlite -o merged.sqlite"),
             ContainsSubstring("16 cases"));
  CHECK(folder.rows("merged.sqlite", "--columns number,step_s,total_s,message,version") ==
        folder.rows("all.sqlite", "--columns number,step_s,total_s,message,version"));
  const auto states =
      nlohmann::json::parse(folder.succeed("status 1.sqlite all.sqlite --format json"))["files"];
  CHECK(states[0]["shards"] == 2);
  CHECK(states[1]["done"] == states[1]["cases"]);
}

TEST_CASE("results are what predict says of the same case") {
  const Swept folder;
  const ProgramRun predicted = folder.run(
      "foretrain predict workshop-mnist-ddp --batch 128 --gpus 1,2 --set data.workers_per_gpu=4 --format "
      "json");
  const auto point = nlohmann::json::parse(predicted.output)["points"].back();
  const auto row = folder.rows("all.sqlite", "--where 'batch = 128 AND workers = 4 AND gpus = 2'").front();
  CHECK(row["step_s"] == point["step_s"]);
  CHECK(row["total_s"] == point["total_s"]);
  CHECK(row["efficiency"] == point["efficiency"]);
}

TEST_CASE("the best, the front that nothing beats, and what each axis does") {
  const Swept folder;
  const auto best = folder.rows("all.sqlite", "--best total_s");
  for (std::size_t i = 1; i < best.size(); ++i) CHECK(best[i - 1]["total_s"] <= best[i]["total_s"]);
  const auto front = folder.rows("all.sqlite", "--pareto total_s,gpu_hours");
  CHECK(front.front() == best.front());
  for (const auto& row : front) {
    for (const auto& other : best)
      CHECK_FALSE((other["total_s"] < row["total_s"] && other["gpu_hours"] <= row["gpu_hours"]));
  }
  const auto effects = folder.rows("all.sqlite", "--effects total_s");
  CHECK(effects.size() == 8);  // values of three axes
  CHECK_THAT(folder.succeed("show all.sqlite --most 1 --format csv"),
             ContainsSubstring("batch,workers,gpus,"));
}

TEST_CASE("what a where clause must not do it does not") {
  const Swept folder;
  folder.refuse("show all.sqlite --where '1; drop table cases'", "--where");
  folder.refuse("show all.sqlite --where '1) FROM cases; drop table cases; --'", "--where");
  folder.refuse("show all.sqlite --where \"batch IN (SELECT writefile('x', 'y'))\"", "--where");
  folder.refuse("show all.sqlite --where 'bach = 1'", "no such column: bach");
  folder.refuse("show all.sqlite --best 'random()'", "not authorized to use function");
  folder.refuse("show all.sqlite --best total_s --pareto total_s,cost", "exclude", 2);
  folder.refuse(
      "show all.sqlite --where '(SELECT count(*) FROM cases a, cases b, cases c, cases d, cases e, cases f, "
      "cases g, "
      "cases h, cases i) > 0'",
      "takes too long");
  CHECK(folder.rows("all.sqlite").size() == 16);
}

TEST_CASE("files that are no database of this sweep are named and left alone") {
  const Swept folder;
  folder.write("text.sqlite", std::string(5000, 'x'));
  folder.refuse("run sweep.toml --db text.sqlite", "text.sqlite: is no SQLite file");
  folder.refuse("merge all.sqlite text.sqlite -o merged.sqlite", "text.sqlite: is no SQLite file");
  folder.refuse("status nothing.sqlite", "nothing.sqlite does not exist");
  std::string bytes = folder.read("all.sqlite");
  for (std::size_t at = 4096; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at);
  folder.write("broken.sqlite", bytes);
  folder.refuse("merge broken.sqlite -o merged.sqlite", "broken.sqlite");
  folder.write("other.toml", "scenario = \"workshop-mnist-ddp\"\n[axes]\nbatch = [64]\ngpus = [1]\n");
  folder.refuse("run other.toml --db all.sqlite", "all.sqlite holds another sweep");
  folder.refuse("run sweep.toml --db all.sqlite --shard 1/2", "holds shard 1/1 of this sweep, not 1/2");
  folder.succeed("run other.toml --db other.sqlite");
  folder.refuse("merge all.sqlite other.sqlite -o merged.sqlite", "other.sqlite is of another sweep");
  folder.refuse("merge all.sqlite -o text.sqlite", "text.sqlite");
  folder.refuse("run sweep.toml --db x.sqlite --shard 3/2", "--shard 3/2 is no part of a whole");
  CHECK(folder.read("text.sqlite") == std::string(5000, 'x'));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "merged.sqlite"));
}

TEST_CASE("names with quotes and line breaks are values like others, and what cannot run says why") {
  const TemporaryFolder folder;
  folder.write("odd.toml",
               "scenario = \"workshop-mnist-ddp\"\n[axes]\nstrategy = [\"d'd\\\"p\\n; drop table cases\", "
               "\"ddp\"]\ngpus = [1, 100000]\n");
  CHECK_THAT(folder.run("foretrain sweep run odd.toml --db odd.sqlite").output,
             ContainsSubstring("3 cannot run"));
  const auto rows = nlohmann::json::parse(
      folder.run("foretrain sweep show odd.sqlite --failed --format json").output)["rows"];
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["strategy"] == "d'd\"p\n; drop table cases");
  CHECK_THAT(rows[0]["message"].get<std::string>(), ContainsSubstring("must be one line of text"));
  CHECK_THAT(rows[2]["message"].get<std::string>(), ContainsSubstring("GPUs"));
}

TEST_CASE("a case that ended its worker is listed with its reason and is not predicted again") {
  const Swept folder;
  {
    SqlFile file((folder.path() / "all.sqlite").string(), SqlAccess::write);
    file.run(
        fmt::format("UPDATE cases SET message = '{}by SIGSEGV', step_s = NULL WHERE number = 3", kEndedCase));
  }
  CHECK_THAT(folder.succeed("run sweep.toml --db all.sqlite"), ContainsSubstring("16 had been there"));
  const std::string status = folder.succeed("status all.sqlite");
  CHECK_THAT(status,
             ContainsSubstring("warning: all.sqlite: case 3: this case ended its worker process by SIGSEGV"));
  const auto state = nlohmann::json::parse(folder.succeed("status all.sqlite --format json"))["files"][0];
  CHECK(state["failed"] == 1);
  CHECK(state["crashed"] == 1);
  const auto failed = folder.rows("all.sqlite", "--failed");
  REQUIRE(failed.size() == 1);
  CHECK(failed[0]["message"] == "this case ended its worker process by SIGSEGV");
  CHECK_THAT(folder.succeed("run sweep.toml --db all.sqlite --retry-crashed"),
             ContainsSubstring("1 case predicted"));
  CHECK(folder.rows("all.sqlite", "--failed").empty());
}

TEST_CASE("scripts of job arrays name every shard, whatever the files are called") {
  const TemporaryFolder folder;
  folder.write("it's.toml", kSweep);
  const auto script = [&](const std::string& engine) {
    const ProgramRun done = folder.run("foretrain sweep submit \"it's.toml\" --shards 3 -j 2 " + engine);
    INFO(done.output);
    CHECK(done.exit_code == 0);
    return done.output;
  };
  CHECK_THAT(script("--slurm"), ContainsSubstring("#SBATCH --array=1-3\n"));
  CHECK_THAT(script("--slurm"),
             ContainsSubstring(
                 "exec foretrain sweep run 'it'\\''s.toml' --db 'it'\\''s'-\"$SLURM_ARRAY_TASK_ID\".sqlite "
                 "--shard \"$SLURM_ARRAY_TASK_ID\"/3 -j 2\n"));
  CHECK_THAT(script("--htcondor"), ContainsSubstring("sweep run 'it''s.toml' --db 'it''s'-$(part).sqlite"));
  CHECK_THAT(script("--flux"), ContainsSubstring("--cc=1-3"));
  CHECK_THAT(script("--kubernetes --image i --claim c"), ContainsSubstring("completions: 3"));
  CHECK(folder.run("foretrain sweep submit \"it's.toml\" --kubernetes").exit_code == 1);
  CHECK(folder.run("foretrain sweep submit \"it's.toml\"").exit_code == 2);
}

TEST_CASE("a script starts the program on PATH, else this one by its path") {
  const TemporaryFolder folder;
  folder.write("sweep.toml", kSweep);
  folder.write("foretrain", "#!/bin/sh\n");
  const std::string submit = " " FORETRAIN_BINARY " sweep submit sweep.toml --shards 2 ";
  const auto started = [&](const std::string& path) {
    const ProgramRun done = folder.run("PATH=" + path + submit + "--slurm");
    INFO(done.output);
    CHECK(done.exit_code == 0);
    const std::size_t at = done.output.find("exec ");
    return done.output.substr(at + 5, done.output.find(" sweep run") - at - 5);
  };
  // The file in the folder is no program yet.
  const std::string here = folder.path().string();
  CHECK(std::filesystem::path(started(here)).is_absolute());
  std::filesystem::permissions(folder.path() / "foretrain", std::filesystem::perms::owner_all);
  CHECK(started(here) == "foretrain");
  // In a container the host's path would name nothing.
  const ProgramRun image = folder.run("PATH=/none" + submit + "--kubernetes --image i --claim c");
  CHECK_THAT(image.output,
             ContainsSubstring("foretrain sweep run") && !ContainsSubstring("/foretrain sweep run"));
}

TEST_CASE("an empty word before a flag is a mistake that ends, and so are no engine and two") {
  const TemporaryFolder folder;
  for (const auto& [arguments, why] :
       {std::pair{"x '' --flux --shards 100", "does not take \"\""},
        std::pair{"x", "one of --slurm, --htcondor, --kubernetes, --flux is required"},
        std::pair{"x --flux --slurm", "--slurm excludes --flux"}}) {
    const ProgramRun run = folder.run(std::string("foretrain sweep submit ") + arguments);
    INFO(run.output);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.output, ContainsSubstring(why));
  }
}

}  // namespace sweep_command_test
