// Named results in model files: lists, scopes of blocks, further inputs, shared weights; and what is said
// about a wrong name.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/layer_options.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace named_results_test {

using namespace foretrain;

namespace {

Model read(const std::string& text) {
  const SourceText source{"tiny.toml", text};
  Diagnostics diagnostics(source);
  Model model = read_model(source, diagnostics);
  INFO(format(diagnostics.found()));
  REQUIRE(diagnostics.empty());
  return model;
}

std::vector<std::int64_t> sizes_of(const Model& model) {
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : expand(model).model.parameters) sizes.push_back(parameter.elements);
  return sizes;
}

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a layer takes a named result instead of the previous one") {
  const Model model = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 5, bias = false, as = \"five\" },\n"
      "  { type = \"linear\", out = 4, bias = false },\n  { type = \"linear\", from = \"five\", out = 3, "
      "bias = false },\n"
      "  { type = \"loss\" },\n]\n");
  CHECK(model.layers[2].from == std::vector<std::string>{"five"});
  CHECK(sizes_of(model) == Sizes{30, 20, 15});
}

TEST_CASE("a join takes a list of names, or names besides the previous result") {
  const std::string begin =
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 5, bias = false, as = \"a\" },\n"
      "  { type = \"linear\", from = \"a\", out = 4, bias = false, as = \"b\" },\n";
  const std::string end = "  { type = \"linear\", out = 1, bias = false },\n  { type = \"loss\" },\n]\n";
  CHECK(sizes_of(read(begin + "  { type = \"concat\", from = [\"a\", \"b\", \"a\"] },\n" + end)) ==
        Sizes{30, 20, 14});
  CHECK(sizes_of(read(begin + "  { type = \"concat\", with = \"a\" },\n" + end)) == Sizes{30, 20, 9});
  CHECK(sizes_of(read(begin + "  { type = \"concat\", branches = [[], []], with = [\"a\"] },\n" + end)) ==
        Sizes{30, 20, 13});
}

TEST_CASE("a name with a plus collects results, and reading it gives them all") {
  const Model model = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 2, bias = false, as = \"all+\" },\n"
      "  { type = \"block\", block = \"wider\", repeat = 3 },\n  { type = \"concat\", from = \"all\" },\n"
      "  { type = \"linear\", out = 1, bias = false },\n  { type = \"loss\" },\n]\n"
      "[blocks.wider]\nlayers = [{ type = \"concat\", from = \"all\" }, { type = \"linear\", out = 3, bias = "
      "false, as = \"all+\" }]\n");
  // 2, then 2 + 3, 2 + 3 + 3, and all four at the end.
  CHECK(sizes_of(model) == Sizes{12, 2 * 3, 5 * 3, 8 * 3, 11});
}

TEST_CASE("names inside a block stay in its use, and names outside are seen") {
  const Model model = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 6, bias = false, as = \"x\" },\n"
      "  { type = \"block\", block = \"unit\", repeat = 2 },\n  { type = \"add\", with = \"x\" },\n  { type "
      "= \"loss\" },\n]\n"
      "[blocks.unit]\nlayers = [\n  { type = \"linear\", out = 6, bias = false, as = \"y\" },\n"
      "  { type = \"linear\", out = 6, bias = false, as = \"x\" },\n  { type = \"add\", from = [\"x\", "
      "\"y\"] },\n]\n");
  CHECK(sizes_of(model) == Sizes{36, 36, 36, 36, 36});
  CHECK(model.layers[1].as != model.layers[4].as);
  CHECK(model.layers[7].with == std::vector<std::string>{"x"});
}

TEST_CASE("a block's use takes a named result and names its last one") {
  const Model model = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 5, bias = false, as = \"x\" },\n  { type = "
      "\"relu\" },\n"
      "  { type = \"block\", block = \"unit\", from = \"x\", repeat = 2, as = \"y\" },\n  { type = \"relu\" "
      "},\n"
      "  { type = \"concat\", from = [\"x\", \"y\"] },\n  { type = \"loss\" },\n]\n"
      "[blocks.unit]\nlayers = [{ type = \"linear\", out = 4, bias = false }, { type = \"tanh\" }]\n");
  CHECK(model.layers[2].from == std::vector<std::string>{"x"});
  CHECK(model.layers[4].from.empty());
  CHECK(model.layers[5].as == std::vector<std::string>{"y"});
  CHECK(sizes_of(model) == Sizes{30, 20, 16});
}

