// Expands a network as people describe it into the operators of one training step: walks its layers and
// branches over a tape.
//
// The numbers of every layer are checked first, so that all such mistakes are reported at once. Then shapes
// flow through. A chain stops at its first misfit, since nothing is known after it; the other branches are
// still walked. Names of results live on the tape. After a misfit some are missing, so an unknown name is a
// mistake only while there is no other.
//
// Expansion is the only place where layers become operators. Every strategy and report starts from its
// result. Its cost is linear in the number of layers.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/workload/fine_tuning/virtual_tokens.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/shared_weights.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

constexpr std::size_t kLongestPath = 200;
/// Tensors that all joins together may take. Lists of names could make it quadratic in the number of layers.
constexpr std::size_t kMostJoined = 1'000'000;

bool is_module(const Layer& layer, bool in_block) {
  const ModuleRule rule = layer.type->module;
  return rule == ModuleRule::always || (rule == ModuleRule::outside_blocks && !in_block);
}

bool joins(const Layer& layer) { return layer.type->join != nullptr; }

bool stores_halves(WeightFormat format) {
  return format != WeightFormat::by_precision && format != WeightFormat::fp32;
}

/// transformers converts the scores of a model with 16-bit weights to fp32 before the loss
/// (transformers/loss/loss_utils.py); autocast does so in the loss itself, and so does compiled code.
bool widens_scores(const FineTuning& tuning) { return stores_halves(tuning.weights) && !tuning.is_compiled; }

/// Checks each layer by itself, whatever its input: its numbers, the size and depth of the network.
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
    // A layer may stand for several (parts); these count towards the limit on layers.
    layers_ += layer.type->parts == nullptr ? 1 : std::max<std::int64_t>(1, layer.type->parts(layer));
    if (layers_ > kMostLayers)
      return stop(layer, fmt::format("the network has more than {} layers", kMostLayers),
                  "repeat blocks less often");
    if (layer.type->is_loss && depth > 0)
      faults_->push_back({layer.span, "loss inside a branch", "place it last in the network"});
    for (ModelFault& fault : check_layer(layer)) faults_->push_back(std::move(fault));
    if (!joins(layer)) return;
    if (depth == kDeepestBranch)
      return stop(layer, fmt::format("branches are nested more than {} deep", kDeepestBranch),
                  "write the network flatter");
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

/// Passes shapes through the layers and records their operators on the tape.
class ShapeWalk {
 public:
  ShapeWalk(Tape& tape, std::vector<ModelFault>& faults) : tape_(&tape), faults_(&faults) {}

  /// Returns the last layer's result, or nothing after a misfit.
  std::optional<TensorId> walk(const std::vector<Layer>& layers, TensorId input, const std::string& prefix) {
    std::optional<TensorId> current = input;
    const Layer* head = prefix.empty() ? head_of(layers) : nullptr;
    for (const Layer& layer : layers) {
      tape_->trainability().set_head(&layer == head);
      if (&layer == head && tape_->trainability().tuning().fuses(FusedKernel::linear_cross_entropy))
        hold_rows_in_parts(layer, *current);
      current = visit(layer, *current, prefix);
      if (!current) break;
      if (&layer == head && widens_scores(tape_->trainability().tuning()))
        current = record_conversion_to_float(*tape_, *current);
      for (const std::string& name : layer.as) give_name(name, *current);
    }
    return current;
  }

 private:
  /// Returns the last linear layer, which makes the scores that the loss reads; nullptr without one.
  static const Layer* head_of(const std::vector<Layer>& layers) {
    const auto last = std::find_if(layers.rbegin(), layers.rend(), [](const Layer& layer) {
      return layer.type->name == std::string_view("linear");
    });
    return last == layers.rend() ? nullptr : &*last;
  }

