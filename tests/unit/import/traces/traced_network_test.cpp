// Steps are found, work is linked to who asked for it, and a step becomes a network.
#include "sim/import/traces/traced_network.hpp"

#include <sstream>

#include "sim/import/traces/recording_host.hpp"
#include "sim/import/traces/trace_samples.hpp"
#include "sim/import/traces/traced_parameters.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/traces/trace_text.hpp"

namespace traced_network_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Three steps of 100 us, each with three kernels; `marked` says how.
std::string steps(bool profiler, bool optimizer) {
  std::string out;
  for (int i = 0; i < 3; ++i) {
    const double t = 1000 + 100 * i;
    out += (i == 0 ? "" : ",") + launched("a", 4 * i + 1, t, t + 10, 5) + "," +
           launched("b", 4 * i + 2, t + 10, t + 20, 5) + "," + launched("c", 4 * i + 3, t + 20, t + 30, 5) +
           "," + launched("d", 4 * i + 4, t + 30, t + 40, 5);
    if (profiler) out += "," + mark("ProfilerStep#" + std::to_string(i), t - 1, 99);
    if (optimizer) out += "," + mark("Optimizer.step#SGD.step", t + 50, 10);
  }
  return out;
}

/// Forward of one operator with shapes, its backward node, the gradient, and the optimizer.
std::string training() {
  std::string out;
  for (int i = 0; i < 2; ++i) {
    const double t = 1000 + 200 * i;
    const std::string sequence = "\"Sequence number\":" + std::to_string(i);
    const std::string sizes = R"("Input Dims":[[8,4],[2,4],[2]],"Input type":["float","float","float"])";
    out += (i == 0 ? "" : ",") + mark("ProfilerStep#" + std::to_string(i), t, 200) + "," +
           op("aten::linear", 1, t + 10, 20, sequence + "," + sizes) + "," +
           launched("gemm", 9 * i + 1, t + 15, t + 30, 7) + "," +
           op("autograd::engine::evaluate_function: AddmmBackward0", 2, t + 50, 20, sequence) + "," +
           R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":2,"ts":)" +
           std::to_string(t + 55) + R"(,"dur":2,"args":{"correlation":)" + std::to_string(9 * i + 2) + "}}," +
           R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":)" + std::to_string(t + 60) +
           R"(,"dur":11,"args":{"device":0,"stream":7,"correlation":)" + std::to_string(9 * i + 2) + "}}," +
           op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 2, t + 75, 5) + "," +
           op("torch::autograd::AccumulateGrad", 2, t + 76, 3,
              R"("Input Dims":[[2,4]],"Input type":["float"])") +
           "," + mark("Optimizer.step#SGD.step", t + 100, 20) + "," +
           op("aten::_foreach_add_", 1, t + 101, 10) + "," + launched("sgd", 9 * i + 3, t + 105, t + 110, 3);
  }
  return out;
}

}  // namespace

