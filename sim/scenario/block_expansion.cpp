// Every block yields at least one layer, so a budget of layers also bounds the work: expansion stops when it is spent.
#include "sim/scenario/block_expansion.hpp"

#include <set>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// What "$name" stands for, and where that was said.
using Arguments = std::map<std::string, Number, std::less<>>;

class Expansion {
 public:
  Expansion(const Blocks& blocks, Diagnostics& diagnostics) : blocks_(blocks), diagnostics_(diagnostics) {}

  std::vector<Layer> list(const LayerList& templates, const Arguments& arguments, const std::string& prefix) {
    std::vector<Layer> out;
    append(templates, arguments, prefix, out);
    return out;
  }

 private:
  void append(const LayerList& templates, const Arguments& arguments, const std::string& prefix, std::vector<Layer>& out) {
    for (const LayerTemplate& layer : templates) {
      if (spent_) return;
      if (layer.block.empty())
        append_layer(layer, arguments, prefix, out);
      else
        append_block(layer, arguments, prefix, out);
    }
  }

  void append_layer(const LayerTemplate& from, const Arguments& arguments, const std::string& prefix, std::vector<Layer>& out) {
    layers_ += 1 + static_cast<std::int64_t>(from.branches.size());
    if (layers_ > kMostLayers) return run_out(from.span);
    Layer layer;
    layer.type = from.type;
    layer.name = prefix + from.name;
    layer.span = from.span;
    layer.out = resolve(from, LayerField::out, arguments);
    layer.kernel = resolve(from, LayerField::kernel, arguments);
    layer.stride = resolve(from, LayerField::stride, arguments);
    layer.padding = resolve(from, LayerField::padding, arguments);
    layer.dilation = resolve(from, LayerField::dilation, arguments);
    layer.groups = resolve(from, LayerField::groups, arguments);
    layer.entries = resolve(from, LayerField::entries, arguments);
    layer.heads = resolve(from, LayerField::heads, arguments);
    layer.bias = from.bias;
    layer.inplace = from.inplace;
    for (std::size_t i = 0; i < from.branches.size() && !spent_; ++i) {
      layer.branches.push_back(list(from.branches[i], arguments, fmt::format("{}.{}.", layer.name, i)));
    }
    out.push_back(std::move(layer));
  }

  void append_block(const LayerTemplate& use, const Arguments& arguments, const std::string& prefix, std::vector<Layer>& out) {
    const Block& block = blocks_.find(use.block)->second;
    Arguments inner;
    for (const Argument& argument : use.with) inner[argument.name] = lookup(argument.number, arguments);
    const std::int64_t repeat = resolve(use, LayerField::repeat, arguments);
    for (std::int64_t i = 0; i < repeat && !spent_; ++i) {
      append(block.layers, inner, repeat > 1 ? fmt::format("{}{}.{}.", prefix, use.name, i) : fmt::format("{}{}.", prefix, use.name), out);
    }
  }

  /// The number itself, or the one its parameter stands for, with the place where that was written.
  static Number lookup(const Number& number, const Arguments& arguments) {
    if (number.parameter.empty()) return number;
    const auto found = arguments.find(number.parameter);
    return found == arguments.end() ? Number{} : found->second;
  }

  std::int64_t resolve(const LayerTemplate& layer, LayerField field, const Arguments& arguments) {
    const Number& number = layer[field];
    if (number.parameter.empty()) return number.value;
    const Number given = lookup(number, arguments);
    if (given.value >= least_of(field) && given.value <= most_of(field)) return given.value;
    report(given.span, fmt::format("\"${}\" is used for {}, which must be an integer from {} to {}", number.parameter, name_of(field),
                                   least_of(field), most_of(field)));
    return least_of(field);
  }

  void run_out(SourceSpan span) {
    if (!spent_) report(span, fmt::format("the model has more than {} layers", kMostLayers), "is a repeat too large?");
    spent_ = true;
  }

  void report(SourceSpan span, std::string message, std::string hint = "") {
    if (reported_.insert({span.line, span.column}).second) diagnostics_.report(span, std::move(message), std::move(hint));
  }

  const Blocks& blocks_;
  Diagnostics& diagnostics_;
  std::int64_t layers_ = 0;
  bool spent_ = false;
  std::set<std::pair<int, int>> reported_;
};

}  // namespace

std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, Diagnostics& diagnostics) {
  return Expansion(blocks, diagnostics).list(layers, {}, "");
}

}  // namespace foretrain
