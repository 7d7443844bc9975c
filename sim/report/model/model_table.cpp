// Writes a model's summary as a table: layers with the figures of one sample, then totals, memory and kernel
// times.
//
// FLOPs, bytes moved and bytes saved for backward are those of one sample. Kernels, memory and times are
// those of the batch, on one GPU.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/decimal.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/scenario/recording.hpp"

namespace foretrain {

namespace {

/// Returns the bytes without their fraction.
Bytes whole_bytes(double bytes) { return {static_cast<std::int64_t>(bytes)}; }

/// Returns the text, or a dash when there is no value.
std::string or_dash(bool is_something, const std::string& text) { return is_something ? text : "-"; }

// The table of layers, with columns as wide as the longest name and shape.
class Listing {
 public:
  explicit Listing(const ModelSummary& summary) : timed_(summary.times.has_value()) {
    for (const LayerSummary& layer : summary.layers) {
      name_ = std::max(name_, layer.name.size() + 2);
      shape_ = std::max(shape_, to_string(layer.result).size());
    }
    // Longer names are shortened.
    name_ = std::min<std::size_t>(name_, 48);
  }

  /// Returns the heading. Columns: name; kind; shape of the result; parameters; FLOPs; bytes moved; FLOPs per
  /// byte; bytes saved for backward; forward + backward kernels; time of the batch, when a GPU was named.
  std::string heading() const {
    return fmt::format("{:<{}} {:<14} {:<{}} {:>13} {:>11} {:>8} {:>7} {:>8} {:>9}{}\n", "layer", name_,
                       "kind", "result", shape_, "parameters", "FLOPs", "moved", "FLOP/B", "saved", "kernels",
                       timed_ ? fmt::format(" {:>9}", "time") : "");
  }

  /// Returns the line of a layer.
  std::string line(const LayerSummary& layer, std::string_view indent) const {
    const std::string kernels = fmt::format("{} + {}", layer.forward_kernels, layer.backward_kernels);
    std::string out = fmt::format("{:<{}} {:<14} {:<{}} {:>13} {:>11} {:>8} {:>7} {:>8} {:>9}",
                                  std::string(indent) + shortened(layer.name, indent.size()), name_,
                                  layer.kind ? name_of(*layer.kind) : "-", to_string(layer.result), shape_,
                                  or_dash(layer.parameters > 0, grouped_digits(layer.parameters)),
                                  or_dash(layer.flops > 0, to_string(Flops{layer.flops})),
                                  or_dash(layer.bytes > 0, to_string(whole_bytes(layer.bytes))),
                                  or_dash(layer.flops > 0, fmt::format("{:.1f}", layer.intensity())),
                                  or_dash(layer.saved_bytes > 0, to_string(whole_bytes(layer.saved_bytes))),
                                  or_dash(layer.kind.has_value(), kernels));
    if (timed_) out += fmt::format(" {:>9}", or_dash(layer.time() > Time{}, to_string(layer.time())));
    return out + "\n";
  }

 private:
  /// Cuts the start of a long name, since the end of a path says more.
  std::string shortened(const std::string& name, std::size_t indent) const {
    const std::size_t room = name_ - indent;
    return name.size() <= room ? name : ".." + name.substr(name.size() - room + 2);
  }