TEST_CASE("a parameter's number stands in names and in lists") {
  const Model model = read(
      "input = [3, 8, 8]\nlayers = [\n  { type = \"block\", block = \"unit\", with = { stage = 1, k = 3 } "
      "},\n"
      "  { type = \"block\", block = \"unit\", with = { stage = 2, k = 5 } },\n  { type = \"flatten\" },\n  "
      "{ type = \"loss\" },\n]\n"
      "[blocks.unit]\nlayers = [{ type = \"conv2d\", out = 2, kernel = [1, \"$k\"], padding = [0, 2], as = "
      "\"s$stage\" }]\n");
  CHECK(model.layers[0].as == std::vector<std::string>{"s1#1"});
  CHECK(model.layers[1].as == std::vector<std::string>{"s2#2"});
  CHECK(test::sides_of(model.layers[1], "kernel") == Sides(std::vector<std::int64_t>{1, 5}));
}

TEST_CASE("start opens a further input") {
  const Model model = read(
      "input = [4]\nlayers = [\n  { type = \"linear\", out = 5, bias = false, as = \"x\" },\n"
      "  { type = \"start\", input = [7], tokens = true },\n  { type = \"embedding\", entries = 10, out = 5 "
      "},\n"
      "  { type = \"add\", with = \"x\" },\n  { type = \"loss\" },\n]\n");
  CHECK(sizes_of(model) == Sizes{20, 50});
  CHECK(expand(model).model.input_elements == 4 + 7);
}

TEST_CASE("layers with one label share their weights, and so do whole blocks") {
  const Model layers = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 6, weights = \"w\" },\n  { type = \"relu\" },\n"
      "  { type = \"linear\", out = 6, weights = \"w\" },\n  { type = \"loss\" },\n]\n");
  CHECK(sizes_of(layers) == Sizes{36, 6});
  const Model blocks = read(
      "input = [6]\nlayers = [\n  { type = \"block\", block = \"unit\", weights = \"u\" },\n"
      "  { type = \"block\", block = \"unit\", weights = \"u\" },\n  { type = \"block\", block = \"unit\" "
      "},\n  { type = \"loss\" },\n]\n"
      "[blocks.unit]\nlayers = [{ type = \"linear\", out = 6, bias = false }, { type = \"linear\", out = 6 "
      "}]\n");
  CHECK(sizes_of(blocks) == Sizes{36, 36, 6, 36, 36, 6});
  // The shared bias and weights are ready with the first use, the last in backward.
  CHECK(expand(blocks).model.gradient_ready_order() == std::vector<std::uint32_t>{5, 4, 3, 2, 1, 0});
}

TEST_CASE("a network may end in several losses") {
  const Model model = read(
      "input = [6]\nlayers = [\n  { type = \"linear\", out = 5, as = \"a\" },\n  { type = \"linear\", out = "
      "3 },\n  { type = \"loss\" },\n"
      "  { type = \"loss\", kind = \"mse\", from = \"a\", weighted = true },\n]\n");
  CHECK(test::flag_of(model.layers[3], "weighted"));
  // Two kernels of the mean square, one each for the factor and the sum of losses.
  CHECK(expand(model).model.forward.back().kernels == 4);
}

