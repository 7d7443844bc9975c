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

/// Why the first row that could not be read was left out.
std::string why_unread(const std::string& text) {
  const MeasurementFile file = test::read_rows(text).file;
  return file.unread.empty() ? "" : file.unread.front().second;
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
  const MeasurementFile wrong = test::read_rows(columns + row + ",yes\n").file;
  REQUIRE(wrong.unread.size() == 1);
  CHECK(wrong.unread.front().second == "\"yes\" is neither 0 nor 1");
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

TEST_CASE("a mistake in a row of a large model costs that row, with its line and reason") {
  const auto [file, errors] =
      test::read_rows(header() + kRow + "h,,1.5,,,,,,,,,,0,,,,,,,,,H,9,8,n,-1,,,,,\n" + "h,short\n" + kRow);
  CHECK(errors.empty());
  REQUIRE(file.large_models.size() == 2);
  CHECK(file.large_models[1].line == 5);
  REQUIRE(file.unread.size() == 2);
  CHECK(file.unread[0] == std::pair(3, std::string("model is empty")));
  CHECK(file.unread[1].first == 4);
}

TEST_CASE("each number of a row has its limits") {
  CHECK_THAT(why_unread(header() + with("16,2048", "1000000001,2048")),
             ContainsSubstring("layers must be an integer"));
  CHECK_THAT(why_unread(header() + with("H100,1,8", "H100,1,0")),
             ContainsSubstring("gpus must be an integer"));
  CHECK_THAT(why_unread(header() + with("H100,1,8", "H100,,8")),
             ContainsSubstring("nodes must be an integer"));
  CHECK_THAT(why_unread(header() + with("3.26456", "nan")),
             ContainsSubstring("step_time_s must be a number"));
  CHECK_THAT(why_unread(header() + with("50.2", "1e9")), ContainsSubstring("memory_gb must be a number"));
  CHECK_THAT(why_unread(header() + with("nanotron", "")), ContainsSubstring("framework is empty"));
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
  CHECK(errors.empty());
  REQUIRE(file.unread.size() == 1);
  CHECK(file.unread.front().first == 2);
  CHECK(file.large_models.size() == 1);
}

}  // namespace large_model_rows_test
