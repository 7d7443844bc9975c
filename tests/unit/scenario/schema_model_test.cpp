// Model files read right: fields and defaults, blocks with parameters, names, and the limits of expansion.

#include "sim/scenario/catalog.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/layer_options.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace schema_model_test {

using namespace foretrain;

namespace {

Model read(const std::string& text) {
  const SourceText source{"folder/tiny.toml", text};
  Diagnostics diagnostics(source);
  Model model = read_model(source, diagnostics);
  INFO(format(diagnostics.found()));
  REQUIRE(diagnostics.empty());
  return model;
}

std::vector<std::string> names_of(const std::vector<Layer>& layers) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.name);
  return names;
}

}  // namespace

TEST_CASE("a layer takes its fields from the file and the rest from the framework's defaults") {
  const Model model = read(
      "description = \"two layers\"\ninput = [3, 8, 8]\nlayers = [\n"
      "  { type = \"conv2d\", name = \"stem\", out = 4, kernel = 3, padding = \"same\", bias = false },\n"
      "  { type = \"max_pool\", kernel = 2 },\n  { type = \"flatten\" },\n  { type = \"linear\", out = 10 "
      "},\n  { type = \"loss\" },\n]\n");
  CHECK(model.name == "tiny");
  CHECK(model.description == "two layers");
  CHECK(model.input == std::vector<std::int64_t>{3, 8, 8});
  const Layer& conv = model.layers[0];
  CHECK(conv.type->name == "conv2d");
  CHECK(conv.name == "stem");
  CHECK((test::number_of(conv, "out") == 4 && test::number_of(conv, "kernel") == 3 &&
         test::number_of(conv, "stride") == 1 && test::number_of(conv, "padding") == -1 &&
         test::number_of(conv, "dilation") == 1 && test::number_of(conv, "groups") == 1));
  CHECK(!test::flag_of(conv, "bias"));
  CHECK(conv.span.line == 4);
  CHECK(test::number_of(model.layers[1], "stride") == 0);  // a pool's stride is its kernel
  CHECK(test::flag_of(model.layers[3], "bias"));
}

TEST_CASE("a custom layer takes its work per sample with units") {
  const Model model = read(
      "input = [8]\nlayers = [\n  { type = \"custom\", parameters = 100, forward_flops = \"2 GFLOP\", "
      "backward_flops = \"4 GFLOP\", forward_bytes = \"1 MB\", backward_bytes = \"3 MB\", saved_bytes = "
      "\"500 kB\", kernels = 2 },\n  { type = \"loss\" },\n]\n");
  CHECK(test::number_of(model.layers[0], "parameters") == 100);
  CHECK(test::number_of(model.layers[0], "kernels") == 2);
  const ExpandedModel expanded = expand(model).model;
  const Operator& forward = expanded.forward.front();
  CHECK(forward.is_roofline);
  CHECK(forward.flops.at(1) == 2e9);
  CHECK(forward.bytes.at(1) == 1e6);
  const auto backward =
      std::ranges::find_if(expanded.backward, [](const auto& step) { return step.op.is_roofline; });
  REQUIRE(backward != expanded.backward.end());
  CHECK(backward->op.flops.at(1) == 4e9);
  CHECK(backward->op.bytes.at(1) == 3e6);
}

TEST_CASE("a timed layer takes its parameters as a number and its times with units") {
  const Model model = read(
      "input = [1]\nlayers = [\n  { type = \"timed\", parameters = 262144, forward = \"10 ms\", backward = "
      "\"20 ms\" },\n"
      "  { type = \"timed\", forward = \"5 us\", backward = \"0 s\" },\n  { type = \"loss\" },\n]\n");
  CHECK(test::number_of(model.layers[0], "parameters") == 262144);
  CHECK(test::time_of(model.layers[0], "forward") == milliseconds(10));
  CHECK(test::time_of(model.layers[0], "backward") == milliseconds(20));
  CHECK(test::number_of(model.layers[1], "parameters") == 0);
  CHECK(test::time_of(model.layers[1], "forward") == microseconds(5));
  CHECK(names_of(model.layers) == std::vector<std::string>{"timed", "timed2", "loss"});
}

TEST_CASE("a block is put in as often as it repeats, with its arguments and its path as name") {
  const Model model = read(
      "input = [4]\nlayers = [\n"
      "  { type = \"block\", block = \"unit\", name = \"body\", repeat = 2, with = { width = 8 } },\n"
      "  { type = \"block\", block = \"unit\", with = { width = 2 } },\n  { type = \"loss\" },\n]\n"
      "[blocks.unit]\nlayers = [{ type = \"linear\", out = \"$width\" }, { type = \"relu\" }]\n");
  CHECK(names_of(model.layers) == std::vector<std::string>{"body.0.linear", "body.0.relu", "body.1.linear",
                                                           "body.1.relu", "unit.linear", "unit.relu",
                                                           "loss"});
  CHECK(test::number_of(model.layers[2], "out") == 8);
  CHECK(test::number_of(model.layers[4], "out") == 2);
  CHECK(model.layers[0].span.line == 8);  // the place inside the block
}

