// Traces as bytes, JSON and protobuf: what is kept of them, and what is refused before it does harm.
#include "sim/import/traces/chakra_et.hpp"
#include "sim/import/traces/json_stream.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/traces/trace_text.hpp"

namespace trace_reading_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a trace keeps operators, launches and kernels, and nothing of flows, frames and counters") {
  const Trace trace = read_events(op("aten::relu", 1, 10, 5, R"("External id":3,"Sequence number":7)") +
                                  ",\n" + launched("k", 9, 11, 20, 4) + R"j(,
      {"ph":"f","cat":"ac2g","id":9,"pid":0,"tid":7,"ts":20,"name":"ac2g"},
      {"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":1,"dur":2},
      {"ph":"X","cat":"cuda_runtime","name":"cudaGetDevice","pid":1,"tid":1,"ts":1,"dur":2},
      {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
      {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"x","ts":0,"dur":9})j");
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.gpu == "NVIDIA A100-SXM4-40GB");
  CHECK(trace.notes.empty());
  const TraceEvent& call = trace.events[0];
  CHECK((call.start == 10'000 && call.duration == 5'000 && call.external == 3 && call.sequence == 7));
  CHECK(trace.events[2].correlation == 9);
  CHECK(trace.lanes[trace.events[2].lane].is_stream);
}

TEST_CASE("microseconds with decimals are whole nanoseconds, however large they are") {
  const Trace trace = read_events(
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1695835542514261.123,"dur":0.0029,"args":{}})");
  CHECK(trace.events.front().start == 1'695'835'542'514'261'123);
  CHECK(trace.events.front().duration == 2);
}

TEST_CASE("events come in any order and leave in that of their start") {
  const Trace trace = read_events(op("b", 1, 5, 1) + "," + op("a", 1, 2, 9) + "," + op("c", 1, 2, 10));
  CHECK(trace.name_of(trace.events[0]) == "c");
  CHECK(trace.name_of(trace.events[1]) == "a");
  CHECK(trace.name_of(trace.events[2]) == "b");
}

TEST_CASE("what cannot be used is left out and counted, with the place of the first") {
  const Trace trace = read_events(op("a", 1, 5, -1) + ",\n" + op("a", 1, 5, -2) + R"(,
    {"ph":"?","cat":"cpu_op","name":"a"}, 7,
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":"late","dur":1},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1e300,"dur":1})");
  CHECK(trace.events.empty());
  REQUIRE(trace.notes.size() == 4);
  CHECK(trace.notes[0].starts_with("2 events of a negative duration are left out, the first in line 1"));
  CHECK(trace.notes[1].starts_with("1 events of unknown phases"));
  CHECK(trace.notes[2].starts_with("1 events that are no objects"));
  CHECK(trace.notes[3].starts_with("2 events without a time"));
}

TEST_CASE("a packed trace is the same as the plain one, also in several members") {
  const std::string text = kineto(op("aten::relu", 1, 10, 5));
  CHECK(read_text(gzipped(text)).timed->events.size() == 1);
  CHECK(read_text(gzipped(text.substr(0, 40)) + gzipped(text.substr(40))).timed->events.size() == 1);
}

TEST_CASE("a packed trace that was cut short or damaged is refused") {
  const std::string packed = gzipped(kineto(op("aten::relu", 1, 10, 5)));
  CHECK_THAT(refused(packed.substr(0, packed.size() / 2)), ContainsSubstring("ends in the middle"));
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // in the check sum
  CHECK_THAT(refused(damaged), ContainsSubstring("damaged"));
}

TEST_CASE("what unpacks to more than a trace may hold is given up") {
  const std::string text = kineto(op("aten::relu", 1, 10, 5));
  TraceLimits small;
  small.bytes = 100;
  CHECK_THAT(refused(gzipped(text), small), ContainsSubstring("holds more than"));
  TraceLimits dense;
  dense.ratio_from = 50;
  dense.ratio = 1;
  CHECK(refused(gzipped(text), dense).empty());  // stored: less than once
}

TEST_CASE("text that is no JSON is refused at its line and column") {
  CHECK_THAT(refused("{\"traceEvents\": [\n  {\"ph\" \"X\"}]}"), ContainsSubstring("t.json:2:9: error"));
  CHECK_THAT(refused("{\"traceEvents\": [{\"ph\": \"X\""), ContainsSubstring("the file ends where"));
  CHECK_THAT(refused("{\"a\": 1}"), ContainsSubstring("is JSON, but no trace"));
  CHECK_THAT(refused("hello"), ContainsSubstring("is no trace"));
  CHECK_THAT(refused(""), ContainsSubstring("is empty"));
}

