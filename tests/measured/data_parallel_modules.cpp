// DataParallel against PyTorch: broadcast groups to the byte, counts of modules, and the measured time of
// copying them in Python (docs/measured/pytorch/derived_buckets.json, replicas.json).
#include <fmt/format.h>

#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "sim/strategy/replicas/data_parallel_steps.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/measured_json.hpp"
#include "tests/support/model_file.hpp"

namespace data_parallel_modules {

using namespace foretrain;
using test::Figure;

TEST_CASE("the broadcast groups of every derived network are PyTorch's to the byte") {
  int networks = 0;
  const nlohmann::json derived = test::measured_json("pytorch/derived_buckets.json");
  for (const auto& [name, fact] : derived.items()) {
    INFO(name);
    const WrappedModule network = wrap_network(test::model_file(name));
    std::vector<std::int64_t> sizes;
    for (const CoalescedGroup& group : broadcast_groups(network.elements, 4))
      sizes.push_back(group.size.count);
    CHECK(sizes == fact.at("dp_broadcast_chunks").get<std::vector<std::int64_t>>());
    std::int64_t buffers = 8 * static_cast<std::int64_t>(network.integer_buffers.size());
    for (const std::int64_t elements : network.float_buffers) buffers += 4 * elements;
    INFO("buffers of " << buffers << " bytes");
    if (buffers > 0 && fact.contains("dp_buffer_bytes"))
      CHECK(buffers == fact.at("dp_buffer_bytes").get<std::int64_t>());
    ++networks;
  }
  CHECK(networks >= 17);
}

// A file of layers does not say which activations are modules and which are functions
// (docs/models/replicated.md): the MNIST net calls functions, MobileNetV2 and the transformers have
// modules for all of them and containers around them.
TEST_CASE("copying a network's modules takes what was measured on the reference core, but for known misses") {
  std::vector<Figure> figures;
  int networks = 0;
  const nlohmann::json measured = test::measured_json("pytorch/replicas.json");
  for (const auto& [name, fact] : measured.items()) {
    if (!fact.contains("n_modules")) continue;
    const WrappedModule network = wrap_network(test::model_file(name));
    const double counted = static_cast<double>(network.modules), traced = fact.at("n_modules").get<double>();
    const double tensors =
        1.9 * static_cast<double>(network.parameters.size()) + 3.0 * static_cast<double>(network.buffers());
    INFO(name);
    figures.push_back(Figure::within(fmt::format("modules of {}", name), traced, counted, 0.15));
    for (const int gpus : {4, 8}) {
      const double ms = fact.at("replicate_ms_" + std::to_string(gpus)).get<double>();
      INFO(gpus << " GPUs");
      CHECK(gpus * (5.0 * traced + tensors) / 1e3 == Approx(ms).epsilon(0.30));
      figures.push_back(Figure::within(fmt::format("ms to copy {} to {} GPUs", name, gpus), ms,
                                       gpus * (5.0 * counted + tensors) / 1e3, 0.30));
    }
    ++networks;
  }
  CHECK(networks == 12);
  test::check_figures("data_parallel_modules/copying modules", figures);
}

// 200 calls a thread on two cores: one thread's calls in a row 0.848 ms; 2, 4 and 8 threads 1.92, 5.70
// and 13.76 ms.
TEST_CASE("calls under one GIL take as long as measured with two, four and eight threads") {
  const nlohmann::json gil = test::measured_json("pytorch/replicas.json").at("gil");
  const double alone = gil.at("tiny200op_serial_ms").get<double>();
  for (const int threads : {2, 4, 8}) {
    const double predicted = threads * (alone + 0.2 * 0.6 * (threads - 1) +
                                        0.037);  // 0.6 us a call and other thread; 37 us to start one
    INFO(threads << " threads: " << predicted << " ms");
    CHECK(predicted ==
          Approx(gil.at("tiny200op_" + std::to_string(threads) + "threads_ms").get<double>()).epsilon(0.15));
  }
}

}  // namespace data_parallel_modules
