// Expansion. Every block yields at least one layer, so a budget of layers also bounds the work: expansion
// stops when the budget is spent.
//
// Names tell where a layer comes from: "stage1.0.conv2d" is the layer conv2d in the first repeat of the use
// stage1. Labels of weights follow the same path if an outer use shares its weights, so that equal labels
// mean equal weights.
#include "sim/scenario/layers/block_expansion.hpp"

#include <set>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/scenario/layers/layer_template.hpp"
#include "sim/scenario/layers/parameter_arithmetic.hpp"
#include "sim/scenario/result_names.hpp"

namespace foretrain {

namespace {

/// The place of layers: the prefix of their names, and the prefix of the label of their weights if an outer
/// block shares its own.
struct Place {
  std::string prefix;
  std::string label;

  // Returns the place inside of a block or branch.
  Place inside(const std::string& name) const {
    return {prefix + name + ".", label.empty() ? "" : label + name + "."};
  }
};

/// The expansion of one model. Names of results are unique in the result (ResultNames).
class Expansion {
 public:
  Expansion(const Blocks& blocks, const Arguments& of_size, Diagnostics& diagnostics)
      : blocks_(blocks), of_size_(of_size), diagnostics_(diagnostics) {}

  // Returns the layers of a list of templates.
  std::vector<Layer> list(const LayerList& templates, const Arguments& arguments, const Place& place) {
    std::vector<Layer> out;
    append(templates, arguments, place, out);
    return out;
  }

 private:
  // Appends the layers of templates, until the budget is spent.
  void append(const LayerList& templates, const Arguments& arguments, const Place& place,
              std::vector<Layer>& out) {
    for (const LayerTemplate& layer : templates) {
      if (spent_) return;
      if (layer.block.empty())
        append_layer(layer, arguments, place, out);
      else
        append_use(layer, arguments, place, out);
    }
  }

  // Appends one layer with its parameters' numbers, its inputs, branches and names.
  void append_layer(const LayerTemplate& from, const Arguments& arguments, const Place& place,
                    std::vector<Layer>& out) {
    // Branches count as layers, so that empty lists in a join are bounded, too.
    layers_ += 1 + static_cast<std::int64_t>(from.branches.size());
    if (layers_ > kMostLayers) return run_out(from.layer.span);
    Layer layer = from.layer;
    layer.name = place.prefix + from.layer.name;
    for (const KeyNumbers& given : from.numbers) set_numbers(given, arguments, layer);
    for (const KeyFlag& given : from.flags) {
      const Number number = lookup(given.number, arguments);
      std::get<LayerFlag>(given.key->value).at(layer) =
          in_range(number, given.number, given.key->name, {0, 1}) == 1;
    }
    layer.from = known_names(from.from, arguments);
    for (std::size_t i = 0; i < from.branches.size() && !spent_; ++i) {
      layer.branches.push_back(
          list(from.branches[i], arguments, place.inside(fmt::format("{}.{}", from.layer.name, i))));
    }
    layer.with = known_names(from.with, arguments);
    // A label of its own wins over that of an outer use.
    if (!from.weights.text.empty())
      layer.weights = text_of(from.weights, arguments);
    else if (!place.label.empty())
      layer.weights = place.label + from.layer.name;
    define_names(from.as, arguments, layer);
    out.push_back(std::move(layer));
  }

  // Appends the layers of a block, `repeat` times. Each use has names of its own.
  void append_use(const LayerTemplate& use, const Arguments& arguments, const Place& place,
                  std::vector<Layer>& out) {
    // A block sees the network's size and its own arguments, but not the parameters of the block around it.
    Arguments inner = of_size_;
    for (const Argument& argument : use.arguments) inner[argument.name] = lookup(argument.number, arguments);
    const std::vector<std::string> from = known_names(use.from, arguments);
    // A parameter may be 0, which leaves the block out.
    const std::int64_t repeat =
        in_range(lookup(use.repeat, arguments), use.repeat, "repeat", {0, kRepeats.most});
    const std::size_t first = out.size();
    for (std::int64_t i = 0; i < repeat && !spent_; ++i) {
      names_.enter();
      const std::string part = repeat > 1 ? fmt::format(".{}", i) : "";
      Place inner_place = place.inside(use.layer.name + part);
      if (!use.weights.text.empty()) inner_place.label = text_of(use.weights, arguments) + part + ".";
      append(blocks_.find(use.block)->second.layers, inner, inner_place, out);
      names_.leave();
    }
    if (first < out.size()) connect(use, arguments, from, out[first], out.back());
  }

  /// Connects the names of a use: the input of its first layer, and the name of its last result.
  void connect(const LayerTemplate& use, const Arguments& arguments, const std::vector<std::string>& from,
               Layer& first, Layer& last) {
    if (!from.empty() && !first.from.empty()) {
      report(use.from[0].span, "the block's first layer names its input itself",
             "leave one of the two `from` out");
    } else if (!from.empty()) {
      first.from = from;
    }
    define_names(use.as, arguments, last);
  }

