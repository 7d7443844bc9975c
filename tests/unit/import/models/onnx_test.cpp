// ONNX graphs: published ones of ../shared against the catalog, small ones of our own against arithmetic, and
// files that are none.
#include <filesystem>

#include "sim/scenario/toml/reader.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/import/models/imported.hpp"
#include "tests/unit/import/models/onnx_writer.hpp"

namespace onnx_test {

using namespace foretrain;
using namespace foretrain::test;
namespace fs = std::filesystem;

namespace {

const fs::path kSamples = FORETRAIN_SOURCE_DIR "/../shared/samples/onnx";

std::string sample(const std::string& name) {
  return read_text_file((kSamples / name).string(), kLargestModelFile).text;
}

double per_sample_bytes(const ExpandedModel& model) { return model.saved_bytes.per_sample; }

/// [2, 3, 8, 8] through a convolution, a norm, a shortcut, and a classifier with the softmax behind it.
OnnxWriter small_network() {
  OnnxWriter graph;
  graph.input("x", {2, 3, 8, 8});
  graph.weight("w", {4, 3, 3, 3});
  for (const char* name : {"gain", "shift", "mean", "variance"}) graph.weight(name, {4});
  graph.weight("head", {5, 4}), graph.weight("bias", {5});
  graph.node("Conv", {"x", "w"}, "c", {OnnxWriter::numbers("pads", {1, 1, 1, 1})});
  graph.node("BatchNormalization", {"c", "gain", "shift", "mean", "variance"}, "n");
  graph.node("Relu", {"n"}, "r");
  graph.node("Add", {"r", "n"}, "s");
  graph.node("GlobalAveragePool", {"s"}, "p");
  graph.node("Flatten", {"p"}, "f");
  graph.node("Gemm", {"f", "head", "bias"}, "y", {OnnxWriter::one("transB", 1)});
  graph.node("Softmax", {"y"}, "out");
  graph.output("out");
  return graph;
}

/// Attention of two heads of 4 over 6 ids, as exporters write it, with a GELU of five nodes and a norm of
/// nine.
OnnxWriter transformer() {
  OnnxWriter graph;
  graph.input("ids", {0, 6}, 7);
  graph.weight("table", {50, 8}), graph.weight("places", {6, 8});
  for (const char* name : {"wq", "wk", "wv", "wo"})
    graph.weight(name, {8, 8}), graph.weight(std::string(name) + "b", {8});
  graph.weight("up", {8, 16}), graph.weight("upb", {16}), graph.weight("down", {16, 8}),
      graph.weight("downb", {8});
  graph.weight("gain", {8}), graph.weight("shift", {8});
  for (const char* name : {"two", "eps", "root", "one", "half", "eight"}) graph.weight(name, {});
  graph.shape("heads", {0, 0, 2, 4}), graph.shape("rows", {0, 0, 8});
  graph.node("Gather", {"table", "ids"}, "e");
  graph.node("Add", {"e", "places"}, "x");
  for (const char* name : {"q", "k", "v"}) {
    const std::string n = name;
    graph.node("MatMul", {"x", "w" + n}, n + "1");
    graph.node("Add", {"w" + n + "b", n + "1"}, n + "2");
    graph.node("Reshape", {n + "2", "heads"}, n + "3");
    graph.node("Transpose", {n + "3"}, n,
               {OnnxWriter::numbers("perm",
                                    n == "k" ? OnnxWriter::Dims{0, 2, 3, 1} : OnnxWriter::Dims{0, 2, 1, 3})});
  }
  graph.node("MatMul", {"q", "k"}, "s1");
  graph.node("Div", {"s1", "eight"}, "s2");
  graph.node("Softmax", {"s2"}, "s");
  graph.node("MatMul", {"s", "v"}, "c1");
  graph.node("Transpose", {"c1"}, "c2", {OnnxWriter::numbers("perm", {0, 2, 1, 3})});
  graph.node("Reshape", {"c2", "rows"}, "c3");
  graph.node("MatMul", {"c3", "wo"}, "o1");
  graph.node("Add", {"o1", "wob"}, "o2");
  graph.node("Add", {"o2", "x"}, "y");
  graph.node("ReduceMean", {"y"}, "m", {OnnxWriter::numbers("axes", {-1})});
  graph.node("Sub", {"y", "m"}, "d");
  graph.node("Pow", {"d", "two"}, "d2");
  graph.node("ReduceMean", {"d2"}, "var", {OnnxWriter::numbers("axes", {-1})});
  graph.node("Add", {"var", "eps"}, "var2");
  graph.node("Sqrt", {"var2"}, "dev");
  graph.node("Div", {"d", "dev"}, "n1");
  graph.node("Mul", {"n1", "gain"}, "n2");
  graph.node("Add", {"n2", "shift"}, "n");
  graph.node("MatMul", {"n", "up"}, "u1");
  graph.node("Add", {"u1", "upb"}, "u");
  graph.node("Div", {"u", "root"}, "g1");
  graph.node("Erf", {"g1"}, "g2");
  graph.node("Add", {"g2", "one"}, "g3");
  graph.node("Mul", {"u", "g3"}, "g4");
  graph.node("Mul", {"g4", "half"}, "g");
  graph.node("MatMul", {"g", "down"}, "z1");
  graph.node("Add", {"z1", "downb"}, "z");
  graph.output("z");
  return graph;
}

}  // namespace

TEST_CASE("the published ResNet-50 graph is the catalog's network") {
  if (!fs::exists(kSamples)) FORETRAIN_SKIP("../shared/samples is not there");
  const ExpandedModel graph = network_of(sample("light_resnet50.onnx")), catalog = model_file("resnet50");
  CHECK(graph.parameter_elements() == catalog.parameter_elements());
  CHECK(graph.parameters.size() == catalog.parameters.size());
  CHECK(graph.forward_flops().per_sample == catalog.forward_flops().per_sample);
  CHECK(graph.backward_flops().per_sample == Approx(catalog.backward_flops().per_sample).epsilon(0.001));
  CHECK(graph.buffers.size() == catalog.buffers.size());
}

TEST_CASE("the published AlexNet graph has Caffe's parameters and products") {
  if (!fs::exists(kSamples)) FORETRAIN_SKIP("../shared/samples is not there");
  const ImportedModel made = imported(sample("light_bvlc_alexnet.onnx"));
  const ExpandedModel graph = expanded_text(made);
  // bvlc_alexnet.caffemodel: 60,965,224; torchvision's has other widths, no groups and no local norms.
  CHECK(graph.parameter_elements() == 60'965'224);
  // 2 x positions x weights of a position and filter, and the biases: 224 pixels make 54 x 54 with a kernel
  // of 11.
  const double convolutions =
      54. * 54 * 96 * (2 * 363 + 1) + 26. * 26 * 256 * (2 * 1200 + 1) +
      12. * 12 * (384. * (2 * 2304 + 1) + 384. * (2 * 1728 + 1) + 256. * (2 * 1728 + 1));
  const double linear = 4096. * (2 * 9216 + 1) + 4096. * (2 * 4096 + 1) + 1000. * (2 * 4096 + 1);
  CHECK(graph.forward_gemm_flops().per_sample == Approx(convolutions + linear).epsilon(1e-9));
  CHECK(remarks(made, "LRN (2 times)"));
}

TEST_CASE("a small graph becomes the layers that it was exported from") {
  const ImportedModel made = imported(small_network().file());
  const ExpandedModel graph = expanded_text(made);
  CHECK(graph.parameter_elements() == 4 * 27 + 8 + 25);
  CHECK(graph.input_elements == 3 * 8 * 8);
  CHECK(graph.forward_gemm_flops().per_sample == 2. * 64 * 4 * 27 + (2 * 4 + 1) * 5);
  CHECK(remarks(made, "the softmax at the end is part of the loss"));
  CHECK_FALSE(remarks(made, "no norm is in the graph"));
}

TEST_CASE("attention, norm and activation of many nodes are found in a graph") {
  const ImportedModel made = imported(transformer().file());
  const ExpandedModel graph = expanded_text(made);
  CHECK(graph.parameter_elements() == 50 * 8 + 6 * 8 + 4 * (64 + 8) + 16 + (8 * 16 + 16) + (16 * 8 + 8));
  CHECK_THAT(made.text, ContainsSubstring("type = \"layer_norm\""));
  CHECK_THAT(made.text, ContainsSubstring("type = \"gelu\""));
  CHECK_FALSE(remarks(made, "no formula"));
  double batched = 0;
  for (const Operator& op : graph.forward)
    batched += op.cls == OperatorClass::attention ? op.flops.per_sample : 0;
  CHECK(batched == 2 * (2. * 6 * 6 * 8));  // two products of 2 s^2 h
  CHECK(per_sample_bytes(graph) > 0);
}

TEST_CASE("a weight that two nodes use is one parameter") {
  OnnxWriter graph;
  graph.input("ids", {0, 6}, 7);
  graph.weight("words", {50, 8}), graph.weight("square", {8, 8});
  graph.node("Gather", {"words", "ids"}, "e");
  graph.node("MatMul", {"e", "square"}, "a");
  graph.node("MatMul", {"a", "square"}, "b");
  graph.output("b");
  CHECK(network_of(graph.file()).parameter_elements() == 50 * 8 + 64);
}

TEST_CASE("a recurrent layer has the batch second, and its length first") {
  OnnxWriter graph;
  graph.input("x", {5, 0, 3}), graph.weight("w", {1, 24, 3}), graph.weight("r", {1, 24, 6}),
      graph.weight("b", {1, 48});
  graph.node("LSTM", {"x", "w", "r", "b"}, "y", {OnnxWriter::one("hidden_size", 6)});
  graph.node("Squeeze", {"y"}, "z", {OnnxWriter::numbers("axes", {1})});
  graph.output("z");
  const ExpandedModel model = network_of(graph.file());
  CHECK(model.parameter_elements() == 24 * 3 + 24 * 6 + 48);
  CHECK(model.input_elements == 15);
}

TEST_CASE("an operator without a formula counts by its bytes, and is named") {
  OnnxWriter graph;
  graph.input("x", {1, 16});
  graph.weight("w", {16, 4});
  graph.node("MatMul", {"x", "w"}, "h");
  graph.node("Fancy", {"h"}, "y");
  graph.output("y");
  const ImportedModel made = imported(graph.file());
  CHECK(remarks(made, "Fancy"));
  CHECK_THAT(made.text, ContainsSubstring("forward_bytes = \"32 B\""));
}

TEST_CASE("graphs that cannot be run are refused at their node") {
  OnnxWriter cycle;
  cycle.input("x", {1, 4});
  cycle.node("Add", {"x", "b"}, "a");
  cycle.node("Relu", {"a"}, "b");
  cycle.output("b");
  CHECK_THAT(mistakes_of(cycle.file()), ContainsSubstring("node \"Add 0\" (Add): waits for itself"));
  OnnxWriter missing;
  missing.input("x", {1, 4});
  missing.node("Add", {"x", "nobody"}, "a"), missing.node("Add", {"a", "nothing"}, "b");
  missing.output("b");
  CHECK_THAT(mistakes_of(missing.file()), ContainsSubstring("takes \"nobody\", which nothing makes"));
  CHECK_THAT(mistakes_of(missing.file()), ContainsSubstring("takes \"nothing\", which nothing makes"));
  OnnxWriter mismatch;
  mismatch.input("x", {1, 4}), mismatch.weight("w", {5, 3});
  mismatch.node("MatMul", {"x", "w"}, "y"), mismatch.output("y");
  CHECK_THAT(mistakes_of(mismatch.file()), ContainsSubstring("a row of 4 does not meet the weight [5, 3]"));
}

TEST_CASE("sizes beyond all bounds, negative ones and graphs without an end are refused") {
  OnnxWriter large;
  large.input("x", {1, 1LL << 40, 1LL << 40}), large.output("x");
  CHECK_THAT(mistakes_of(large.file()), ContainsSubstring("no tensor of at most 2^40 elements"));
  OnnxWriter negative;
  negative.input("x", {1, 4}), negative.weight("w", {-4, 3});
  CHECK_THAT(mistakes_of(negative.file()), ContainsSubstring("a dimension of -4"));
  OnnxWriter endless;
  endless.input("x", {1, 4}), endless.node("Relu", {"x"}, "y");
  CHECK_THAT(mistakes_of(endless.file()), ContainsSubstring("no output of the graph"));
}

TEST_CASE("a file that was cut says where") {
  const std::string whole = small_network().file();
  for (std::size_t length = 1; length < whole.size() - 4; ++length) {  // the last four: the opset
    const std::string said = mistakes_of(whole.substr(0, length));
    INFO(length);
    CHECK_FALSE(said.empty());
  }
  CHECK_THAT(mistakes_of(whole.substr(0, whole.size() / 2)),
             ContainsSubstring("breaks off, or is damaged, at byte"));
}

TEST_CASE("a graph of as many nodes as a network may have layers is read, and a larger one is refused") {
  const auto chain = [](int nodes) {
    OnnxWriter graph;
    graph.input("x", {1, 4}), graph.weight("w", {4, 4});
    graph.node("MatMul", {"x", "w"}, "n0");
    for (int i = 0; i < nodes; ++i)
      graph.node("Relu", {"n" + std::to_string(i)}, "n" + std::to_string(i + 1));
    graph.output("n" + std::to_string(nodes));
    return graph.file();
  };
  CHECK(network_of(chain(99'000)).forward.size() > 99'000);
  CHECK_THAT(mistakes_of(chain(100'000)), ContainsSubstring("at most 100000 are allowed"));
}

}  // namespace onnx_test
