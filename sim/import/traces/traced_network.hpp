// A recorded step of one GPU becomes a network with measured times: docs/models/traces.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/import/traces/trace_file.hpp"
#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// What the file does not say.
struct TracedNetworkOptions {
  std::optional<std::int64_t> batch{};       ///< samples of a recorded step
  std::optional<std::int64_t> parameters{};  ///< of the network
  std::string name;                          ///< empty: that of the file
  std::string optimizer;                     ///< empty: as far as the trace says
};

struct TracedNetwork {
  std::string text;                ///< a model file
  std::vector<std::string> notes;  ///< what was assumed or left out
};

/// Throws InputError with every reason why it cannot be made, and what to do.
TracedNetwork traced_network(const Trace& trace, const TracedNetworkOptions& options);
TracedNetwork traced_network(const ExecutionTrace& trace, const TracedNetworkOptions& options);

}  // namespace foretrain
