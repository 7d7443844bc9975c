// Makes samples of the collectives in a trace. A collective's kernel starts when its own rank is there and
// ends when all ranks are, so its time contains waits. The shortest time of equal collectives has the least
// of them.
#include "sim/import/traces/trace_samples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/scenario/csv/sample_sheet.hpp"

namespace foretrain {

namespace {

/// Equal collectives: operation, bytes, ranks, and bytes of an element.
using CollectiveKind = std::tuple<std::string, std::int64_t, int, int>;

/// Returns the bytes of a collective as nccl-tests counts them: the larger side of a gather.
std::int64_t sample_bytes(const TraceCollective& collective) {
  // nccl-tests counts the larger side of a gather.
  const bool gathers = collective.op == "all_gather" || collective.op == "gather";
  return gathers ? std::max(collective.in_bytes(), collective.out_bytes()) : collective.in_bytes();
}

/// Returns a name of nccl-tests for elements of that many bytes; the time does not depend on more.
std::string_view type_of_bytes(int bytes) { return bytes == 2 ? "half" : bytes == 8 ? "int64" : "float"; }

/// Returns the sample for equal collectives; `times` in ns.
Sample sample_of(const CollectiveKind& kind, const std::vector<std::int64_t>& times, int nodes) {
  Sample sample;
  sample.kind = SampleKind::collective;
  sample.what = std::get<0>(kind);
  sample.bytes = std::get<1>(kind);
  sample.gpus = std::get<2>(kind);
  sample.nodes = nodes;
  sample.value = static_cast<double>(std::ranges::min(times)) * 1e-3;
  sample.unit = SampleUnit::us;
  sample.repeats = static_cast<int>(std::min<std::size_t>(times.size(), 1'000'000));
  sample.settings = {{"type", std::string(type_of_bytes(std::get<3>(kind)))}, {"in_place", "1"}};
  return sample;
}

}  // namespace

SampleFile trace_samples(const Trace& trace, const LogHints& hints) {
  std::map<CollectiveKind, std::vector<std::int64_t>> found;
  int without_size = 0;
  for (const TraceEvent& event : trace.events) {
    if (event.kind != TraceKind::kernel || !is_collective_kernel(trace.name_of(event))) continue;
    if (event.detail == 0 || event.detail > trace.collectives.size()) {
      ++without_size;
      continue;
    }
    const TraceCollective& said = trace.collectives[event.detail - 1];
    // Older versions do not record the size of the group: all ranks of the run are assumed then.
    const int ranks = said.ranks > 0 ? said.ranks : std::max(trace.ranks, hints.gpus);
    // Equal collectives are collected under one key.
    if (event.duration > 0)
      found[{said.op, sample_bytes(said), ranks, said.element_bytes}].push_back(event.duration);
  }
  SampleSheet sheet(trace.file, "torch.profiler trace");
  sheet.state("gpu", trace.gpu);
  sheet.state("nccl", trace.nccl_version);
  if (without_size > 0)
    sheet.skip(0, fmt::format("{} do not say how large they were; versions of PyTorch from 2.2 on do",
                              counted(without_size, "collective")));
  for (const auto& [kind, times] : found) {
    if (!sheet.count_row()) break;
    const int nodes = hints.nodes > 0 ? hints.nodes : 1;
    if (std::get<2>(kind) < 2 || std::get<1>(kind) <= 0)
      sheet.skip(0, fmt::format("{} of {} bytes: the trace does not say among how many ranks; state them",
                                std::get<0>(kind), std::get<1>(kind)));
    else
      sheet.add(sample_of(kind, times, nodes));
  }
  return sheet.take();
}

}  // namespace foretrain