  // Returns a name with its parameters' numbers.
  std::string text_of(const NameText& name, const Arguments& arguments) {
    std::string text;
    for (const NamePart& part : parts_of(name.text)) {
      const auto found = part.is_parameter ? arguments.find(part.text) : arguments.end();
      text += found == arguments.end() ? part.text : std::to_string(found->second.value);
    }
    return text;
  }

  // Returns the unique names of earlier results; unknown ones are reported with the nearest.
  std::vector<std::string> known_names(const std::vector<NameText>& names, const Arguments& arguments) {
    std::vector<std::string> known;
    for (const NameText& name : names) {
      const std::string text = text_of(name, arguments);
      if (auto found = names_.find(text)) {
        known.push_back(*found);
      } else if (is_new(name.span)) {
        const std::string hint = did_you_mean(text, names_.visible());
        report(name.span, fmt::format("no result is named \"{}\"", text),
               hint.empty() ? "name a layer before this one with `as`" : hint);
      }
    }
    return known;
  }

  /// Gives this layer the name of an earlier result, here or outside; later uses of the name mean this layer.
  void move_name(const std::string& text, SourceSpan span, Layer& layer) {
    if (auto found = names_.find(text))
      layer.as.push_back(*found);
    else if (is_new(span))
      report(span, fmt::format("no result is named \"{}\"", text), "leave the '=' out to name a new result");
  }

  // Defines the names of a layer's result: "name" is new, "name=" moves an earlier name, "name+" adds to a
  // list.
  void define_names(const std::vector<NameText>& names, const Arguments& arguments, Layer& layer) {
    for (const NameText& name : names) {
      const std::string text = text_of(name, arguments);
      // The last character tells the kind of definition.
      if (text.back() == '+') {
        layer.as.push_back(names_.define_list(text.substr(0, text.size() - 1)) + "+");
      } else if (text.back() == '=') {
        move_name(text.substr(0, text.size() - 1), name.span, layer);
      } else if (auto defined = names_.define(text)) {
        layer.as.push_back(*defined);
      } else if (is_new(name.span)) {
        report(name.span, fmt::format("\"{}\" is already the name of a result", text),
               fmt::format("choose another, or write \"{}+\" for a list", text));
      }
    }
  }

  // Returns the value of a number or formula; a formula without a value is reported.
  Number lookup(const Number& number, const Arguments& arguments) {
    bool lost = false;
    const Number found = number_of(number, arguments, lost);
    if (lost && is_new(number.span))
      report(number.span, fmt::format("\"{}\" divides by zero or is too large", number.formula));
    return found;
  }

  // Returns the number if it is in the range, else reports it and returns the least. Plain numbers were
  // checked by the reader.
  std::int64_t in_range(const Number& given, const Number& asked, std::string_view key,
                        const NumberRange& range) {
    if (asked.formula.empty()) return given.value;
    if (given.value >= range.least && given.value <= range.most) return given.value;
    if (is_new(given.span)) {
      report(given.span, fmt::format("\"{}\" is used for {}, which must be an integer from {} to {}",
                                     asked.formula, key, range.least, range.most));
    }
    return range.least;
  }

  void set_numbers(const KeyNumbers& given, const Arguments& arguments, Layer& layer) {
    const auto& to = std::get<LayerNumbers>(given.key->value);
    std::vector<std::int64_t> values;
    for (const Number& number : given.numbers)
      values.push_back(in_range(lookup(number, arguments), number, given.key->name, to.range));
    put_numbers(to, layer, values);
  }

  // Reports once that the budget is spent.
  void run_out(SourceSpan span) {
    if (!spent_)
      report(span, fmt::format("the model has more than {} layers", kMostLayers), "is a repeat too large?");
    spent_ = true;
  }

  /// Returns whether a place was not reported yet: a block that is used many times shows each fault once.
  bool is_new(SourceSpan span) const { return !reported_.contains({span.line, span.column}); }

  void report(SourceSpan span, std::string message, std::string hint = "") {
    if (diagnostics_.found().size() >= Diagnostics::kMostDiagnostics) return;
    if (reported_.insert({span.line, span.column}).second)
      diagnostics_.report(span, std::move(message), std::move(hint));
  }

  const Blocks& blocks_;
  const Arguments& of_size_;
  Diagnostics& diagnostics_;
  ResultNames names_;
  // Layers so far, with those of branches.
  std::int64_t layers_ = 0;
  bool spent_ = false;
  std::set<std::pair<int, int>> reported_;
};

}  // namespace

Number number_of(const Number& number, const Arguments& arguments, bool& lost) {
  if (number.formula.empty()) return number;
  SourceSpan span = number.span;
  const auto value_of = [&](std::string_view name) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) return std::int64_t{0};
    // The formula is "$name" alone, so a mistake is the argument's.
    if (number.formula.size() == name.size() + 1) span = found->second.span;
    return found->second.value;
  };
  const std::optional<std::int64_t> value = arithmetic_value(number.formula, value_of);
  lost = !value;
  return {value.value_or(0), "", span};
}

std::vector<Layer> expand_blocks(const Blocks& blocks, const LayerList& layers, const Arguments& of_size,
                                 Diagnostics& diagnostics) {
  return Expansion(blocks, of_size, diagnostics).list(layers, of_size, {});
}

}  // namespace foretrain
