// Expansion of recorded networks. Layers are the modules in the order in which they first run; parameters and
// buffers keep the order of registration. Operators are grouped into calls first, then measured times are
// applied, and lifetimes follow from the recorded storages.
#include "sim/workload/recorded/expand_recorded.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/workload/device/kernel_time.hpp"
#include "sim/workload/device/traffic_time.hpp"
#include "sim/workload/recorded/call_groups.hpp"
#include "sim/workload/recorded/storage_lifetimes.hpp"

namespace foretrain {
namespace {

constexpr std::string_view kOutside = "(outside of modules)";

/// Returns the name of a module in reports. An empty path stands for operators outside of all modules.
std::string printed_module(const std::string& path) { return path.empty() ? std::string(kOutside) : path; }

/// Returns "encoder.0" for "encoder.0.attention", and an empty path where there is no enclosing module.
std::string module_around(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

/// Rounds a number of elements. The limit keeps odd sizes within the range of the integer.
std::int64_t whole_elements(double elements) {
  return static_cast<std::int64_t>(std::llround(std::min(elements, 1e15)));
}

/// Returns the shape of one sample, as layers write it: without the dimension that the batch multiplies.
Shape sample_shape(const TensorSize& size) {
  std::vector<std::int64_t> sides;
  // The first dimension that grows is the batch's. It goes away, or leaves its factor: "49B" leaves 49.
  bool found = false;
  for (const Extent& extent : size.dimensions) {
    if (found || extent.per_sample == 0) {
      sides.push_back(std::max<std::int64_t>(1, extent.fixed + extent.per_sample));
      continue;
    }
    found = true;
    if (extent.per_sample > 1) sides.push_back(extent.per_sample);
  }
  // Shapes have at most four dimensions; leading ones are multiplied.
  while (sides.size() > 4) {
    sides[1] *= sides[0];
    sides.erase(sides.begin());
  }
  if (sides.empty()) return Shape::features(1);
  if (size.type == ElementType::i64 && sides.size() == 1)
    return input_shape(sides, true).value_or(Shape::features(1));
  if (sides.size() == 1) return Shape::features(sides[0]);
  if (sides.size() == 2) return Shape::sequence(sides[0], sides[1]);
  return input_shape(sides, false).value_or(Shape::features(1));
}

/// True where any operator of the recording ran under autocast.
bool was_under_autocast(const RecordedNetwork& network) {
  return std::any_of(network.operators.begin(), network.operators.end(),
                     [](const RecordedOperator& op) { return op.autocast; });
}

/// Returns the precision of the first operator to which autocast gave a result of 16 bits.
std::optional<Precision> autocast_precision(const RecordedNetwork& network) {
  for (const RecordedOperator& op : network.operators) {
    if (!op.autocast) continue;
    for (const SizeId id : op.out) {
      if (network.sizes[id].type == ElementType::f16) return Precision::amp_fp16;
      if (network.sizes[id].type == ElementType::bf16) return Precision::bf16;
    }
  }
  return std::nullopt;
}

/// Expands one network in one interpretation of its types. Holds references to its arguments.
class RecordedExpansion {
 public:
  RecordedExpansion(const RecordedNetwork& network, const MeasuredOn* measured_on, RecordedTypes types)
      : network_(network),
        measured_on_(measured_on),
        batch_(static_cast<double>(network.batch)),
        types_(types) {}

  /// Runs the stages in order: layers, parameters, groups of calls, gradients, measured times, storages,
  /// facts.
  ExpandedModel run() && {
    model_.name = network_.name, model_.modules = std::max<std::int64_t>(1, network_.modules);
    model_.keeps_types = types_ == RecordedTypes::kept;
    layers();
    parameters();
    for (const RecordedBuffer& buffer : network_.buffers) {
      const TensorSize& size = network_.sizes[buffer.size];
      model_.buffers.push_back({whole_elements(size.elements(batch_)), bytes_of(size.type)});
    }
    // Gradients and times refer to grouped operators, so grouping comes before both.
    step_ = group_calls(network_, layer_of_, types_);
    if (types_ == RecordedTypes::kept && has_half_parameters(network_)) leave_out_autocast();
    drop_frozen();
    note_without_gradient();
    apply_times();
    storages();
    facts();
    model_.forward = std::move(step_.forward), model_.backward = std::move(step_.backward);
    return std::move(model_);
  }

 private:
  /// Adds a layer for each module in the order in which they first run, with the shape of its last result.
  void layers() {
    constexpr std::uint32_t kNone = UINT32_MAX;
    layer_of_.assign(network_.module_names.size(), kNone);
    for (const RecordedOperator& op : network_.operators) {
      if (layer_of_[op.module] == kNone)
        layer_of_[op.module] = add_layer(network_.module_names.at(op.module));
      if (op.backward || op.out.empty()) continue;
      model_.layer_traces[layer_of_[op.module]].result = sample_shape(network_.sizes[op.out[0]]);
    }
    for (std::uint32_t id = 0; id < layer_of_.size(); ++id) {
      if (layer_of_[id] == kNone) layer_of_[id] = 0;
    }
    if (model_.layer_names.empty()) add_layer("");
  }

  /// Appends a layer for the module of this path and returns its index.
  std::uint32_t add_layer(const std::string& path) {
    const auto id = static_cast<std::uint32_t>(model_.layer_names.size());
    layers_by_path_.emplace(path, id);
    model_.layer_names.push_back(printed_module(path));
    model_.layer_traces.push_back({Shape::features(1), {}});
    return id;
  }

  /// Returns the layer of a parameter: that of the nearest enclosing module with operators of its own.
  std::uint32_t layer_of_parameter(const std::string& name) const {
    // The search goes outward, from the module of the parameter to the root.
    for (std::string path = module_around(name);; path = module_around(path)) {
      const auto found = layers_by_path_.find(path);
      if (found != layers_by_path_.end()) return found->second;
      if (path.empty()) return 0;
    }
  }

  /// Splits the parameters into trained and frozen ones, and remembers the index of each trained one.
  void parameters() {
    std::uint32_t trained = 0;
    for (const RecordedParameter& recorded : network_.parameters) {
      const TensorSize& size = network_.sizes[recorded.size];
      const Parameter parameter{recorded.name, whole_elements(size.elements(batch_)),
                                layer_of_parameter(recorded.name), bytes_of(size.type)};
      (recorded.frozen ? model_.frozen : model_.parameters).push_back(parameter);
      trained_index_.push_back(recorded.frozen ? UINT32_MAX : trained++);
    }
  }

  /// Removes autocast from all operators: weights of 16 bits are trained without it.
  void leave_out_autocast() {
    for (Operator& op : step_.forward) op.half_capable = false;
    for (BackwardStep& step : step_.backward) step.op.half_capable = false;
  }

  /// Makes each trained parameter ready once, with the last operator that adds to its gradient.
  void drop_frozen() {
    std::vector<bool> seen(network_.parameters.size(), false);
    // The walk goes from the last step to the first, so the first sight of a parameter is its last gradient.
    for (auto step = step_.backward.rbegin(); step != step_.backward.rend(); ++step) {
      std::vector<std::uint32_t> kept;
      for (auto parameter = step->ready.rbegin(); parameter != step->ready.rend(); ++parameter) {
        if (network_.parameters[*parameter].frozen || seen[*parameter]) continue;
        seen[*parameter] = true;
        kept.push_back(*parameter);
      }
      step->ready.assign(kept.rbegin(), kept.rend());
    }
  }

  /// Makes parameters without a gradient ready when backward begins, as DDP handles them with
  /// find_unused_parameters.
  void note_without_gradient() {
    std::vector<bool> ready(network_.parameters.size(), false);
    for (const BackwardStep& step : step_.backward) {
      for (const std::uint32_t parameter : step.ready) ready[parameter] = true;
    }
    std::vector<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < ready.size(); ++i) {
      if (!ready[i] && !network_.parameters[i].frozen) missing.push_back(i);
    }
    facts_.without_gradient = static_cast<std::int64_t>(missing.size());
    if (missing.empty()) return;
    // A step without backward operators gets an empty one that can carry the parameters.
    if (step_.backward.empty()) {
      step_.backward.emplace_back();
      step_.backward.back().op.backward = true;
      step_.measured_backward.emplace_back();
    }
    std::vector<std::uint32_t>& first = step_.backward.front().ready;
    first.insert(first.begin(), missing.begin(), missing.end());
  }

  // Measured lists may be shorter than the operators: a step of missing gradients was added behind them.
  void apply_times() {
    for (std::size_t i = 0; i < step_.forward.size() && i < step_.measured_forward.size(); ++i)
      apply_times_to(step_.forward[i], step_.measured_forward[i]);
    for (std::size_t i = 0; i < step_.backward.size() && i < step_.measured_backward.size(); ++i)
      apply_times_to(step_.backward[i].op, step_.measured_backward[i]);
  }

  /// Applies measured times: the host's replaces the modelled one, the kernels' sets the ratio to the model.
  void apply_times_to(Operator& op, const MeasuredTimes& times) {
    // Kernel times can be compared with the model only where the measured GPU is known.
    if (times.has_host) op.stated_host = seconds(times.host_s);
    if (!times.has_kernels || measured_on_ == nullptr) return;
    facts_.measured_launches += op.kernels;
    const Gpu& gpu = measured_on_->gpu;
    // An operator without work has no modelled time that could be scaled.
    if (op.bytes.at(batch_) <= 0 && op.flops.at(batch_) <= 0) stand_in(op, times.kernels_s, gpu);
    const KernelCalibration calibration = default_kernel_calibration(gpu);
    const KernelContext context{gpu, calibration, measured_on_->precision};
    const double modelled = kernel_seconds(op, context, network_.batch);
    // The ratio stays with the operator, so the measurement carries over to other GPUs and batches.
    if (modelled > 0) op.over_model = times.kernels_s / modelled;
  }

  /// Gives an operator without known sizes work of the measured length: arithmetic for products, memory
  /// traffic for all others.
  void stand_in(Operator& op, double time, const Gpu& gpu) const {
    if (op.call == HostCall::linear || op.call == HostCall::conv2d || op.call == HostCall::attention) {
      op.is_roofline = true;
      op.flops = {0, time * gpu.fp32.per_second * gpu.sustained_clock / batch_};
    } else {
      op.bytes = {0, time * achieved_bandwidth(gpu) / batch_};
    }
  }

  /// Takes the lifetimes from the storages, and the elements of one sample from the inputs.
  void storages() {
    StorageSums sums = storages_of_step(network_, step_, types_, model_.layer_names.size());
    model_.lifetimes = std::move(sums.lifetimes), model_.saved_bytes = sums.saved_bytes;
    model_.largest_activation_elements = sums.largest_elements;
    for (std::size_t i = 0; i < model_.layer_traces.size(); ++i)
      model_.layer_traces[i].saved_bytes = sums.saved_of_layer[i];
    // A stated sample counts before the inputs that were recorded.
    if (!network_.sample.empty()) {
      model_.input_elements = 1;
      for (const std::int64_t side : network_.sample) model_.input_elements *= side;
      return;
    }
    double elements = 0;
    for (const SizeId input : network_.inputs) elements += network_.sizes[input].elements(batch_) / batch_;
    model_.input_elements = whole_elements(elements);
  }

  /// Collects what Recording reports. Indices of ready parameters change to those of trained ones.
  void facts() {
    facts_.by = network_.by, facts_.batch = network_.batch, facts_.grows = network_.grows;
    facts_.gpu = network_.gpu;
    facts_.was_tried_at_two = facts_.grows || facts_.by.starts_with("foretrain.capture");
    facts_.is_half = has_half_parameters(network_);
    if (!facts_.is_half) facts_.autocast = autocast_precision(network_);
    facts_.operators = static_cast<std::int64_t>(network_.operators.size());
    for (const Operator& op : step_.forward) facts_.launches += op.kernels, facts_.bytes += op.bytes;
    for (BackwardStep& step : step_.backward) {
      facts_.launches += step.op.kernels, facts_.bytes += step.op.bytes;
      for (std::uint32_t& parameter : step.ready) parameter = trained_index_[parameter];
    }
    facts_.unknown_launches = step_.unknown_launches, facts_.unknown_bytes = step_.unknown_bytes;
    facts_.unknown = step_.unknown, facts_.beyond_linear = step_.beyond_linear;
    std::sort(facts_.beyond_linear.begin(), facts_.beyond_linear.end());
    facts_.beyond_linear.erase(std::unique(facts_.beyond_linear.begin(), facts_.beyond_linear.end()),
                               facts_.beyond_linear.end());
    model_.recording = std::make_shared<const Recording>(std::move(facts_));
  }

  const RecordedNetwork& network_;
  const MeasuredOn* measured_on_;
  double batch_;
  RecordedTypes types_;
  ExpandedModel model_;
  GroupedStep step_;
  Recording facts_;
  /// Layer by id of a module's name.
  std::vector<std::uint32_t> layer_of_;
  std::map<std::string, std::uint32_t> layers_by_path_;
  /// Index in the model's parameters, by recorded parameter.
  std::vector<std::uint32_t> trained_index_;
};

}  // namespace

// Counted by elements, not by tensors: norms may stay in fp32.
bool has_half_parameters(const RecordedNetwork& network) {
  double half = 0, all = 0;
  for (const RecordedParameter& parameter : network.parameters) {
    const TensorSize& size = network.sizes[parameter.size];
    const double elements = size.elements(static_cast<double>(network.batch));
    all += elements, half += is_16_bit(size.type) ? elements : 0;
  }
  return 2 * half > all;
}

RecordedTypes types_of(const RecordedNetwork& network) {
  if (has_half_parameters(network)) return RecordedTypes::kept;
  return was_under_autocast(network) ? RecordedTypes::widened : RecordedTypes::half_kept;
}

ExpandedModel expand_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on) {
  return RecordedExpansion(network, measured_on, types_of(network)).run();
}

ExpandedModel expand_as_recorded(const RecordedNetwork& network, const MeasuredOn* measured_on) {
  return RecordedExpansion(network, measured_on, RecordedTypes::kept).run();
}

}  // namespace foretrain