// clang-format off
TEST_CASE("every mistake in names is reported with place, caret and hint") {
  const std::vector<test::Mistake> mistakes{
      {"an unknown name",
       R"(input = [4]
layers = [
  { type = "linear", out = 2, as = "logits" },
  { type = "loss", from = "logit" },
]
)",
       R"(m.toml:4:27: error: no result is named "logit"
  4 |   { type = "loss", from = "logit" },
    |                           ^^^^^^^
  hint: did you mean "logits"?
)"},
      {"a name before its layer",
       R"(input = [4]
layers = [{ type = "linear", from = "x", out = 2 }, { type = "loss", as = "x" }]
)",
       R"(m.toml:2:37: error: no result is named "x"
  2 | layers = [{ type = "linear", from = "x", out = 2 }, { type = "loss", as = "x" }]
    |                                     ^^^
  hint: name a layer before this one with `as`
)"},
      {"a name given twice",
       R"(input = [4]
layers = [{ type = "relu", as = "x" }, { type = "tanh", as = "x" }, { type = "loss" }]
)",
       R"(m.toml:2:62: error: "x" is already the name of a result
  2 | layers = [{ type = "relu", as = "x" }, { type = "tanh", as = "x" }, { type = "loss" }]
    |                                                              ^^^
  hint: choose another, or write "x+" for a list
)"},
      {"a name from inside a block",
       R"(input = [4]
layers = [{ type = "block", block = "a" }, { type = "loss", from = "inner" }]
[blocks.a]
layers = [{ type = "relu", as = "inner" }]
)",
       R"(m.toml:2:68: error: no result is named "inner"
  2 | layers = [{ type = "block", block = "a" }, { type = "loss", from = "inner" }]
    |                                                                    ^^^^^^^
  hint: name a layer before this one with `as`
)"},
      {"two names for a layer that takes one",
       R"(input = [4]
layers = [{ type = "relu", as = "x" }, { type = "tanh", from = ["x", "x"] }, { type = "loss" }]
)",
       R"(m.toml:2:64: error: tanh.from must be a name of 1 to 64 characters
  2 | layers = [{ type = "relu", as = "x" }, { type = "tanh", from = ["x", "x"] }, { type = "loss" }]
    |                                                                ^^^^^^^^^^
)"},
      {"a list where one result is needed",
       R"(input = [4]
layers = [
  { type = "relu", as = "x+" },
  { type = "relu", as = "x+" },
  { type = "tanh", from = "x" },
  { type = "loss" },
]
)",
       R"(m.toml:5:3: error: tanh takes one input, not 2
  5 |   { type = "tanh", from = "x" },
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: join them with concat or add
)"},
      {"a block whose first layer has its input",
       R"(input = [4]
layers = [
  { type = "relu", as = "x" },
  { type = "block", block = "a", from = "x" },
  { type = "loss" },
]
[blocks.a]
layers = [{ type = "tanh", from = "x" }]
)",
       R"(m.toml:4:41: error: the block's first layer names its input itself
  4 |   { type = "block", block = "a", from = "x" },
    |                                         ^^^
  hint: leave one of the two `from` out
)"},
      {"weights of two sizes under one label",
       R"(input = [4]
layers = [
  { type = "linear", out = 4, weights = "w" },
  { type = "linear", out = 5, weights = "w" },
  { type = "loss" },
]
)",
       R"(m.toml:4:3: error: layers that share weights "w" have parameters of different sizes
  4 |   { type = "linear", out = 5, weights = "w" },
    |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: give them the same sizes, or other labels
)"},
      {"too many numbers for the sides",
       R"(input = [3, 8, 8]
layers = [{ type = "conv2d", out = 2, kernel = [1, 2, 3] }, { type = "loss" }]
)",
       R"(m.toml:2:11: error: conv2d: kernel = [1, 2, 3] has 3 numbers for 2 sides
  2 | layers = [{ type = "conv2d", out = 2, kernel = [1, 2, 3] }, { type = "loss" }]
    |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: write one number for all sides, or one for each
)"},
      {"an empty list of numbers",
       R"(input = [3, 8, 8]
layers = [{ type = "conv2d", out = 2, kernel = [] }, { type = "loss" }]
)",
       R"(m.toml:2:48: error: conv2d.kernel takes 1 to 3 numbers, not 0
  2 | layers = [{ type = "conv2d", out = 2, kernel = [] }, { type = "loss" }]
    |                                                ^^
)"},
      {"a layer behind a loss without its input",
       R"(input = [4]
layers = [{ type = "loss" }, { type = "linear", out = 2 }, { type = "loss" }]
)",
       R"(m.toml:2:11: error: layers follow the loss
  2 | layers = [{ type = "loss" }, { type = "linear", out = 2 }, { type = "loss" }]
    |           ^^^^^^^^^^^^^^^^^
  hint: place the loss last, or begin anew with a named result in `from`
)"},
  };
  for (const test::Mistake& mistake : mistakes) {
    INFO(mistake.what);
    CHECK(test::model_mistakes(mistake.text) == mistake.message);
  }
}
// clang-format on

}  // namespace named_results_test