TEST_CASE("deep nesting, long strings and long numbers are refused before they fill memory") {
  const std::string deep(100, '['), digits(500, '9');
  CHECK_THAT(refused("{\"traceEvents\": " + deep), ContainsSubstring("nested deeper than 64"));
  CHECK_THAT(refused(kineto("{\"ts\":" + digits + "}")), ContainsSubstring("more than 400 signs"));
  const std::string name(JsonStream::kLongestString + 1, 'x');
  CHECK_THAT(refused(kineto("{\"name\":\"" + name + "\"}")), ContainsSubstring("string above 16 MiB"));
}

TEST_CASE("too many events and too many names are refused") {
  TraceLimits few;
  few.events = 1;
  CHECK_THAT(refused(kineto(op("a", 1, 1, 1) + "," + op("a", 1, 2, 1)), few),
             ContainsSubstring("more than 1 events"));
  few.names = 1;
  few.events = 9;
  CHECK_THAT(refused(kineto(op("a", 1, 1, 1) + "," + op("b", 1, 2, 1)), few),
             ContainsSubstring("too many different names"));
}

TEST_CASE("a record has 40 bytes, and as many are kept as the trace has events that matter") {
  std::string events;
  for (int i = 0; i < 1000; ++i)
    events += (i == 0 ? "" : ",") + op("aten::add", 1, i, 1) +
              R"(,{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":1,"dur":2})";
  const Trace trace = read_events(events);
  CHECK(trace.events.size() == 1000);
  CHECK(trace.names.size() == 1);
}

TEST_CASE("collectives are told by what kernels say, in nccl-tests' words") {
  const Trace trace = read_events(launched(
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 1, 1, 2, 3, 20,
      R"("Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"dtype":"Float","Group size":2)"));
  REQUIRE(trace.collectives.size() == 1);
  CHECK(trace.collectives[0].op == "all_reduce");
  CHECK(trace.collectives[0].in_bytes() == 4000);
  CHECK(trace.collectives[0].ranks == 2);
  CHECK(collective_of("ncclKernel_ReduceScatter_RING_LL_Sum_half(ncclDevComm*)") == "reduce_scatter");
  CHECK(collective_of("_allgather_base") == "all_gather");
  CHECK(collective_of("ncclDevKernel_SendRecv(ncclDevComm*)") == "sendrecv");
}

TEST_CASE("types of tensors are known by the names of several versions") {
  CHECK(short_type_of("c10::BFloat16") == "bf16");
  CHECK(short_type_of("Tensor(float)") == "f32");
  CHECK(short_type_of("long int") == "i64");
  CHECK(short_type_of("Scalar").empty());
  CHECK(element_bytes_of("Long") == 8);
}

// A field of a protobuf message, as it is in files.
std::string field(int number, int kind) { return std::string(1, static_cast<char>(number << 3 | kind)); }
std::string text_field(int number, const std::string& text) {
  return field(number, 2) + static_cast<char>(text.size()) + text;
}
std::string message(const std::string& text) { return static_cast<char>(text.size()) + text; }

TEST_CASE("a Chakra trace is read by the numbers of its fields") {
  const std::string attribute = text_field(1, "comm_size") + field(9, 0) + "\x64";
  const std::string type = text_field(1, "comm_type") + field(9, 0) + '\0';
  const std::string sizes = text_field(2, "[[4, 3], []]") + text_field(3, "['Tensor(float)', 'Int']");
  const std::string file = message(text_field(1, "0.0.4")) +
                           message(field(1, 0) + "\x07" + text_field(2, "aten::relu") + field(3, 0) + "\x04" +
                                   text_field(8, sizes)) +
                           message(field(1, 0) + "\x08" + text_field(2, "grad") + field(3, 0) + "\x07" +
                                   text_field(10, attribute) + text_field(10, type));
  REQUIRE(is_chakra(file));
  const ExecutionTrace trace = *read_text(file).executions;
  CHECK(trace.schema == "Chakra 0.0.4");
  REQUIRE(trace.nodes.size() == 2);
  CHECK(trace.nodes[0].id == 7);
  CHECK(trace.text(trace.nodes[0].name) == "aten::relu");
  CHECK(trace.text(trace.nodes[0].inputs) == "f32[4,3]");
  REQUIRE(trace.nodes[1].collective == 1);
  CHECK(trace.collectives[0].op == "all_reduce");
  CHECK(trace.collectives[0].in_bytes() == 100);
  CHECK_THAT(refused(file.substr(0, file.size() - 3)), ContainsSubstring("a length beyond the end"));
}

TEST_CASE("text with a short first line is not taken for a Chakra trace") {
  CHECK(!is_chakra("x\nabc"));
  CHECK(!is_chakra("size\n12"));
  CHECK(!is_chakra(""));
}

}  // namespace trace_reading_test
