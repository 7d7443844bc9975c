// Which widths are inner ones is read off the flow of data: from each loss back to the layers that give its
// inputs their width, and those stay. The same width becomes the same wherever it stands, so that what could
// be added still can.
#include "sim/workload/layers/widening.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/workload/layers/layer_operators.hpp"

namespace foretrain {

namespace {

/// Widths that a power of two divides stay multiples of up to this: other sizes are slow on tensor cores.
constexpr std::int64_t kAligned = 8;

bool is_convolution(LayerType type) {
  return type == LayerType::conv1d || type == LayerType::conv2d || type == LayerType::conv3d ||
         type == LayerType::conv_transpose;
}

/// Gives its result a width of its own in `out`.
bool sets_out(LayerType type) {
  return is_convolution(type) || type == LayerType::linear || type == LayerType::embedding;
}

bool is_recurrent(LayerType type) { return type == LayerType::lstm || type == LayerType::gru; }

/// Its sizes are absolute: the positions kept, a shape, measured times.
bool is_rigid(const Layer& layer) {
  switch (layer.type) {
    case LayerType::slice:
    case LayerType::reshape:
    case LayerType::location_attention:
    case LayerType::adaptive_embedding:
    case LayerType::adaptive_softmax:
    case LayerType::dot_interaction:
    case LayerType::roi_align:
    case LayerType::timed:
      return true;
    case LayerType::pointwise:
      return layer.out > 0;
    default:
      return false;
  }
}

bool is_depthwise(const Layer& layer) {
  return is_convolution(layer.type) && layer.groups > 1 && layer.groups == layer.out;
}

/// The layers and whose results each takes.
class Flow {
 public:
  explicit Flow(std::vector<Layer>& layers) { walk(layers, {}); }

  /// The layers whose `out` or width some loss sees.
  std::set<const Layer*> seen_by_losses() const {
    std::set<const Layer*> seen;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].layer->type == LayerType::loss) mark_inputs(i, seen);
    }
    return seen;
  }

  const std::vector<Layer*>& layers() const { return layers_; }

 private:
  using Nodes = std::vector<std::size_t>;
  struct Node {
    const Layer* layer;
    Nodes inputs;
  };

  Nodes walk(std::vector<Layer>& layers, Nodes current) {
    for (Layer& layer : layers) {
      Nodes inputs = layer.type == LayerType::start ? Nodes{}
                     : layer.from.empty()           ? current
                                                    : named(layer.from);
      layers_.push_back(&layer);
      if (!layer.branches.empty()) inputs = ends_of(layer, inputs);
      for (const std::size_t other : named(layer.with)) inputs.push_back(other);
      nodes_.push_back({&layer, std::move(inputs)});
      current = {nodes_.size() - 1};
      for (const std::string& name : layer.as) give_name(name, current.front());
    }
    return current;
  }

  Nodes ends_of(Layer& layer, const Nodes& inputs) {
    Nodes ends;
    for (auto& branch : layer.branches) {
      for (const std::size_t end : walk(branch, inputs)) ends.push_back(end);
    }
    return ends;
  }

  void give_name(const std::string& name, std::size_t node) {
    if (name.size() > 1 && name.back() == '+')
      names_[name.substr(0, name.size() - 1)].push_back(node);
    else
      names_[name] = {node};
  }

  Nodes named(const std::vector<std::string>& names) const {
    Nodes out;
    for (const std::string& name : names) {
      const auto found = names_.find(name);
      if (found != names_.end()) out.insert(out.end(), found->second.begin(), found->second.end());
    }
    return out;
  }

  void mark_inputs(std::size_t from, std::set<const Layer*>& seen) const {
    std::vector<std::size_t> open = nodes_[from].inputs;
    std::set<std::size_t> visited;
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (!visited.insert(i).second) continue;
      const LayerType type = nodes_[i].layer->type;
      if (sets_out(type) || is_recurrent(type))
        seen.insert(nodes_[i].layer);
      else
        open.insert(open.end(), nodes_[i].inputs.begin(), nodes_[i].inputs.end());
    }
  }

  std::vector<Layer*> layers_;
  std::vector<Node> nodes_;
  std::map<std::string, Nodes> names_;
};

/// The layer that shares a parameter and tells its size: a table of positions, a class token, the bias of a
/// product; nullptr: none does.
const Layer* owner_of(const Layer& parameter, const std::vector<Layer*>& layers) {
  const auto tells = [&](const Layer* layer) {
    if (layer->weights != parameter.weights) return false;
    return layer->type == LayerType::position || layer->type == LayerType::class_token ||
           (layer->type == LayerType::linear && parameter.sequence.part == "bias");
  };
  const auto found = std::find_if(layers.begin(), layers.end(), tells);
  return found == layers.end() ? nullptr : *found;
}

/// What widths must remain multiples of.
std::set<std::int64_t> divisors_in(const std::vector<Layer*>& layers) {
  std::set<std::int64_t> out;
  for (const Layer* layer : layers) {
    out.insert(std::max<std::int64_t>(1, layer->heads));
    if (!is_depthwise(*layer)) out.insert(std::max<std::int64_t>(1, layer->groups));
  }
  return out;
}

class Widths {
 public:
  Widths(std::set<std::int64_t> divisors, double factor) : divisors_(std::move(divisors)), factor_(factor) {}

  std::int64_t operator()(std::int64_t width) const {
    std::int64_t unit = std::gcd(width, kAligned);
    for (const std::int64_t divisor : divisors_) {
      if (width % divisor == 0) unit = std::lcm(unit, divisor);
    }
    return std::max<std::int64_t>(
               1, std::llround(static_cast<double>(width) * factor_ / static_cast<double>(unit))) *
           unit;
  }

 private:
  std::set<std::int64_t> divisors_;
  double factor_;
};

std::int64_t shared_size(const Layer& parameter, const Layer& owner, const Widths& wider) {
  if (owner.type == LayerType::linear) return owner.out;
  const std::int64_t rows = std::max<std::int64_t>(1, owner.entries);
  return rows * wider(parameter.out / rows);
}

}  // namespace

std::string why_not_widened(const Model& model) {
  Model copy = model;
  const Flow flow(copy.layers);
  for (const Layer* layer : flow.layers()) {
    const bool is_alone = layer->type == LayerType::parameter && owner_of(*layer, flow.layers()) == nullptr;
    if (is_rigid(*layer) || is_alone)
      return fmt::format("{} has a layer of type {}, whose size does not follow a width", model.name,
                         row_of(layer->type).name);
  }
  return {};
}

Model widened(const Model& model, double factor) {
  Model out = model;
  const Flow flow(out.layers);
  const std::set<const Layer*> fixed = flow.seen_by_losses();
  const Widths wider(divisors_in(flow.layers()), factor);
  for (Layer* layer : flow.layers()) {
    if (fixed.count(layer) > 0) continue;
    const bool depthwise = is_depthwise(*layer);
    if (sets_out(layer->type)) layer->out = wider(layer->out);
    if (depthwise) layer->groups = layer->out;
    if (layer->sequence.width > 0) layer->sequence.width = wider(layer->sequence.width);
  }
  for (Layer* layer : flow.layers()) {
    if (layer->type == LayerType::parameter)
      layer->out = shared_size(*layer, *owner_of(*layer, flow.layers()), wider);
  }
  return out;
}

}  // namespace foretrain
