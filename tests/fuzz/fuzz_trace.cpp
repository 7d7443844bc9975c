// Fuzz target: Kineto's and PyTorch's traces, packed or not, and the network and samples that come of them.
#include <cstdint>
#include <sstream>
#include <string>

#include "sim/import/traces/trace_samples.hpp"
#include "sim/import/traces/traced_network.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  TraceLimits limits;
  limits.bytes = 1u << 24;
  try {
    const TraceFile file = read_trace(in, "fuzz.json", limits);
    test::require(file.timed.has_value() != file.executions.has_value());
    if (file.timed) {
      const Trace& trace = *file.timed;
      for (std::size_t i = 1; i < trace.events.size(); ++i)
        test::require(trace.events[i - 1].start <= trace.events[i].start && trace.events[i].duration >= 0);
      for (const TraceEvent& event : trace.events)
        test::require(event.lane < trace.lanes.size() && event.name < trace.names.size());
      for (const TraceStep& step : find_steps(trace).steps) test::require(step.length() >= 0);
      trace_samples(trace, {});
    }
    test::require(!traced_network(file, {}).text.empty());
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}
