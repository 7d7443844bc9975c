// Units of a network: which layers and parameters each holds, by block and by size.
#include <numeric>

#include "sim/strategy/fsdp/fsdp_gathering.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/model_file.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace model_units_test {

using namespace foretrain;
using test::kLinear;
using test::model_file;
using test::named_blocks;

namespace {

ExpandedModel blocks(int count) { return expand(named_blocks(count)).model; }

std::int64_t sum(const ModelUnits& units) {
  return std::accumulate(units.units.begin(), units.units.end(), std::int64_t{0},
                         [](std::int64_t total, const ModelUnit& unit) { return total + unit.elements; });
}

}  // namespace

TEST_CASE("every numbered block is a unit, what stands around them is the root") {
  const ModelUnits units = units_by_block(blocks(3));
  REQUIRE(units.units.size() == 4);
  CHECK(units.units[0].name == "root");
  CHECK(units.units[0].elements == 2 * kLinear);  // stem and head
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(units.units[i].name == "block." + std::to_string(i - 1));
    CHECK(units.units[i].elements == kLinear);
    CHECK(units.units[i].parameters.size() == 2);
  }
  CHECK(units.largest() == kLinear);
}

TEST_CASE("each layer and parameter is in one unit") {
  const ExpandedModel model = blocks(2);
  const ModelUnits units = units_by_block(model);
  // Layers: stem, linear, relu, linear, relu, head, loss; parameters: weight and bias of each linear layer.
  CHECK(units.of_layer == std::vector<std::uint32_t>{0, 1, 1, 2, 2, 0, 0});
  CHECK(units.of_parameter == std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 0, 0});
  CHECK(sum(units) == model.parameter_elements());
}

TEST_CASE("GPT-2 is twelve blocks of 7,087,872 parameters and a root with the embeddings") {
  const ModelUnits units = units_by_block(model_file("gpt2"));
  REQUIRE(units.units.size() == 13);
  // Words 50257 x 768, positions 1024 x 768, the last norm 2 x 768; the head shares the words.
  CHECK(units.units[0].elements == 50'257 * 768 + 1024 * 768 + 2 * 768);
  // Two norms, packed and output projection, two linear layers of 768 x 3072.
  CHECK(units.largest() == 4 * 768 + 3 * 768 * 768 + 3 * 768 + 768 * 768 + 768 + 2 * 768 * 3072 + 3072 + 768);
  CHECK(sum(units) == 124'439'808);
}

TEST_CASE("a block used once is a unit as well as one that is repeated") {
  const ModelUnits units = units_by_block(model_file("resnet50"));
  REQUIRE(units.units.size() == 17);  // 16 bottlenecks, the first of each stage named on its own
  CHECK(units.units[1].name == "projected");
  CHECK(units.units[2].name == "bottleneck.0");
  CHECK(units.units[0].elements == 9'408 + 128 + 2'049'000);  // first convolution, its norm, the classifier
  CHECK(sum(units) == 25'557'032);
}

TEST_CASE("branches of a join are no blocks") {
  // Without block files ResNet-18's layers are called "add.0.conv2d" and so on, and "add" is a layer.
  const ModelUnits units = units_by_block(expand(test::resnet18()).model);
  REQUIRE(units.units.size() == 1);
  CHECK(units.units[0].elements == 11'689'512);
  CHECK(units.largest() == 0);
}

TEST_CASE("a network without blocks is all root") {
  const ModelUnits units = units_by_block(expand(test::mnist_net()).model);
  REQUIRE(units.units.size() == 1);
  CHECK(units.units[0].parameters.size() == 8);
}

TEST_CASE("blocks without parameters belong to the root") {
  Model model = named_blocks(1);
  model.layers.insert(model.layers.end() - 2, test::named(test::relu(false), "quiet.0.relu"));
  const ModelUnits units = units_by_block(expand(model).model);
  CHECK(units.units.size() == 2);
  CHECK(units.of_layer == std::vector<std::uint32_t>{0, 1, 1, 0, 0, 0});
}

TEST_CASE("by size a unit takes layers until it holds enough parameters") {
  const ModelUnits units = units_by_size(blocks(4), 2 * kLinear);
  // stem + block 0, block 1 + block 2, block 3 + head.
  REQUIRE(units.units.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) CHECK(units.units[i].elements == 2 * kLinear);
  CHECK(units.units[0].elements == 0);
  CHECK(units.units[1].name == "from stem");
}

TEST_CASE("what is left at the end of a division by size stays with the root") {
  const ModelUnits units = units_by_size(blocks(3), 2 * kLinear);  // five linear layers
  REQUIRE(units.units.size() == 3);
  CHECK(units.units[0].elements == kLinear);
  CHECK(units_by_size(blocks(3), 100 * kLinear).units.size() == 1);
}

TEST_CASE("the smallest size makes a unit of every layer with parameters") {
  const ModelUnits units = units_by_size(blocks(3), 1);
  CHECK(units.units.size() == 6);
  CHECK(sum(units) == 5 * kLinear);
}

}  // namespace model_units_test
