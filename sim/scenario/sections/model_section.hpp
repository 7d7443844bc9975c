// The table [model]: which network, how large a batch, in which precision, and what updates the parameters.
#pragma once

#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Batch sizes that a scenario may ask for, per GPU and over all GPUs.
inline constexpr std::int64_t kLargestBatch = 1'000'000;

/// The batch per GPU that is dealt out by the speed of the kinds of node.
inline constexpr std::string_view kBalance = "balance";

/// What [model] is read into.
struct ModelSection {
  Scenario& scenario;
  OpenedCatalogs& opened;
  std::optional<OptimizerForm> form{};  ///< as the scenario asks for it
};

const Keys<ModelSection>& model_keys();
/// Needs the framework to be read, whose version decides the optimizer's form. Does not call finish().
void read_model_section(TableReader& model, OpenedCatalogs& opened, Scenario& scenario);
/// Batches by kind of node; needs the cluster.
void settle_batches(TableReader& model, Scenario& scenario);

}  // namespace foretrain