  std::size_t name_ = 5, shape_ = 6;
  bool timed_;
};

/// Returns the lines of a group; repeated layers stand under "N x".
std::string group_lines(const ModelSummary& summary, const Listing& listing, const RowGroup& group) {
  // Only repeated groups are indented.
  const bool repeats = group.count > 1;
  std::string out = repeats ? fmt::format("{} x\n", group.count) : "";
  for (std::size_t i = 0; i < group.length; ++i)
    out += listing.line(summary.layers[group.first + i], repeats ? "  " : "");
  return out;
}

/// Returns the table of layers; empty for --layers none.
std::string layer_lines(const ModelSummary& summary, LayerListing what) {
  if (what == LayerListing::none) return "";
  const Listing listing(summary);
  std::string out =
      "Layers; FLOPs, bytes moved and bytes saved for backward of one sample, kernels forward + backward\n" +
      listing.heading();
  if (what == LayerListing::folded) {
    for (const RowGroup& group : summary.groups) out += group_lines(summary, listing, group);
  } else {
    for (const LayerSummary& layer : summary.layers) out += listing.line(layer, "");
  }
  return out + "\n";
}

/// Returns the memory of one GPU with its parts.
std::string memory_line(const MemoryUse& m, std::int64_t batch) {
  return fmt::format("{:<20} {}: parameters {}, gradients {}, optimizer {}, activations {}, framework {}\n",
                     fmt::format("Memory at batch {}", batch), to_string(m.total()), to_string(m.parameters),
                     to_string(m.gradients), to_string(m.optimizer), to_string(m.activations),
                     to_string(m.framework));
}

/// Returns the totals: parameters, FLOPs, kernels, activations and memory.
std::string total_lines(const ModelSummary& summary) {
  const ModelTotals& t = summary.totals;
  std::string out = fmt::format("{:<20} {} in {} tensors, {} of gradients\n", "Parameters",
                                grouped_digits(t.parameters), t.tensors, to_string(t.gradients));
  out += fmt::format("{:<20} {} a sample, {} of it in matrix products; {} moved, {:.1f} FLOP/B\n", "Forward",
                     to_string(Flops{t.forward_flops}), to_string(Flops{t.forward_product_flops}),
                     to_string(whole_bytes(t.forward_bytes)), t.intensity());
  out += fmt::format("{:<20} {} a sample\n", "Backward", to_string(Flops{t.backward_flops}));
  out += fmt::format("{:<20} {} a step: {} forward, {} backward, {} optimizer\n", "Kernels", t.kernels(),
                     t.forward_kernels, t.backward_kernels, t.optimizer_kernels);
  // A recorded network has activations of the type that was recorded.
  const bool has_own_types = t.activations_fp32 == t.activations_16_bit;
  out += has_own_types ? fmt::format("{:<20} {} a sample, as recorded\n", "Activations",
                                     to_string(t.activations_16_bit))
                       : fmt::format("{:<20} {} a sample in fp32, {} in 16 bit\n", "Activations",
                                     to_string(t.activations_fp32), to_string(t.activations_16_bit));
  return out + memory_line(t.memory, summary.batch);
}

/// Returns facts about a recorded network, and which operators have no formula.
std::string recording_lines(const Recording& recording, std::int64_t batch) {
  std::string out = fmt::format(
      "{:<20} {} operators, {} launches, batch {}{}{}{}\n", "Recorded", recording.operators,
      recording.launches, recording.batch, recording.grows ? "" : " alone",
      recording.by.empty() ? "" : ", by " + recording.by,
      recording.measured_launches == 0
          ? ""
          : fmt::format("; {} launches measured on {}", recording.measured_launches, recording.gpu));
  if (recording.unknown.empty()) return out + fmt::format("{:<20} no operator\n", "Without formula");
  return out + fmt::format("{:<20} {} of {} launches, {} % of the bytes: {}\n", "Without formula",
                           recording.unknown_launches, recording.launches,
                           percent(share_without_formula(recording, static_cast<double>(batch)), 1),
                           fmt::join(recording.unknown, ", "));
}

/// Returns kernel times of a step by class of operator, and the slowest layers.
std::string time_lines(const ModelSummary& summary) {
  const KernelTimes& times = *summary.times;
  const auto share = [&](Time part) { return percent(to_seconds(part) / to_seconds(times.total), 1); };
  std::string out = fmt::format("\nKernels of a step on {}: {}\n{:<14} {:>7} {:>9} {:>8}\n", times.gpu,
                                to_string(times.total), "class", "kernels", "time", "share");
  for (const ClassTime& time : times.classes) {
    out += fmt::format("{:<14} {:>7} {:>9} {:>6} %\n", time.kind ? name_of(*time.kind) : "optimizer",
                       time.kernels, to_string(time.time), share(time.time));
  }
  out += fmt::format("\nSlowest layers, equal ones together\n{:>5} {:>9} {:>8}  {}\n", "count", "time",
                     "share", "layer");
  for (const SlowLayer& slow : times.slowest) {
    const LayerSummary& layer = summary.layers[slow.layer];
    out += fmt::format("{:>5} {:>9} {:>6} %  {}, {}\n", slow.count, to_string(slow.time), share(slow.time),
                       layer.name, to_string(layer.result));
  }
  return out;
}

}  // namespace

// Times are only known when a GPU was named.
std::string write_model_table(const ModelSummary& summary, LayerListing listing) {
  const std::string title =
      summary.description.empty() ? summary.name : summary.name + ": " + summary.description;
  std::string out = fmt::format("{}\ninput {}, batch {}, {}\n\n", title, summary.input, summary.batch,
                                name_of(summary.precision));
  out += layer_lines(summary, listing) + total_lines(summary);
  if (summary.recording) out += recording_lines(*summary.recording, summary.batch);
  return summary.times ? out + time_lines(summary) : out;
}

}  // namespace foretrain