TEST_CASE("a block hands its parameters on to the blocks it uses, and may repeat by one") {
  const Model model = read(
      "input = [4]\nlayers = [{ type = \"block\", block = \"outer\", with = { n = 3, w = 5 } }, { type = "
      "\"loss\" }]\n"
      "[blocks.outer]\nlayers = [{ type = \"block\", block = \"inner\", repeat = \"$n\", with = { width = "
      "\"$w\" } }]\n"
      "[blocks.inner]\nlayers = [{ type = \"linear\", out = \"$width\" }]\n");
  REQUIRE(model.layers.size() == 4);
  CHECK(test::number_of(model.layers[2], "out") == 5);
  CHECK(model.layers[2].name == "outer.inner.2.linear");
}

TEST_CASE("branches hold layers and blocks, and an empty one is the identity") {
  const Model model = read(
      "input = [4]\nlayers = [{ type = \"add\", branches = [[{ type = \"block\", block = \"unit\" }], []] }, "
      "{ type = \"loss\" }]\n"
      "[blocks.unit]\nlayers = [{ type = \"linear\", out = 4 }, { type = \"relu\" }]\n");
  REQUIRE(model.layers[0].branches.size() == 2);
  CHECK(names_of(model.layers[0].branches[0]) ==
        std::vector<std::string>{"add.0.unit.linear", "add.0.unit.relu"});
  CHECK(model.layers[0].branches[1].empty());
}

TEST_CASE("layers of one type get numbers from the second on") {
  const Model model = read(
      "input = [4]\nlayers = [{ type = \"relu\" }, { type = \"relu\" }, { type = \"linear\", out = 2 }, { "
      "type = \"relu\" }, { type = "
      "\"loss\" }]\n");
  CHECK(names_of(model.layers) == std::vector<std::string>{"relu", "relu2", "linear", "relu3", "loss"});
}

TEST_CASE("blocks nest 32 deep, not 33") {
  const auto chain = [](int blocks) {
    std::string text = "input = [4]\nlayers = [{ type = \"block\", block = \"b1\" }, { type = \"loss\" }]\n";
    for (int i = 1; i < blocks; ++i) {
      text += "[blocks.b" + std::to_string(i) + "]\nlayers = [{ type = \"block\", block = \"b" +
              std::to_string(i + 1) + "\" }]\n";
    }
    return text + "[blocks.b" + std::to_string(blocks) + "]\nlayers = [{ type = \"relu\" }]\n";
  };
  CHECK(test::model_mistakes(chain(32)).empty());
  CHECK_THAT(test::model_mistakes(chain(33)), ContainsSubstring("blocks are nested more than 32 deep"));
  CHECK_THAT(test::model_mistakes(chain(5000)), ContainsSubstring("blocks are nested more than 32 deep"));
}

TEST_CASE("a hundred thousand layers are allowed, one more is not") {
  // the repeated block, and the loss
  const auto model = [](int repeat) {
    return "input = [4]\nlayers = [{ type = \"block\", block = \"a\", repeat = " + std::to_string(repeat) +
           " }, { type = \"loss\" }]\n[blocks.a]\nlayers = [{ type = \"relu\" }]\n";
  };
  CHECK(test::model_mistakes(model(99'999)).empty());
  CHECK_THAT(test::model_mistakes(model(100'000)),
             ContainsSubstring("the model has more than 100000 layers"));
}

TEST_CASE("repeat bombs are refused at the limit of layers, in layers, in branches and in depth") {
  std::string doubling = "input = [4]\nlayers = [{ type = \"block\", block = \"b1\", repeat = 100000 }]\n";
  for (int i = 1; i < 32; ++i) {
    doubling += "[blocks.b" + std::to_string(i) + "]\nlayers = [{ type = \"block\", block = \"b" +
                std::to_string(i + 1) + "\", repeat = 100000 }]\n";
  }
  doubling += "[blocks.b32]\nlayers = [{ type = \"relu\" }]\n";
  std::string branches =
      "input = [4]\nlayers = [{ type = \"block\", block = \"a\", repeat = 100000 }]\n[blocks.a]\nlayers = [{ "
      "type = \"add\", branches = [";
  for (int i = 0; i < 1000; ++i) branches += "[],";
  branches += "] }]\n";
  CHECK_THAT(test::model_mistakes(doubling), ContainsSubstring("the model has more than 100000 layers"));
  CHECK_THAT(test::model_mistakes(branches), ContainsSubstring("the model has more than 100000 layers"));
}

TEST_CASE("every model of the catalog reads and expands") {
  test::use_source_catalogs();
  const auto names = names_in(CatalogKind::models);
  CHECK(names.size() >= 5);
  for (const std::string& name : names) {
    INFO(name);
    const auto source = open_named(CatalogKind::models, name);
    Diagnostics diagnostics(*source);
    const Model model = read_model(*source, diagnostics);
    CHECK(format(diagnostics.found()) == "");
    CHECK(model.name == name);
    CHECK(expand(model).model.parameter_elements() > 0);
  }
}

}  // namespace schema_model_test
