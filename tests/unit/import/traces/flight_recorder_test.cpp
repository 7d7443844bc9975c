// Dumps of PyTorch's flight recorder: what they tell of collectives, and what is refused.
#include <sstream>

#include "sim/import/traces/trace_file.hpp"
#include "sim/import/traces/trace_samples.hpp"
#include "tests/support/catch.hpp"

namespace flight_recorder_test {

using namespace foretrain;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string entry(const std::string& name, const std::string& size, const std::string& more) {
  return R"({"record_id": 1, "process_group": ["0", "default_pg"], "collective_seq_id": 4, "profiling_name": ")" +
         name + R"(", "time_created_ns": 1726000000000000100, "input_sizes": [)" + size +
         R"(], "input_dtypes": ["Float"], "output_sizes": [)" + size + R"(], "output_dtypes": ["Float"], )" +
         more + R"(, "frames": [{"name": "all_reduce", "filename": "a.py", "line": 3}]})";
}

std::string dump(const std::string& entries) {
  return R"({"version": "2.10", "entries": [)" + entries +
         R"(], "nccl_version": "2.21.5", "pg_config": {"0": {"name": "0", "desc": "default_pg",)"
         R"( "ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"}}, "pg_status": {}})";
}

const std::string kTimed = R"("state": "completed", "duration_ms": 0.5, "is_p2p": false)";
const std::string kSlower = R"("state": "completed", "duration_ms": 0.75, "is_p2p": false)";

Trace read(const std::string& text) {
  std::istringstream in(text);
  return *read_trace(in, "dump.json").timed;
}

std::string mistake(const std::string& text) {
  try {
    std::istringstream in(text);
    read_trace(in, "dump.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("each different collective of a dump is kept once, and no more groups than a trace can number") {
  std::string entries, groups;
  for (int i = 1; i <= 3000; ++i)
    entries +=
        (i > 1 ? "," : "") + entry("nccl:all_reduce", "[" + std::to_string((i % 1000) + 1) + "]", kTimed);
  const Trace trace = read(dump(entries));
  CHECK(trace.events.size() == 3000);
  CHECK(trace.collectives.size() == 1000);
  for (int i = 0; i <= 60'000; ++i)
    groups +=
        std::string(i > 0 ? "," : "") + R"({"process_group": [")" + std::to_string(i) +
        R"("], "profiling_name": "nccl:all_reduce", "input_sizes": [[4]], "input_dtypes": ["Float"], )" +
        kTimed + "}";
  CHECK_THAT(mistake(dump(groups)), ContainsSubstring("more than 60000 process groups"));
}

TEST_CASE("collectives of a dump are samples of their groups: the shortest time counts") {
  const std::string text = dump(entry("nccl:all_reduce", "[1024, 256]", kTimed) + "," +
                                entry("nccl:all_reduce", "[1024, 256]", kSlower) + "," +
                                entry("nccl:_all_gather_base", "[64]", kTimed));
  CHECK(looks_like_trace(text));
  const Trace trace = read(text);
  CHECK(trace.nccl_version == "2.21.5");
  CHECK(trace.events.size() == 3);
  LogHints hints;
  hints.nodes = 2;
  const SampleFile samples = trace_samples(trace, hints);
  REQUIRE(samples.samples.size() == 2);
  CHECK(samples.samples[1].what == "all_reduce");
  CHECK(samples.samples[1].bytes == 1024 * 256 * 4);
  CHECK(samples.samples[1].gpus == 8);
  CHECK(samples.samples[1].nodes == 2);
  CHECK(samples.samples[1].value == 500);
  CHECK(samples.samples[1].repeats == 2);
  CHECK(samples.samples[0].what == "all_gather");
}

TEST_CASE("what has no time, no end or no size is left out and told") {
  const Trace trace =
      read(dump(entry("nccl:all_reduce", "[8]", R"("state": "completed")") + "," +
                entry("nccl:all_reduce", "[8]", R"("state": "scheduled", "duration_ms": 1)") + "," +
                entry("nccl:send 0->1", "[8]", R"("state": "completed", "duration_ms": 1, "is_p2p": true)") +
                "," + entry("nccl:whatever", "[8]", kTimed)));
  CHECK(trace.events.empty());
  REQUIRE(trace.notes.size() == 4);
  CHECK_THAT(trace.notes[0], ContainsSubstring("TORCH_NCCL_ENABLE_TIMING=1"));
}

TEST_CASE("a pickle is refused unread, and broken JSON with its place") {
  const std::string pickle("\x80\x04\x95 whatever", 12);
  CHECK(looks_like_trace(pickle));
  CHECK_THAT(mistake(pickle), ContainsSubstring("could run code") && ContainsSubstring("as JSON"));
  CHECK_THAT(mistake(R"({"entries": [{"state": })"), ContainsSubstring("dump.json:1:"));
  CHECK(
      mistake(R"({"entries": [3, "x", {"input_sizes": [[1e300, 1e300], "x"], "duration_ms": -1}]})").empty());
  CHECK(mistake(R"({"entries": [], "pg_config": [1]})").empty());
}

}  // namespace flight_recorder_test
