// A recorded program: what is read, what is refused, and what its replay takes, against closed forms and
// against the strategies that do the same.
#include "sim/scenario/schema/schema_program.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/workload/program/program_replays.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/program_text.hpp"

namespace program_test {

using namespace foretrain;
using test::program_text;

namespace {

std::string mistakes_in(const std::string& text) {
  const SourceText source{"step.toml", text};
  Diagnostics diagnostics(source);
  read_program(source, diagnostics);
  return format(diagnostics.found());
}

std::shared_ptr<const Program> program_of(const std::string& text) {
  const SourceText source{"step.toml", text};
  Diagnostics diagnostics(source);
  Program program = read_program(source, diagnostics);
  INFO(format(diagnostics.found()));
  REQUIRE(diagnostics.empty());
  return std::make_shared<const Program>(std::move(program));
}

}  // namespace

TEST_CASE("a program file without mistakes is read whole") {
  const auto program = program_of(program_text({.ranks = 8, .layers = 3}));
  CHECK(program->world == 8);
  REQUIRE(program->ranks.size() == 1);
  CHECK(program->ranks[0].count() == 8);
  CHECK(program->data_ranks == 8);
}

TEST_CASE("every mistake of a program file is a sentence with its place") {
  const std::string whole = program_text({.ranks = 8, .layers = 1});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return mistakes_in(text.replace(at, from.size(), to));
  };
  CHECK_THAT(with("groups = [{ size = 8", "groups = [{ size = 9"),
             Catch::Matchers::ContainsSubstring("outside of a world of 8"));
  CHECK_THAT(with("group = 0, work = 1,", "group = 3, work = 1,"),
             Catch::Matchers::ContainsSubstring("there is no group 3"));
  CHECK_THAT(with("wait = 1 ", "wait = 77 "),
             Catch::Matchers::ContainsSubstring("waits for work 77, which nothing begins"));
  CHECK_THAT(with("collective = \"all_reduce\"", "collective = \"all_deduce\""),
             Catch::Matchers::ContainsSubstring("all_reduce"));
  CHECK_THAT(with("pass = \"optimizer\"", "pass = \"backward\""),
             Catch::Matchers::ContainsSubstring("no operator of the optimizer pass"));
  CHECK_THAT(with("{ wait = 1 }", "{ send = 3, peer = 8 }"),
             Catch::Matchers::ContainsSubstring("rank 8 is outside of a world of 8"));
  CHECK_THAT(with("bf16[512,1024]", "bf16[B,1024]"),
             Catch::Matchers::ContainsSubstring("grows with the batch, but a program holds for its own"));
  CHECK_THAT(with("bf16[512,1024]", "bf16[1099511627776,1024]"),
             Catch::Matchers::ContainsSubstring("more than 2^40 elements"));
  CHECK_THAT(with("batch = 1", "batch = 1000000000000"),
             Catch::Matchers::ContainsSubstring("from 0 to 1000000000"));
  CHECK_THAT(with("{ wait = 1 ", "{ wait = 1, send = 3 "), Catch::Matchers::ContainsSubstring("has both"));
  CHECK_THAT(with("{ wait = 1 ", "{ of = \"nothing\" "),
             Catch::Matchers::ContainsSubstring("does not say what the rank does"));
  CHECK_THAT(mistakes_in("description = \"nothing\"\n"), Catch::Matchers::ContainsSubstring("program"));
}

TEST_CASE("a program recorded on two numbers of ranks is the recording on a third") {
  const ProgramReplays replays({program_of(program_text({.ranks = 64, .layers = 4})),
                                program_of(program_text({.ranks = 16, .layers = 4}))});
  CHECK(replays.recorded_on() == "16 and 64");
  const auto grown = replays.on(32);
  REQUIRE(grown);
  const auto recorded = program_of(program_text({.ranks = 32, .layers = 4}));
  const ExpandedRank expected = expand_rank(recorded->ranks[0]);
  REQUIRE(grown->ranks[0].events.size() == expected.events.size());
  REQUIRE(grown->ranks[0].operators.size() == expected.operators.size());
  for (std::size_t i = 0; i < expected.events.size(); ++i) {
    CHECK(grown->ranks[0].events[i].row.bytes == expected.events[i].row.bytes);
    CHECK(grown->ranks[0].events[i].row.index == expected.events[i].row.index);
  }
  for (std::size_t i = 0; i < expected.operators.size(); ++i)
    CHECK(grown->ranks[0].operators[i].bytes.at(1) == expected.operators[i].bytes.at(1));
  CHECK(memory_of(grown->program.ranks[0]).total() == memory_of(recorded->ranks[0]).total());
}

TEST_CASE("one recording tells of its own number of ranks alone") {
  const ProgramReplays replays({program_of(program_text({.ranks = 16, .layers = 1}))});
  CHECK(replays.on(16));
  CHECK_FALSE(replays.on(8));
  CHECK_THAT(replays.facts_on(8).why_not, Catch::Matchers::ContainsSubstring("recorded on 16 ranks alone"));
}

TEST_CASE("recordings of different programs are refused with the row that differs") {
  const ProgramReplays replays({program_of(program_text({.ranks = 16, .layers = 1})),
                                program_of(program_text({.ranks = 64, .layers = 2}))});
  CHECK_THAT(replays.facts_on(32).why_not, Catch::Matchers::ContainsSubstring("rows became"));
}

TEST_CASE("keys that would describe another program are mistakes") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / fmt::format("program{}.toml", ::getpid());
  std::ofstream(file) << program_text({.ranks = 8, .layers = 1});
  const std::string head = fmt::format("[model]\nprogram = \"{}\"\n", file.string());
  const auto said = [&](const std::string& text) -> std::string {
    try {
      read_scenario({"s.toml", head + text}, {});
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  const std::string cluster = "[cluster]\nname = \"dgx-a100\"\n";
  CHECK(said(cluster).empty());
  CHECK_THAT(said("batch_per_gpu = 64\n" + cluster),
             Catch::Matchers::ContainsSubstring("has its own batch_per_gpu"));
  CHECK_THAT(said("precision = \"bf16\"\n" + cluster),
             Catch::Matchers::ContainsSubstring("has its own precision"));
  CHECK_THAT(said(cluster + "[strategy]\nname = \"ddp\"\n"),
             Catch::Matchers::ContainsSubstring("strategy ddp would be another program"));
  CHECK_THAT(said(cluster + "[strategy]\naccumulation = 4\n"),
             Catch::Matchers::ContainsSubstring("has its own micro-steps"));
  CHECK_THAT(said(cluster + "[run]\ngpus = [4]\n"),
             Catch::Matchers::ContainsSubstring("recorded on 8 ranks alone"));
  std::filesystem::remove(file);
}

TEST_CASE("layers that repeat are priced once") {
  const auto few = expand_rank(program_of(program_text({.ranks = 8, .layers = 2}))->ranks[0]);
  const auto many = expand_rank(program_of(program_text({.ranks = 8, .layers = 40}))->ranks[0]);
  CHECK(few.operators.size() == many.operators.size());
}

TEST_CASE("memory is the fullest moment of the recorded storages") {
  const auto program = program_of(program_text({.ranks = 8, .layers = 3}));
  const ProgramMemory memory = memory_of(program->ranks[0]);
  // Each layer's result lives until the backward pass is through: three of them at once.
  CHECK(memory.activations.count == 3 * 2 * 512 * 1024);
}

}  // namespace program_test
