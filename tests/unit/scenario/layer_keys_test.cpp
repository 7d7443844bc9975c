// The keys of layer types: every type can be written in a file, and the reference has words for it.
#include <algorithm>
#include <set>

#include "sim/scenario/layers/layer_template.hpp"
#include "sim/scenario/layers/layer_words.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "tests/support/catch.hpp"

namespace layer_keys_test {

using namespace foretrain;

TEST_CASE("every layer type has one name, and one function that says what it is") {
  const std::vector<std::string>& names = layer_type_names();
  CHECK(names.size() == layer_types().size() + 1);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const LayerType& type : layer_types()) {
    INFO(type.name);
    CHECK(find_layer_type(type.name) == &type);
    CHECK((type.apply != nullptr) + (type.join != nullptr) + (type.open != nullptr) == 1);
  }
  CHECK(find_layer_type("block") == nullptr);
}

TEST_CASE("the reference has words for every type with its keys") {
  const std::vector<DescribedLayer> layers = described_layers();
  CHECK(layers.size() == layer_types().size());
  for (const DescribedLayer& layer : layers) {
    INFO(layer.type);
    CHECK_FALSE(layer.meaning.empty());
  }
  const auto custom = std::ranges::find(layers, "custom", &DescribedLayer::type);
  REQUIRE(custom != layers.end());
  CHECK(custom->keys ==
        "parameters, kernels, **forward_flops**, **backward_flops**, **forward_bytes**, **backward_bytes**, "
        "saved_bytes, shape");
}

TEST_CASE("the keys of a type set options that no other key of it sets") {
  for (const LayerType& type : layer_types()) {
    Layer layer;
    layer.type = &type;
    std::set<const void*> places;
    std::size_t numbers = 0;
    for (const LayerKey& key : type.keys) {
      INFO(type.name << "." << key.name);
      const auto* kind = std::get_if<LayerNumbers>(&key.value);
      if (kind == nullptr) continue;
      CHECK(kind->range.least <= kind->range.most);
      std::visit([&](const auto* place) { places.insert(place); }, kind->at(layer));
      ++numbers;
    }
    CHECK(places.size() == numbers);
  }
}

}  // namespace layer_keys_test
