// Networks of the catalog beside their libraries: parameters, FLOPs of products and bytes kept for backward,
// which python/tests/real_networks.py measured on PyTorch's meta device. The rows say what was measured with
// what.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"

namespace library_networks {

using namespace foretrain;

namespace {

struct LibraryNetwork {
  std::string name, library;
  std::int64_t parameters = 0;
  double flops = 0, kept = 0;  ///< what a sample adds
  bool has_loss = false;       ///< its forward pass ends with the loss
};

std::vector<LibraryNetwork> rows() {
  std::ifstream file(FORETRAIN_SOURCE_DIR "/tests/measured/library_networks.csv");
  std::vector<LibraryNetwork> out;
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("network,")) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream in(line);
    LibraryNetwork row;
    in >> row.name >> row.library >> row.parameters >> row.flops >> row.kept >> row.has_loss;
    REQUIRE(in);
    out.push_back(row);
  }
  return out;
}

/// A loss that the library's forward pass does not have is left out.
double kept_bytes(const ExpandedModel& model, double batch, bool with_loss) {
  double sum = 0;
  for (std::size_t i = 0; i < model.layer_names.size(); ++i) {
    if (!with_loss && model.layer_names[i].starts_with("loss")) continue;
    sum += model.layer_traces[i].saved_bytes.at(batch) / batch;
  }
  return sum;
}

}  // namespace

TEST_CASE("networks have the parameters, products and kept bytes that their libraries have") {
  setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
  constexpr double kBatch = 32, kFlopsOff = 0.02, kKeptOff = 0.03;
  const std::vector<LibraryNetwork> all = rows();
  CHECK(all.size() >= 40);
  for (const LibraryNetwork& row : all) {
    INFO(row.name);
    const auto source = open_named(CatalogKind::models, row.name);
    REQUIRE(source.has_value());
    const ExpandedModel model = read_or_throw(*source, read_model_file).expanded;
    CHECK(model.parameter_elements() + model.frozen_elements() == row.parameters);
    CHECK(std::abs(model.forward_gemm_flops().at(kBatch) / kBatch / row.flops - 1) < kFlopsOff);
    CHECK(std::abs(kept_bytes(model, kBatch, row.has_loss) / row.kept - 1) < kKeptOff);
  }
}

}  // namespace library_networks
