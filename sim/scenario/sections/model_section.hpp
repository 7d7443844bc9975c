// The table [model]: network, batch, precision, and the optimizer.
#pragma once

#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Largest batch that a scenario may request, per GPU and over all GPUs.
inline constexpr std::int64_t kLargestBatch = 1'000'000;

/// Value of batch_per_gpu with which the global batch is divided by the speed of the kinds of node.
inline constexpr std::string_view kBalance = "balance";

/// The contents of [model] while they are read.
struct ModelSection {
  Scenario& scenario;
  OpenedCatalogs& opened;
  /// Form of the optimizer as the scenario requests it.
  std::optional<OptimizerForm> form{};
};

/// Returns the declared keys of [model].
const Keys<ModelSection>& model_keys();
/// Reads [model] without calling finish(). Requires that the framework is read, whose version decides the
/// optimizer's form.
void read_model_section(TableReader& model, OpenedCatalogs& opened, Scenario& scenario);
/// Resolves batches by kind of node. Requires that the cluster is read.
void settle_batches(TableReader& model, Scenario& scenario);

}  // namespace foretrain