  /// Limits how many rows of scores are in memory at a time for a loss fused with the head. Their size is
  /// that of the head's input: width over vocabulary (liger_kernel/ops/fused_linear_cross_entropy.py).
  // A tape of its own tells the width of the head's result; nothing of it is kept.
  void hold_rows_in_parts(const Layer& layer, TensorId input) {
    Tape tried("head");
    const TensorId rows = tried.input(tape_->at(input).shape);
    tried.begin_layer("head");
    const Applied made = layer.type->apply(tried, layer, rows);
    if (!made.ok()) return;
    const auto width = static_cast<double>(tape_->at(input).shape.width());
    tape_->hold_part(std::min(1.0, width / static_cast<double>(tried.at(made.tensor).shape.width())));
  }

  std::optional<TensorId> visit(const Layer& layer, TensorId previous, const std::string& prefix) {
    if (layer.type->open != nullptr) return start(layer, prefix);
    std::vector<TensorId> inputs;
    if (layer.from.empty()) inputs.push_back(previous);
    if (!read_names(layer, layer.from, inputs)) return std::nullopt;
    if (joins(layer)) return join(layer, inputs, prefix);
    if (inputs.size() == 1) return simple(layer, inputs[0], prefix);
    return report(layer, fmt::format("{} takes one input, not {}", layer.type->name, inputs.size()),
                  "join them with concat or add");
  }

  void give_name(const std::string& name, TensorId tensor) {
    if (name.size() > 1 && name.back() == '+')
      tape_->append_name(name.substr(0, name.size() - 1), tensor);
    else
      tape_->name(name, tensor);
  }

  bool read_names(const Layer& layer, const std::vector<std::string>& names, std::vector<TensorId>& tensors) {
    for (const std::string& name : names) {
      const std::vector<TensorId>* known = tape_->named(name);
      if (known == nullptr) {
        if (faults_->empty())
          report(layer, fmt::format("no result is named \"{}\"", name),
                 "name a layer before this one with `as`");
        return false;
      }
      joined_ += known->size();
      if (joined_ > kMostJoined) {
        report(layer, fmt::format("the network joins more than {} results", kMostJoined),
               "use shorter lists of names");
        return false;
      }
      tensors.insert(tensors.end(), known->begin(), known->end());
    }
    return true;
  }

  void begin(const Layer& layer, std::string path) {
    tape_->begin_layer(std::move(path));
    if (!layer.weights.empty()) tape_->share(layer.weights);
    if (layer.steps > 1) tape_->run_in_steps(layer.steps);
  }

  /// Layers from a file are named by their whole path already.
  std::string path_of(const Layer& layer, const std::string& prefix) {
    std::string path = layer.name.empty()
                           ? fmt::format("{}{}{}", prefix, layer.type->name, ++counts_[layer.type])
                           : layer.name;
    if (path.size() > kLongestPath) path.resize(kLongestPath);
    return path;
  }

  std::optional<TensorId> start(const Layer& layer, const std::string& prefix) {
    begin(layer, path_of(layer, prefix));
    Applied opened = layer.type->open(*tape_, layer);
    if (opened.ok()) return opened.tensor;
    return report(layer, std::move(opened.message), std::move(opened.hint));
  }

  // Names that a layer takes besides its input are looked up by the layer itself; they must be there.
  std::optional<TensorId> simple(const Layer& layer, TensorId input, const std::string& prefix) {
    std::vector<TensorId> besides;
    if (!read_names(layer, layer.with, besides)) return std::nullopt;
    begin(layer, path_of(layer, prefix));
    if (is_module(layer, !prefix.empty())) tape_->module();
    const bool embeds = tape_->at(input).shape.kind == ShapeKind::tokens &&
                        layer.type->name == std::string_view("embedding") && !has_virtual_tokens_;
    std::optional<TensorId> made = checked(layer, layer.type->apply(*tape_, layer, input));
    if (!made || !embeds) return made;
    has_virtual_tokens_ = true;
    return record_virtual_tokens(*tape_, *made);
  }

