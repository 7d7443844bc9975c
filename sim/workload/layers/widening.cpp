// Widening of networks. The flow of data shows which widths are inner ones: the layers that give a loss's
// inputs their width keep it, and all others are widened. Equal widths become equal wherever they stand, so
// that tensors that could be added still can.
#include "sim/workload/layers/widening.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {

namespace {

/// Widths that a power of two divides stay multiples of it up to this number: other sizes are slow on tensor
/// cores.
constexpr std::int64_t kAligned = 8;

bool is_rigid(const Layer& layer) {
  const auto rigid = layer.type->widening.is_rigid;
  return rigid != nullptr && rigid(layer);
}

/// The graph of a network: each layer with the layers whose results it takes. Pointers are into the layers.
class Flow {
 public:
  explicit Flow(std::vector<Layer>& layers) { walk(layers, {}); }

  /// Returns the layers whose `out` or width some loss reads.
  std::set<const Layer*> seen_by_losses() const {
    std::set<const Layer*> seen;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].layer->type->is_loss) mark_inputs(i, seen);
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

  /// Adds layers in order; returns the nodes whose results the last one leaves.
  Nodes walk(std::vector<Layer>& layers, Nodes current) {
    for (Layer& layer : layers) {
      Nodes inputs = layer.type->open != nullptr ? Nodes{} : layer.from.empty() ? current : named(layer.from);
      layers_.push_back(&layer);
      if (!layer.branches.empty()) inputs = ends_of(layer, inputs);
      for (const std::size_t other : named(layer.with)) inputs.push_back(other);
      nodes_.push_back({&layer, std::move(inputs)});
      current = {nodes_.size() - 1};
      for (const std::string& name : layer.as) give_name(name, current.front());
    }
    return current;
  }

  /// Adds the branches of a join; returns the nodes at their ends. An empty branch passes its input on.
  Nodes ends_of(Layer& layer, const Nodes& inputs) {
    Nodes ends;
    for (auto& branch : layer.branches) {
      for (const std::size_t end : walk(branch, inputs)) ends.push_back(end);
    }
    return ends;
  }

  /// Names follow the rules of expand(): "name+" appends, any other name replaces.
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

  /// Marks the layers that give the inputs of a node their width: the search stops at the first layer that
  /// sets one.
  void mark_inputs(std::size_t from, std::set<const Layer*>& seen) const {
    std::vector<std::size_t> open = nodes_[from].inputs;
    std::set<std::size_t> visited;
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (!visited.insert(i).second) continue;
      if (nodes_[i].layer->type->widening.sets_width)
        seen.insert(nodes_[i].layer);
      else
        open.insert(open.end(), nodes_[i].inputs.begin(), nodes_[i].inputs.end());
    }
  }

  std::vector<Layer*> layers_;
  std::vector<Node> nodes_;
  std::map<std::string, Nodes> names_;
};

/// Returns the widened size of what a layer declares, as a layer that shares it tells: a table of positions,
/// a class token, the bias of a product. Returns nothing when no layer tells it.
std::optional<std::int64_t> declared_size(const Layer& layer, const std::vector<Layer*>& layers,
                                          const Wider& wider) {
  for (const Layer* owner : layers) {
    if (owner->weights != layer.weights || owner->type->widening.size_of == nullptr) continue;
    if (const auto size = owner->type->widening.size_of(*owner, *layer.type->declares(layer), wider))
      return size;
  }
  return std::nullopt;
}

/// Returns the numbers that widths must remain multiples of.
std::set<std::int64_t> divisors_in(const std::vector<Layer*>& layers) {
  std::set<std::int64_t> out;
  for (const Layer* layer : layers) {
    const auto divisor = layer->type->widening.divisor;
    if (divisor != nullptr) out.insert(std::max<std::int64_t>(1, divisor(*layer)));
  }
  return out;
}

/// Maps widths to wider ones: the same width always becomes the same.
class Widths {
 public:
  Widths(std::set<std::int64_t> divisors, double factor) : divisors_(std::move(divisors)), factor_(factor) {}

  std::int64_t operator()(std::int64_t width) const {
    // The result stays a multiple of every divisor that the width is a multiple of.
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

}  // namespace

// The flow needs layers that can be changed, hence the copies in both functions.
std::string why_not_widened(const Model& model) {
  if (model.is_recorded)
    return fmt::format(
        "{} is recorded: its sizes are those of the recording, and no width of a layer is known", model.name);
  Model copy = model;
  const Flow flow(copy.layers);
  for (const Layer* layer : flow.layers()) {
    // A declared weight must follow a layer that uses it, or its new size is unknown.
    const auto as_it_is = [](std::int64_t width) { return width; };
    const DeclaredWeight* weight = layer->type->declares == nullptr ? nullptr : layer->type->declares(*layer);
    const bool is_alone =
        weight != nullptr && (!weight->trained || !declared_size(*layer, flow.layers(), as_it_is));
    if (is_rigid(*layer) || is_alone)
      return fmt::format("{} has a layer of type {}, whose size does not follow a width", model.name,
                         layer->type->name);
  }
  return {};
}

Model widened(const Model& model, double factor) {
  Model out = model;
  const Flow flow(out.layers);
  // The last layers before each loss keep their width: classes, words, regressed values.
  const std::set<const Layer*> fixed = flow.seen_by_losses();
  const Widths wider(divisors_in(flow.layers()), factor);
  for (Layer* layer : flow.layers()) {
    const auto widen = layer->type->widening.widen;
    if (widen != nullptr && fixed.count(layer) == 0) widen(*layer, wider);
  }
  // Declared weights follow the layers that use them, which have their new widths by then.
  for (Layer* layer : flow.layers()) {
    if (layer->type->declares != nullptr)
      layer->edit<DeclaredWeight>().out = *declared_size(*layer, flow.layers(), wider);
  }
  return out;
}

}  // namespace foretrain