TEST_CASE("steps are those of the profiler's marks, from one's begin to the next's") {
  const TraceSteps found = find_steps(read_events(steps(true, true)));
  REQUIRE(found.steps.size() == 3);
  CHECK(found.steps[0].name == "ProfilerStep#0");
  CHECK(found.steps[0].length() == 100'000);
  CHECK(found.steps[2].length() == 99'000);
}

TEST_CASE("without marks a step goes from the end of one optimizer's step to that of the next") {
  const TraceSteps found = find_steps(read_events(steps(false, true)));
  REQUIRE(found.steps.size() == 2);
  CHECK(found.found_by == "Optimizer.step#");
  CHECK(found.steps[0].begin == 1'060'000);
  CHECK(found.steps[0].length() == 100'000);
}

TEST_CASE("without any mark a step is the period of the kernels") {
  const TraceSteps found = find_steps(read_events(steps(false, false)));
  REQUIRE(found.steps.size() == 2);
  CHECK(found.found_by == "kernels that repeat");
  CHECK(found.steps[0].length() == 100'000);
  CHECK(find_steps(read_events(launched("a", 1, 1, 2, 3))).steps.empty());
}

TEST_CASE("long first steps are left out until the typical one of the rest is near") {
  const auto found = [](const std::vector<int>& lengths) {
    std::string text;
    double at = 0;
    for (std::size_t i = 0; i < lengths.size(); at += lengths[i++])
      text += (i == 0 ? "" : ",") + mark("ProfilerStep#" + std::to_string(i), at, lengths[i]);
    return find_steps(read_events(text));
  };
  CHECK(found({100, 10, 10, 10, 10}).left_out == 1);
  CHECK(found({400, 100, 10, 10, 10, 10}).left_out == 2);
  // 400 and 101 are longer than three times 33; then three steps are left, which is too few to go on.
  CHECK(found({400, 101, 33, 11, 10}).left_out == 2);
  CHECK(found({30, 10, 10, 10}).left_out == 0);
}

TEST_CASE("a kernel belongs to the innermost and the outermost operator that were open at its launch") {
  const Trace trace = read_events(op("aten::conv2d", 1, 10, 30) + "," + op("aten::convolution", 1, 12, 20) +
                                  "," + launched("k", 5, 15, 50, 9) + "," + launched("alone", 6, 45, 60, 9));
  const std::vector<TraceLink> links = link_activities(trace);
  REQUIRE(links.size() == 2);
  CHECK(trace.name_of(trace.events[links[0].op]) == "aten::convolution");
  CHECK(trace.name_of(trace.events[links[0].outer]) == "aten::conv2d");
  CHECK(links[1].op == TraceLink::kNone);
  CHECK(asked_at(trace, links[0]) == 15'000);
}

TEST_CASE("a step of one GPU is its operators with their kernels, without the optimizer") {
  const Trace trace = read_events(training());
  const TracedStep step = traced_step(trace, find_steps(trace));
  REQUIRE(step.operators.size() == 2);
  CHECK(step.operators[0].name == "aten::linear");
  CHECK(step.operators[0].gpu == 7'000);
  CHECK(step.operators[0].host == 20'000);
  CHECK(step.operators[1].node == "AddmmBackward0");
  CHECK(step.operators[1].gpu == 11'000);
  CHECK(step.operators[1].host == 25'000 + 5'000);  // the node and the way to the next, and the accumulation
  CHECK(step.operators[1].ready == 1);
  CHECK(step.optimizer.gpu == 3'000);
  CHECK(step.optimizer_name == "SGD");
}

TEST_CASE("a traced network is a model file with the batch of its first input") {
  const Trace trace = read_events(training());
  const ImportedModel made = traced_network(trace, {});
  CHECK_THAT(made.text, ContainsSubstring("batch = 8\n"));
  CHECK_THAT(made.text, ContainsSubstring("{ name = \"parameter.0\", size = \"f32[2,4]\" }"));
  CHECK_THAT(made.text, ContainsSubstring("kernels = 1, time = \"11 us\""));
  const SourceText source{"made", made.text};
  const ModelFile file = read_or_throw(source, read_model_file);
  CHECK(file.expanded.parameter_elements() == 8);
  CHECK(file.expanded.gradient_ready_order() == std::vector<std::uint32_t>{0});
}

TEST_CASE("a trace without steps, without backward, without sizes says all that is missing and what to do") {
  const auto why = [](const std::string& events) {
    try {
      traced_network(read_events(events), {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(why(launched("a", 1, 1, 2, 3)), ContainsSubstring("has no training steps"));
  CHECK_THAT(why(steps(true, false)), ContainsSubstring("has no backward pass"));
  CHECK_THAT(why(steps(true, false)), ContainsSubstring("--batch 32"));
}

TEST_CASE("parameters are in the order of the optimizer's list, gradients in autograd's") {
  const TracedParameters known =
      ordered_parameters({"f32[5]", "f32[3]", "f32[3]"}, {{"f32[3]", "f32[3]", "f32[5]", "f32[3]"}});
  CHECK(known.sizes == std::vector<std::string>{"f32[3]", "f32[3]", "f32[5]"});
  CHECK(known.of_ready == std::vector<std::size_t>{2, 1, 0});
  const TracedParameters assumed = ordered_parameters({"f32[5]", "f32[3]"}, {});
  CHECK(assumed.sizes == std::vector<std::string>{"f32[3]", "f32[5]"});
}

TEST_CASE("without shapes gradients fill their buckets, which close where they did") {
  TracedStep step;
  step.operators.resize(1);
  step.operators[0].node = "N";
  step.operators[0].ready = 3;
  step.operators[0].ready_sizes = {"", "", ""};
  step.buckets = {{2, 4 * 3'000'000}, {1, 4 * 500}};
  const SourceText source{"t", ""};
  Diagnostics diagnostics(source);
  const TracedParameters parameters = traced_parameters(step, {}, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(parameters.sizes == std::vector<std::string>{"f32[500]", "f32[2868928]", "f32[131072]"});
  step.buckets.clear();
  CHECK(traced_parameters(step, {}, diagnostics).sizes.empty());
  CHECK(!diagnostics.empty());
  ModelImportOptions options;
  options.parameters = 10;
  CHECK(traced_parameters(step, options, diagnostics).sizes.size() == 3);
}

TEST_CASE("the profiler's time of each operator and the host's own are told apart") {
  TracedStep step;
  const auto add = [&step](std::string name, int kernels, int ops, double host_us) {
    TracedOperator op;
    op.name = std::move(name), op.kernels = kernels, op.ops = ops,
    op.host = static_cast<std::int64_t>(host_us * 1e3);
    step.operators.push_back(std::move(op));
  };
  // conv2d (4.55 + 10) 1.8 + 2.5 = 28.69 us on the reference CPU, relu (1.9 + 1) 1.8 + 2.5 = 7.72 us: twice
  // as long on this host, and 10 us for each operator recorded.
  add("aten::conv2d", 1, 4, 2 * 28.69 + 40);
  add("aten::relu", 1, 1, 2 * 7.72 + 10);
  const RecordingHost host = recording_host(step);
  CHECK(host.slowdown == Approx(2).epsilon(1e-3));
  CHECK(host.per_op_us == Approx(10).epsilon(1e-2));
}

TEST_CASE("collectives of a trace are samples with their shortest time") {
  const std::string said =
      R"("Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"dtype":"Float","Group size":2)";
  const Trace trace = read_events(launched("ncclDevKernel_AllReduce(x)", 1, 1, 2, 30, 20, said) + "," +
                                  launched("ncclDevKernel_AllReduce(x)", 2, 40, 50, 20, 20, said) + "," +
                                  launched("ncclDevKernel_AllReduce(x)", 3, 80, 90, 20, 20));
  const SampleFile file = trace_samples(trace, {});
  REQUIRE(file.samples.size() == 1);
  CHECK(file.samples[0].what == "all_reduce");
  CHECK(file.samples[0].bytes == 4000);
  CHECK(file.samples[0].gpus == 2);
  CHECK(file.samples[0].value == Approx(20));
  REQUIRE(file.skipped.size() == 1);
  CHECK_THAT(file.skipped[0].why, ContainsSubstring("1 collective do not say"));
}

TEST_CASE("an execution trace becomes a network with sizes and settings") {
  const std::string nodes = R"j({"schema":"1.1.0-chakra.0.0.4","nodes":[
    {"id":2,"name":"aten::convolution","ctrl_deps":1,
     "inputs":{"values":[[1,2,0,9,4,"cuda:0"],[1,2,0,9,4,"cuda:0"],[1,0,0,0,0,""],[2,2],[3,3],[1,1],false,[0,0],1],
       "shapes":[[8,3,9,9],[4,3,7,7],[],[[],[]],[[],[]],[[],[]],[],[[],[]],[]],
       "types":["Tensor(float)","Tensor(float)","Tensor(nullptr (uninitialized))","GenericList[Int,Int]","GenericList[Int,Int]","GenericList[Int,Int]","Bool","GenericList[Int,Int]","Int"]},
     "outputs":{"values":[],"shapes":[[8,4,5,5]],"types":["Tensor(float)"]},"attrs":[{"name":"tid","type":"uint64","value":1}]
},
    {"id":5,"name":"autograd::engine::evaluate_function: ConvolutionBackward0","ctrl_deps":1,"inputs":{},"outputs":{},"attrs":[]},
    {"id":6,"name":"aten::convolution_backward","ctrl_deps":5,
     "inputs":{"values":[],"shapes":[[8,4,5,5]],"types":["Tensor(float)"]},
     "outputs":{"values":[],"shapes":[[4,3,7,7]],"types":["Tensor(float)"]},"attrs":[]},
    {"id":8,"name":"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad","ctrl_deps":1,"inputs":{},"outputs":{},"attrs":[]},
    {"id":9,"name":"torch::autograd::AccumulateGrad","ctrl_deps":8,
     "inputs":{"values":[],"shapes":[[4,3,7,7]],"types":["Tensor(float)"]},"outputs":{},"attrs":[]}]
})j";
  const ImportedModel made = traced_network(read_text(nodes), {});
  CHECK_THAT(made.text, ContainsSubstring("batch = 8\n"));
  CHECK_THAT(
      made.text,
      ContainsSubstring(
          R"(op = "aten::convolution", in = ["f32[8,3,9,9]", "f32[4,3,7,7]"], out = ["f32[8,4,5,5]"], with = { stride = [2,2], padding = [3,3], dilation = [1,1], transposed = false, groups = 1 })"));
  CHECK_THAT(made.text, ContainsSubstring("ready = [0]"));
  const SourceText source{"made", made.text};
  CHECK(read_or_throw(source, read_model_file).expanded.parameter_elements() == 4 * 3 * 7 * 7);
}

}  // namespace traced_network_test