  // A block is a module, a side branch of several layers another.
  std::optional<TensorId> join(const Layer& layer, std::vector<TensorId> inputs, const std::string& prefix) {
    const std::string path = path_of(layer, prefix);
    tape_->module();
    if (!layer.branches.empty()) {
      if (inputs.size() != 1)
        return report(layer, "branches take one input", "give `from` one name, and the others in `with`");
      inputs = ends_of(layer, inputs[0], path);
      if (inputs.size() != layer.branches.size()) return std::nullopt;
    }
    if (!read_names(layer, layer.with, inputs)) return std::nullopt;
    begin(layer, path);
    return checked(layer, layer.type->join(*tape_, layer, inputs));
  }

  std::vector<TensorId> ends_of(const Layer& layer, TensorId input, const std::string& path) {
    std::vector<TensorId> ends;
    const bool is_gate = fuses_gate(layer, tape_->trainability().tuning());
    for (std::size_t i = 0; i < layer.branches.size(); ++i) {
      if (i > 0 && layer.branches[i].size() > 1) tape_->module();
      std::vector<Layer> branch = layer.branches[i];
      if (is_gate && i == 0) branch.pop_back();
      if (const auto end = walk(branch, input, path + ".")) ends.push_back(*end);
    }
    return ends;
  }

  std::optional<TensorId> checked(const Layer& layer, Applied applied) {
    if (!applied.ok()) return report(layer, std::move(applied.message), std::move(applied.hint));
    if (!tape_->has_sharing_fault()) return applied.tensor;
    return report(
        layer,
        fmt::format("layers that share weights \"{}\" have parameters of different sizes", layer.weights),
        "give them the same sizes, or other labels");
  }

  std::nullopt_t report(const Layer& layer, std::string message, std::string hint) {
    faults_->push_back({layer.span, std::move(message), std::move(hint)});
    return std::nullopt;
  }

  Tape* tape_;
  std::vector<ModelFault>* faults_;
  std::map<const LayerType*, int> counts_;
  std::size_t joined_ = 0;
  bool has_virtual_tokens_ = false;  ///< they stand in front of the first embedding's rows
};

/// Checks what only the whole network shows: it ends with a loss, and nothing follows a loss by chance.
void check_whole(const Model& model, std::vector<ModelFault>& faults) {
  const SourceSpan last = model.layers.empty() ? SourceSpan{} : model.layers.back().span;
  if (model.layers.empty() || !model.layers.back().type->is_loss) {
    faults.push_back({last, "the network does not end with a loss", "close it with { type = \"loss\" }"});
  }
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    const Layer& next = model.layers[i + 1];
    if (!model.layers[i].type->is_loss || next.type->open != nullptr || !next.from.empty()) continue;
    faults.push_back({model.layers[i].span, "layers follow the loss",
                      "place the loss last, or begin anew with a named result in `from`"});
  }
}

/// Sets the bytes of weights: frozen ones in the requested format, trained ones in 16 bits unless something
/// wider is requested.
void store_weights(const Trainability& trainability, ExpandedModel& model) {
  const FineTuning& tuning = trainability.tuning();
  if (!stores_halves(tuning.weights)) return;
  constexpr std::int64_t kHalfBytes = 2;
  model.has_half_weights = true;
  constexpr std::int64_t kFullBytes = 4;
  const auto is_upcast = [&](const Parameter& parameter) {
    return tuning.upcast == Upcast::all ||
           (tuning.upcast == Upcast::norms && parameter.name.find("norm") != std::string::npos);
  };
  for (Parameter& parameter : model.frozen)
    parameter.element_bytes = is_upcast(parameter) ? kFullBytes : kHalfBytes;
  std::vector<bool> multiplies(model.layer_names.size(), false);
  for (const Operator& op : model.forward) {
    if (op.cls == OperatorClass::gemm) multiplies[op.layer] = true;
  }
  for (Parameter& parameter : model.frozen) {
    const bool is_product = multiplies[parameter.layer] && parameter.name.ends_with("weight") &&
                            parameter.name.find("norm") == std::string::npos;
    if (is_product && trainability.is_quantised(parameter.name)) parameter.packed = tuning.weights;
  }
  const bool is_wide = tuning.adapter != AdapterKind::none && tuning.wide_adapters;
  for (Parameter& parameter : model.parameters) {
    if (!is_wide && !is_upcast(parameter)) parameter.element_bytes = kHalfBytes;
  }
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name);
  return list;
}

