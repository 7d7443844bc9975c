// Program files of what strategies and layouts send: operations, bytes, types, groups, passes and order.
#include "sim/report/program/sent_program.hpp"

#include <algorithm>
#include <cstdlib>

#include "sim/analysis/predict.hpp"
#include "tests/support/catch.hpp"

namespace sent_program_test {

using namespace foretrain;

namespace {

Scenario scenario_of(const std::string& model, const std::string& strategy, int gpus,
                     std::vector<std::string> settings = {}) {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  ScenarioOverrides overrides;
  overrides.model = model, overrides.cluster = "dgx-a100-80gb", overrides.strategy = strategy;
  overrides.gpus = {gpus}, overrides.settings = std::move(settings);
  return make_scenario(overrides);
}

SentProgram sent_by(const Scenario& scenario) {
  return sent_program(recording_of(scenario, {3, 256}), scenario);
}

std::vector<std::int64_t> bytes_of(const SentRank& rank, WireOperation operation) {
  std::vector<std::int64_t> bytes;
  for (const SentRow& sent : rank.rows) {
    if (sent.row.kind == ProgramRow::Kind::collective && sent.row.operation == operation)
      bytes.push_back(sent.row.bytes.count);
  }
  return bytes;
}

std::vector<const SentRow*> rows_of(const SentRank& rank, ProgramRow::Kind kind) {
  std::vector<const SentRow*> rows;
  for (const SentRow& sent : rank.rows) {
    if (sent.row.kind == kind) rows.push_back(&sent);
  }
  return rows;
}

}  // namespace

TEST_CASE("several notes of a program are one list") {
  SentProgram program = sent_by(scenario_of("resnet50", "ddp", 8));
  program.head.notes = {"one", "two"};
  CHECK_THAT(write_sent_program(program), ContainsSubstring("\nnotes = [\"one\", \"two\"]\ngroups"));
}

TEST_CASE("a program of DDP has the buffers first and then the buckets of the plan in their order") {
  const Scenario scenario = scenario_of("resnet50", "ddp", 8);
  const SentProgram program = sent_by(scenario);
  REQUIRE(program.ranks.size() == 1);
  const SentRank& rank = program.ranks.front();
  CHECK(rank.like == std::vector<RankSequence>{{0, 8, 1}});
  // Means and variances of 53 norms with 26,560 channels, and their counters.
  CHECK(bytes_of(rank, WireOperation::broadcast) == std::vector<std::int64_t>{2 * 26'560 * 4, 53 * 8});
  CHECK(bytes_of(rank, WireOperation::all_reduce) ==
        std::vector<std::int64_t>{8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160});
  CHECK(rank.rows.front().row.pass == ProgramPass::forward);
  CHECK(rank.rows.back().row.pass == ProgramPass::backward);
  CHECK(rank.rows[1].type == "i64");
  CHECK(rank.rows.back().type == "f32");
}

TEST_CASE("gathers behind the last kernel of a step belong to that step") {
  const SentProgram program = sent_by(scenario_of("resnet50", "zero1", 8));
  const SentRow& last = program.ranks.front().rows.back();
  CHECK(last.row.operation == WireOperation::all_gather);
  CHECK(last.row.pass == ProgramPass::optimizer);
  CHECK(bytes_of(program.ranks.front(), WireOperation::all_gather).size() == 1);
}

TEST_CASE("shards of a node and their copies on other nodes are groups by their ranks") {
  const SentProgram program = sent_by(scenario_of("gpt2", "fsdp2", 16, {"strategy.sharding=hybrid_shard"}));
  CHECK(program.head.groups == std::vector<RankSequence>{{0, 16, 1}, {0, 8, 1}, {0, 2, 8}});
  for (const SentRow& sent : program.ranks.front().rows)
    CHECK(sent.row.group == (sent.row.operation == WireOperation::all_reduce ? 2U : 1U));
}

TEST_CASE("what a stage of a pipeline sends is what its neighbour receives") {
  const SentProgram program =
      sent_by(scenario_of("llama3_2_1b", "", 4, {"parallel.pipeline=4", "parallel.global_batch=8"}));
  REQUIRE(program.ranks.size() == 4);
  for (std::size_t stage = 0; stage + 1 < 4; ++stage) {
    const auto sent = rows_of(program.ranks[stage], ProgramRow::Kind::send);
    const auto received = rows_of(program.ranks[stage + 1], ProgramRow::Kind::receive);
    const auto is_to = [&](const SentRow* row) { return row->row.peer == program.ranks[stage + 1].rank; };
    const auto is_from = [&](const SentRow* row) { return row->row.peer == program.ranks[stage].rank; };
    CHECK(std::ranges::count_if(sent, is_to) == 8);
    CHECK(std::ranges::count_if(received, is_from) == 8);
    CHECK(sent.front()->row.bytes == received.front()->row.bytes);
  }
}

TEST_CASE("a program of messages is written row by row") {
  SentProgram program = sent_by(scenario_of("resnet50", "ddp", 2, {"strategy.broadcast_buffers=false"}));
  program.head.by = "foretrain";
  const std::string text = write_sent_program(program);
  CHECK(text.starts_with("[program]\nformat = 1\nby = \"foretrain\"\nframework = \"ddp\"\nworld = 2\n"));
  CHECK(text.find(
            "\n  { collective = \"all_reduce\", bytes = 8196000, group = 0, pass = \"backward\", stream = "
            "\"NCCL stream\", type = \"f32\", of = \"all_reduce bucket 0\" },\n") != std::string::npos);
}

TEST_CASE("one process that drives several GPUs has no program of ranks") {
  CHECK_THROWS_WITH(sent_by(scenario_of("resnet50", "data_parallel", 2)),
                    Catch::Contains("drives several GPUs from one process"));
}

}  // namespace sent_program_test
