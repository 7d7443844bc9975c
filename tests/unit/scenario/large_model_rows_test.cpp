// Measured steps of large models: every field, what may be missing, and mistakes under their caret.
#include "sim/scenario/csv/large_model_rows.hpp"

#include <string>

#include <fmt/format.h>

#include "sim/scenario/csv/measurements.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/read_rows.hpp"

namespace large_model_rows_test {

using namespace foretrain;

namespace {

std::string header() { return fmt::format("{}\n", fmt::join(large_model_columns(), ",")); }

/// A row of the playbook's benchmarks, shortened.
const std::string kRow =
    "h,Llama-1B,1342177280,16,2048,32,32,8192,131072,4096,2,256,1,1,1,1,1,8,zero0,none,bf16,H100,1,8,"
    "nanotron,"
    "3.26456,40150,387.884,39.2,50.2,q=A; grad_acc=16\n";

/// The row with another text in place of one of its.
std::string with(const std::string& from, const std::string& to) {
  std::string row = kRow;
  return row.replace(row.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a row of a large model gives every field") {
  const auto [file, errors] = test::read_rows(header() + kRow);
  REQUIRE(errors.empty());
  REQUIRE(file.kind == MeasurementFile::Kind::large_models);
  REQUIRE(file.large_models.size() == 1);
  const LargeModelMeasurement& m = file.large_models[0];
  CHECK(m.source == "h");
  CHECK(m.model == "Llama-1B");
  CHECK(m.params == 1342177280);
  CHECK(m.layers == 16);
  CHECK(m.hidden == 2048);
  CHECK(m.heads == 32);
  CHECK(m.kv_heads == 32);
  CHECK(m.ffn == 8192);
  CHECK(m.vocab == 131072);
  CHECK(m.seq_len == 4096);
  CHECK(m.micro_batch == 2);
  CHECK(m.global_batch == 256);
  CHECK(m.tp == 1);
  CHECK(m.dp == 8);
  CHECK(m.sharding == "zero0");
  CHECK(m.recompute == "none");
  CHECK(m.precision == "bf16");
  CHECK(m.gpu == "H100");
  CHECK(m.nodes == 1);
  CHECK(m.gpus == 8);
  CHECK(m.framework == "nanotron");
  CHECK(m.step_s == 3.26456);
  CHECK(m.memory_gb == 50.2);
  CHECK_FALSE(m.fits);
  CHECK(m.line == 2);
}

TEST_CASE("what a source does not tell is empty") {
  const auto [file, errors] =
      test::read_rows(header() + "h,GPT,,,,,,,,,,,,,,,,,,,,V100,2,8,megatron,,,,,,\n");
  REQUIRE(errors.empty());
  REQUIRE(file.large_models.size() == 1);
  const LargeModelMeasurement& m = file.large_models[0];
  for (const auto& field : {m.params, m.layers, m.hidden, m.heads, m.kv_heads, m.ffn, m.vocab, m.seq_len,
                            m.micro_batch, m.global_batch, m.tp, m.pp, m.vpp, m.cp, m.ep, m.dp})
    CHECK_FALSE(field);
  CHECK(m.step_s == 0);
  CHECK(m.memory_gb == 0);
  CHECK(m.notes.empty());
}

TEST_CASE("whether a row fits is read where its column is there") {
  const std::string columns = fmt::format("{},fits\n", fmt::join(large_model_columns(), ","));
  const std::string row = kRow.substr(0, kRow.size() - 1);
  const auto [file, errors] = test::read_rows(columns + row + ",1\n" + row + ",0\n" + row + ",\n");
  REQUIRE(errors.empty());
  REQUIRE(file.large_models.size() == 3);
  CHECK(file.large_models[0].fits == true);
  CHECK(file.large_models[1].fits == false);
  CHECK_FALSE(file.large_models[2].fits);
  CHECK_THAT(test::read_rows(columns + row + ",yes\n").errors,
             ContainsSubstring("\"yes\" is neither 0 nor 1"));
}

TEST_CASE("notes are asked for by their key, whole words of it") {
  LargeModelMeasurement m;
  m.notes = "q=A; freq=3 grad_acc=16;mode=pure";
  CHECK(m.noted("q") == "A");
  CHECK(m.noted("grad_acc") == "16");
  CHECK(m.noted("mode") == "pure");
  CHECK(m.noted("acc").empty());  // the end of another
  CHECK(m.noted("colour").empty());
  m.notes = "freq=3";
  CHECK(m.noted("q").empty());
}

TEST_CASE("wrong fields of a row of a large model are reported with the caret under them") {
  CHECK(test::read_rows(header() + "h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n").errors ==
        "m.csv:2:3: error: model is empty\n"
        "  2 | h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n"
        "    |   ^\n"
        "m.csv:2:4: error: params must be an integer from 1 to 1125899906842624\n"
        "  2 | h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n"
        "    |    ^^^\n"
        "m.csv:2:17: error: tp must be an integer from 1 to 10000000\n"
        "  2 | h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n"
        "    |                 ^\n"
        "m.csv:2:29: error: 9 nodes for 8 GPUs\n"
        "  2 | h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n"
        "    |                             ^\n"
        "  hint: every node in use has at least one GPU of the job\n"
        "m.csv:2:35: error: step_time_s must be a number more than zero\n"
        "  2 | h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n"
        "    |                                   ^^\n"
        "5 errors\n");
}

TEST_CASE("each number of a row has its limits") {
  CHECK_THAT(test::read_rows(header() + with("16,2048", "1000000001,2048")).errors,
             ContainsSubstring("layers must be an integer"));
  CHECK_THAT(test::read_rows(header() + with("H100,1,8", "H100,1,0")).errors,
             ContainsSubstring("gpus must be an integer"));
  CHECK_THAT(test::read_rows(header() + with("H100,1,8", "H100,,8")).errors,
             ContainsSubstring("nodes must be an integer"));
  CHECK_THAT(test::read_rows(header() + with("3.26456", "nan")).errors,
             ContainsSubstring("step_time_s must be a number"));
  CHECK_THAT(test::read_rows(header() + with("50.2", "1e9")).errors,
             ContainsSubstring("memory_gb must be a number"));
  CHECK_THAT(test::read_rows(header() + with("nanotron", "")).errors,
             ContainsSubstring("framework is empty"));
}

TEST_CASE("columns that are missing or unknown are told of") {
  const std::string most = "source,model,tp,step_time_s,colour\n";
  const std::string errors = test::read_rows(most + "h,m,1,1,red\n").errors;
  CHECK_THAT(errors, ContainsSubstring("m.csv:1:"));
  CHECK_THAT(errors, ContainsSubstring("colour"));
  CHECK_THAT(errors, ContainsSubstring("layers"));
}

TEST_CASE("a row with too few fields is a mistake of its own") {
  const auto [file, errors] = test::read_rows(header() + "h,Llama-1B,1342177280\n" + kRow);
  CHECK_THAT(errors, ContainsSubstring("m.csv:2:"));
  CHECK(file.large_models.size() == 1);
}

}  // namespace large_model_rows_test
