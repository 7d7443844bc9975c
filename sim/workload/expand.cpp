// From a network as people describe it to the operators of one training step: walks layers and branches over a tape.
//
// First every layer's own numbers are checked, so that all such mistakes come at once; then shapes flow through. A chain
// stops at its first misfit, since nothing is known after it; the other branches are still walked.
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/layer_operators.hpp"

namespace foretrain {
namespace {

constexpr std::size_t kLongestPath = 200;

/// Blocks reuse one activation module, counted behind the block.
bool is_module(LayerType type, bool in_block) {
  if (type == LayerType::flatten || type == LayerType::loss) return false;
  return !in_block || (type != LayerType::relu && type != LayerType::gelu && type != LayerType::tanh && type != LayerType::sigmoid);
}

bool joins_branches(LayerType type) { return type == LayerType::add || type == LayerType::concat; }

class FieldWalk {
 public:
  explicit FieldWalk(std::vector<ModelFault>& faults) : faults_(&faults) {}

  void walk(const std::vector<Layer>& layers, int depth) {
    for (const Layer& layer : layers) {
      if (stopped_) return;
      visit(layer, depth);
    }
  }

 private:
  void visit(const Layer& layer, int depth) {
    if (++layers_ > kMostLayers)
      return stop(layer, fmt::format("the network has more than {} layers", kMostLayers), "repeat blocks less often");
    if (layer.type == LayerType::loss && depth > 0)
      faults_->push_back({layer.span, "loss inside a branch", "place it last in the network"});
    for (ModelFault& fault : check_layer(layer)) faults_->push_back(std::move(fault));
    if (!joins_branches(layer.type)) return;
    if (depth == kDeepestBranch)
      return stop(layer, fmt::format("branches are nested more than {} deep", kDeepestBranch), "write the network flatter");
    for (const auto& branch : layer.branches) {
      if (++layers_ > kMostLayers) break;
      walk(branch, depth + 1);
    }
  }

  void stop(const Layer& layer, std::string message, std::string hint) {
    stopped_ = true;
    faults_->push_back({layer.span, std::move(message), std::move(hint)});
  }

  std::vector<ModelFault>* faults_;
  std::int64_t layers_ = 0;
  bool stopped_ = false;
};

class ShapeWalk {
 public:
  ShapeWalk(Tape& tape, std::vector<ModelFault>& faults) : tape_(&tape), faults_(&faults) {}

  /// The last layer's result; nothing after a misfit.
  std::optional<TensorId> walk(const std::vector<Layer>& layers, TensorId input, const std::string& prefix) {
    std::optional<TensorId> current = input;
    for (const Layer& layer : layers) {
      current = joins_branches(layer.type) ? join(layer, *current, prefix) : simple(layer, *current, prefix);
      if (!current) break;
    }
    return current;
  }

 private:
  std::string path_of(const Layer& layer, const std::string& prefix) {
    const std::string_view type = row_of(layer.type).name;
    std::string path = prefix + (layer.name.empty() ? fmt::format("{}{}", type, ++counts_[layer.type]) : layer.name);
    if (path.size() > kLongestPath) path.resize(kLongestPath);
    return path;
  }

  std::optional<TensorId> simple(const Layer& layer, TensorId input, const std::string& prefix) {
    tape_->begin_layer(path_of(layer, prefix));
    if (is_module(layer.type, !prefix.empty())) tape_->module();
    Applied applied = row_of(layer.type).apply(*tape_, layer, input);
    if (applied.ok()) return applied.tensor;
    faults_->push_back({layer.span, std::move(applied.message), std::move(applied.hint)});
    return std::nullopt;
  }

  // A block is a module, a side branch of several layers another.
  std::optional<TensorId> join(const Layer& layer, TensorId input, const std::string& prefix) {
    const std::string path = path_of(layer, prefix);
    tape_->module();
    std::vector<TensorId> ends;
    for (std::size_t i = 0; i < layer.branches.size(); ++i) {
      if (i > 0 && layer.branches[i].size() > 1) tape_->module();
      if (const auto end = walk(layer.branches[i], input, path + ".")) ends.push_back(*end);
    }
    if (ends.size() != layer.branches.size()) return std::nullopt;
    tape_->begin_layer(path);
    return layer.type == LayerType::add ? add(layer, ends) : concatenate(layer, ends);
  }