/// Returns the first reason why the network cannot be fine-tuned as requested, or nothing.
std::optional<ModelFault> fault_of_tuning(const Tape& tape, const Trainability& trainability,
                                          const ExpandedModel& model) {
  if (!tape.failure().empty()) return ModelFault{{}, tape.failure(), tape.failure_hint()};
  if (const std::vector<std::string> names = trainability.unmatched(); !names.empty())
    return ModelFault{{},
                      fmt::format("no layer of {} is called {}", model.name, list_of(names)),
                      "`foretrain model show` lists the layers; \"all-linear\" takes every linear layer but "
                      "a language model's "
                      "head"};
  if (model.parameters.empty())
    return ModelFault{{},
                      fmt::format("nothing of {} would be trained", model.name),
                      "name a target that a layer has, or what is trainable"};
  const auto is_packed = [](const Parameter& parameter) { return is_quantised(parameter.packed); };
  if (is_quantised(trainability.tuning().weights) && std::ranges::none_of(model.frozen, is_packed))
    return ModelFault{{},
                      fmt::format("{} has no frozen linear layer that {} could store", model.name,
                                  name_of(trainability.tuning().weights)),
                      "4 and 8 bits are for the linear layers of a transformer's blocks, beside adapters"};
  return std::nullopt;
}

/// Adds the first kernel of backward, which writes the gradient of the total loss: a one.
void write_first_gradient(ExpandedModel& model) {
  if (model.backward.empty()) return;
  Operator& first = model.backward.front().op;
  first.kernels += 1, first.flops.fixed += 1, first.bytes.fixed += 8;
}

/// Counts the blocks that the network has without fine-tuning, by the highest number in a layer's path.
std::uint32_t count_blocks(const Model& model) {
  Model whole = model;
  whole.tuning = {};
  std::int64_t last = -1;
  for (const std::string& path : expand(whole).model.layer_names) last = std::max(last, block_number(path));
  return static_cast<std::uint32_t>(last + 1);
}

bool has_layer_called(const std::vector<Layer>& layers, const std::string& name) {
  return std::ranges::any_of(layers, [&](const Layer& layer) {
    const bool is_it = layer.name.ends_with("." + name) || layer.name == name;
    return is_it || std::ranges::any_of(layer.branches, [&](const std::vector<Layer>& branch) {
             return has_layer_called(branch, name);
           });
  });
}

/// Prefixes targets that are names of layers with "=", so that they mean these layers alone: T5 calls the end
/// of its perceptrons "wo", as others call attention's last product.
FineTuning with_literal_targets(const Model& model) {
  FineTuning tuning = model.tuning;
  for (std::string& target : tuning.targets)
    if (has_layer_called(model.layers, target)) target = "=" + target;
  return tuning;
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
  if (result.faults.empty()) result.faults = check_declared_weights(model);
  if (!result.faults.empty()) return result;

  Tape tape(model.name, with_literal_targets(model));
  if (tape.trainability().requested_blocks() > 0) tape.trainability().count_blocks(count_blocks(model));
  ShapeWalk(tape, result.faults).walk(model.layers, tape.input(*input, model.input_needs_gradient), "");
  if (!result.faults.empty()) return result;
  result.model = std::move(tape).finish();
  if (model.tuning.changes_network()) {
    store_weights(tape.trainability(), result.model);
    if (auto fault = fault_of_tuning(tape, tape.trainability(), result.model)) {
      result.faults.push_back(*fault);
      return result;
    }
  }
  if (const Parameter* untrained = find_untrained(result.model)) {
    result.faults.push_back({model.layers.back().span,
                             fmt::format("nothing makes the gradient of {}", untrained->name),
                             "a layer must use what `parameter` registers"});
  }
  write_first_gradient(result.model);
  if (model.samples_per_input > 1) divide_sample(result.model, model.samples_per_input);
  return result;
}

}  // namespace foretrain
