// Tests of the command line and of ranks: options, their mistakes, launchers, meeting through files.
#include <filesystem>
#include <map>
#include <thread>

#include <unistd.h>

#include "calibrate/micro/plan/options.hpp"
#include "calibrate/micro/plan/rendezvous.hpp"
#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace bench_options_test {

using namespace foretrain;
using namespace foretrain::micro;

namespace {

std::string mistake_in(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

JobRank rank_with(const std::map<std::string, std::string>& variables) {
  return job_rank([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

}  // namespace

TEST_CASE("options take their value behind a space or an equals sign") {
  const Options options = parse_options({"--budget=10m", "-o", "x.csv", "--only", "gemm,copy", "--fresh"});
  CHECK(options.budget_s == 600);
  CHECK(options.output == "x.csv");
  CHECK(options.only == std::vector<std::string>{"gemm", "copy"});
  CHECK(options.fresh);
  CHECK_FALSE(options.host_only);
  CHECK(parse_options({"-h"}).action == Options::Action::help);
  CHECK(parse_options({}) == Options{});
}

TEST_CASE("mistakes on the command line say what would be right") {
  CHECK(mistake_in({"--buget", "2m"}) == "unknown option \"--buget\"; did you mean \"--budget\"?");
  CHECK(mistake_in({"--budget", "soon"}) == "--budget soon: expected a time as in 90s, 2m, 1h");
  CHECK(mistake_in({"--budget"}) == "--budget needs a value: TIME");
  CHECK(mistake_in({"-o", ""}) == "-o needs a value: FILE");
  CHECK(mistake_in({"--fresh=1"}) == "--fresh takes no value");
  CHECK_THAT(mistake_in({"--only", "gemn"}), ContainsSubstring("did you mean \"gemm\""));
  CHECK_THAT(mistake_in({"--only", "gemm,"}), ContainsSubstring("unknown family \"\""));
  CHECK_THAT(mistake_in({"x.csv"}), ContainsSubstring("unexpected argument \"x.csv\""));
}

TEST_CASE("a dry run is an option of measuring") {
  const Options options = parse_options({"--dry-run", "--budget", "8m"});
  CHECK(options.dry_run);
  CHECK(options.action == Options::Action::measure);
  CHECK_FALSE(parse_options({}).dry_run);
}

TEST_CASE("help names every option") {
  for (const char* option : {"-o", "--budget", "--only", "--host-only", "--fresh", "--rendezvous", "--points",
                             "--no-children", "--dry-run", "FORETRAIN_PYTHON", "--list", "--version"})
    CHECK_THAT(help_text(), ContainsSubstring(option));
}

TEST_CASE("ranks are found where the launcher puts them") {
  CHECK(rank_with({}) == JobRank{});
  CHECK(rank_with({{"SLURM_PROCID", "3"},
                   {"SLURM_STEP_NUM_TASKS", "8"},
                   {"SLURM_LOCALID", "1"},
                   {"SLURM_JOB_ID", "77"},
                   {"SLURM_STEP_ID", "0"}}) == JobRank{3, 8, 1, "77.0", Launcher::slurm});
  CHECK(rank_with({{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}) == JobRank{1, 2, 1, "", Launcher::open_mpi});
  CHECK(rank_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}}) ==
        JobRank{1, 4, 0, "", Launcher::mpich});
}

TEST_CASE("a batch script is no rank of its tasks, and nonsense none either") {
  CHECK(rank_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}}) == JobRank{});
  CHECK(rank_with({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}) == JobRank{});
  CHECK(rank_with({{"PMI_RANK", "x"}, {"PMI_SIZE", "4"}}) == JobRank{});
}

TEST_CASE("mpirun's ranks come before those of the Slurm step it runs in") {
  CHECK(rank_with({{"SLURM_PROCID", "0"},
                   {"SLURM_STEP_NUM_TASKS", "2"},
                   {"OMPI_COMM_WORLD_RANK", "5"},
                   {"OMPI_COMM_WORLD_SIZE", "8"}})
            .rank == 5);
}

TEST_CASE("ranks meet in a folder, turn after turn, and leave one file each") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("foretrain-ranks-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  constexpr int kRanks = 3, kTurns = 5;
  std::vector<std::vector<std::string>> last(kRanks);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&, rank] {
        const AllGather gather = through_files(folder.string(), {rank, kRanks, rank, "job", {}}, 3600);
        for (int turn = 0; turn < kTurns; ++turn)
          last[static_cast<std::size_t>(rank)] = gather(std::to_string(10 * turn + rank));
      });
    }
  }
  for (const auto& texts : last) CHECK(texts == std::vector<std::string>{"40", "41", "42"});
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == kRanks);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a rank that never comes is named, and files of an earlier start are refused") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("foretrain-late-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const JobRank job{0, 2, 0, "", {}};
  CHECK_THROWS_WITH(through_files(folder.string(), job, 0.05)("x"), ContainsSubstring("rank 1 did not come"));
  CHECK_THROWS_WITH(through_files(folder.string(), job, 0.05)("x"),
                    ContainsSubstring("left from an earlier start"));
  CHECK_THROWS_WITH(through_files((folder / "none").string(), job, 0.05)("x"),
                    ContainsSubstring("cannot be written"));
  std::filesystem::remove_all(folder);
}

}  // namespace bench_options_test