  std::nullopt_t report(const Layer& layer, std::string message, std::string hint) {
    faults_->push_back({layer.span, std::move(message), std::move(hint)});
    return std::nullopt;
  }

  std::optional<TensorId> add(const Layer& layer, const std::vector<TensorId>& ends) {
    const Shape shape = tape_->at(ends[0]).shape;
    TensorId sum = ends[0];
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const Shape& other = tape_->at(ends[i]).shape;
      if (other != shape || shape.kind == ShapeKind::tokens) {
        return report(layer, fmt::format("add: branch 1 gives {}, branch {} gives {}", to_string(shape), i + 1, to_string(other)),
                      "all branches must give the same shape");
      }
      const auto n = static_cast<double>(shape.elements());
      const TensorId result = tape_->result(shape, {sum, ends[i]}, false);
      tape_->forward(make_operator(OperatorClass::elementwise, HostCall::add, per_sample(n), per_sample(12 * n)));
      tape_->node({}, {sum, ends[i]}, result);
      sum = result;
    }
    return sum;
  }

  // Images join along channels, sequences and features along their last dimension; backward hands out views.
  std::optional<TensorId> concatenate(const Layer& layer, const std::vector<TensorId>& ends) {
    Shape joined = tape_->at(ends[0]).shape;
    const std::size_t along = joined.kind == ShapeKind::sequence ? 1 : 0;
    for (std::size_t i = 1; i < ends.size(); ++i) {
      Shape other = tape_->at(ends[i]).shape;
      const std::int64_t sum = joined.size[along] + other.size[along];
      other.size[along] = joined.size[along];
      if (other != joined || joined.kind == ShapeKind::tokens) {
        return report(layer,
                      fmt::format("concat: branch 1 gives {}, branch {} gives {}", to_string(tape_->at(ends[0]).shape), i + 1,
                                  to_string(tape_->at(ends[i]).shape)),
                      "all branches must agree but for channels (or the last dimension)");
      }
      joined.size[along] = sum;
      if (!bounded_product({joined.size[0], joined.size[1], joined.size[2]})) {
        return report(layer, "concat makes a tensor of more than 2^40 elements", "join fewer channels");
      }
    }
    const TensorId result = tape_->result(joined, ends, false);
    const double bytes = 8 * static_cast<double>(joined.elements());
    tape_->forward(make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(bytes)));
    tape_->node({}, ends, result);
    return result;
  }

  Tape* tape_;
  std::vector<ModelFault>* faults_;
  std::map<LayerType, int> counts_;
};

void check_whole(const Model& model, std::vector<ModelFault>& faults) {
  const SourceSpan last = model.layers.empty() ? SourceSpan{} : model.layers.back().span;
  if (model.layers.empty() || model.layers.back().type != LayerType::loss) {
    faults.push_back({last, "the network does not end with a loss", "close it with { type = \"loss\" }"});
  }
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    if (model.layers[i].type == LayerType::loss) faults.push_back({model.layers[i].span, "layers follow the loss", "place the loss last"});
  }
}

}  // namespace

ExpansionResult expand(const Model& model) {
  ExpansionResult result;
  const std::optional<Shape> input = input_shape(model.input, model.input_is_tokens);
  if (!input) {
    result.faults.push_back({SourceSpan{}, "the network's input is no shape of at most 2^40 elements",
                             "write input = [channels, height, width], [features], or [length] for tokens"});
  }
  check_whole(model, result.faults);
  FieldWalk(result.faults).walk(model.layers, 0);
  if (!result.faults.empty()) return result;

  Tape tape(model.name);
  ShapeWalk(tape, result.faults).walk(model.layers, tape.input(*input), "");
  if (result.faults.empty()) result.model = std::move(tape).finish();
  return result;
}

}  // namespace foretrain
