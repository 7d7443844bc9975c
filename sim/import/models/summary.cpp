// Makes a network of a printed summary, best effort. A row has type, shape and parameters alone. Windows,
// groups and biases follow from the parameters, strides and paddings from the sizes. A layer takes the result
// before it, otherwise the last one that fits. Results that nothing took are added to one of their shape.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/network_sketch.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/import/models/summary_network.hpp"
#include "sim/import/models/summary_windows.hpp"

namespace foretrain {

namespace {

using Sizes = NetworkSketch::Sizes;

/// Returns a type in small letters without underscores: "maxpooling2d" for "Max_Pooling2D".
std::string small_letters(std::string_view text) {
  std::string out = lower_case(text);
  std::erase(out, '_');
  return out;
}

const char* activation_of(const std::string& type) {
  static const std::map<std::string_view, const char*> kTypes{
      {"relu", "relu"}, {"activation", "relu"}, {"swish", "silu"}, {"leakyrelu", "leaky_relu"}};
  if (const auto found = kTypes.find(type); found != kTypes.end()) return found->second;
  for (const char* name :
       {"relu6", "gelu", "silu", "hardswish", "sigmoid", "tanh", "softmax", "dropout", "elu", "hardsigmoid"})
    if (type == name) return name;
  return nullptr;
}

class SummaryTranslation {
 public:
  SummaryTranslation(const NetworkSummary& summary, const ModelImportOptions& options,
                     Diagnostics& diagnostics, std::vector<std::string>& remarks)
      : summary_(summary), options_(options), diagnostics_(diagnostics), remarks_(remarks) {}

  std::string text(const std::string& description) {
    for (const SummaryRow& row : summary_.rows) {
      if (!diagnostics_.empty()) return "";
      if (sizes_of(row).empty()) continue;
      add(row);
    }
    if (results_.empty() || sketch_.count() < 2) {
      diagnostics_.report({}, "the summary has no layer with a shape", "rows of type, shape and parameters");
      return "";
    }
    close();
    return diagnostics_.empty() ? sketch_.text(description) : "";
  }

 private:
  /// Returns the sizes with channels first, as the model file has them; open sizes are --sequence.
  Sizes sizes_of(const SummaryRow& row) const {
    Sizes out = row.sizes;
    for (std::int64_t& size : out) {
      if (size < 1) size = options_.sequence.value_or(128);
    }
    double elements = 1;
    for (const std::int64_t size : out) elements *= static_cast<double>(size);
    if (elements > 1e12) return {};
    if (summary_.is_keras && out.size() >= 3) std::rotate(out.begin(), out.end() - 1, out.end());
    return out;
  }

  void open(const Sizes& sizes, bool tokens, const std::string& name = {}) {
    put(name, sketch_.input(sizes, tokens));
  }

  void put(const std::string& name, NetworkSketch::Result result) {
    results_.push_back(result);
    taken_.push_back(false);
    if (!name.empty()) names_[name] = result;
  }

  /// Returns the last result. Results of its shape that nothing took are added to it before (residual
  /// connections).
  NetworkSketch::Result last() {
    const Sizes sizes = sketch_.sizes(results_.back());
    std::vector<NetworkSketch::Result> same;
    for (std::size_t i = 1; i < results_.size(); ++i) {
      if (taken_[i] || sketch_.sizes(results_[i]) != sizes || sketch_.is_input(results_[i])) continue;
      same.push_back(results_[i]), taken_[i] = true;
    }
    if (same.size() < 2 || has_names_) return take(results_.size() - 1);
    remark("results of one shape that nothing took are added where they meet: a summary does not tell");
    results_.push_back(sketch_.add("type = \"add\"", same, sizes));
    taken_.push_back(true);
    return results_.back();
  }
  NetworkSketch::Result take(std::size_t place) { return taken_[place] = true, results_[place]; }

  void remark(const std::string& what) {
    if (std::find(remarks_.begin(), remarks_.end(), what) == remarks_.end()) remarks_.push_back(what);
  }

  void add(const SummaryRow& row) {
    const std::string type = small_letters(row.type);
    const Sizes made = sizes_of(row);
    if (type.starts_with("input")) return open(made, false, row.name);
    if (results_.empty()) open_for(row, type, made);
    follow_names(row);
    if (type.starts_with("embedding")) return add_embedding(row, made);
    if (row.parameters > 0 && (type.find("conv") != std::string::npos))
      return add_convolution(row, type, made);
    if (row.parameters > 0 && (type == "dense" || type.find("linear") != std::string::npos))
      return add_linear(row, made);
    if (type.find("lstm") != std::string::npos || type.find("gru") != std::string::npos)
      return add_recurrent(row, type, made);
    if (type.find("norm") != std::string::npos && row.parameters > 0) return add_norm(row, type);
    if (type.find("pool") != std::string::npos) return add_pool(row, type, made);
    if (row.inputs.size() > 1) return add_join(row, type, made);
    add_simple(row, type, made);
  }

  /// Begins a row at the result that it names; no guess is needed then.
  void follow_names(const SummaryRow& row) {
    has_names_ = has_names_ || !row.inputs.empty();
    const auto found = row.inputs.size() == 1 ? names_.find(row.inputs[0]) : names_.end();
    if (found == names_.end() || found->second == results_.back()) return;
    results_.push_back(found->second);
    taken_.push_back(true);
  }

  /// Opens the input that the first layer must have taken.
  void open_for(const SummaryRow& row, const std::string& type, const Sizes& made) {
    if (type.starts_with("embedding")) return open({made.size() > 1 ? made[0] : 1}, true);
    if (type.find("conv") != std::string::npos && made.size() >= 3) return open_image(row, made);
    if (type == "dense" || type.find("linear") != std::string::npos) {
      const std::int64_t in =
          std::max<std::int64_t>(1, row.parameters / std::max<std::int64_t>(1, made.back()));
      Sizes sizes = made;
      sizes.back() = (row.parameters - made.back()) % made.back() == 0 && row.parameters > made.back()
                         ? (row.parameters - made.back()) / made.back()
                         : in;
      return open(sizes, false);
    }
    open(made, false);
  }

  /// Returns candidates for the input's side. Keras pads only on request.
  template <class SideOf>
  std::vector<std::int64_t> sides_before(const Sizes& made, const FoundWindow& window, SideOf side_of) const {
    const std::int64_t asked = options_.image.value_or(0), unpadded = made[1] + window.kernel - 1;
    if (summary_.is_keras) return {asked, unpadded, made[1]};
    return {asked,   224,     side_of(summary_.input_bytes * 1.048576), side_of(summary_.input_bytes),
            made[1], unpadded};
  }

  /// Opens an image. Channels follow from the parameters; the side is --image, follows from the input's bytes
  /// (in MiB or MB), or is that of stride 1. Usual paddings are tried before others.
  void open_image(const SummaryRow& row, const Sizes& made) {
    for (const bool usual : {true, false}) {
      for (const std::int64_t channels : {3, 1, 4, 2}) {
        const auto window = window_of(channels, made, row.parameters, false);
        if (!window) continue;
        const auto side_of = [&](double bytes) {
          return static_cast<std::int64_t>(std::lround(std::sqrt(bytes / 4 / static_cast<double>(channels))));
        };
        for (const std::int64_t side : sides_before(made, *window, side_of)) {
          Sizes sizes(made.size(), side);
          sizes[0] = channels;
          FoundWindow fitted = *window;
          if (side < 1 || !fit_sides(sizes, made, fitted)) continue;
          if (usual && fitted.padding != (fitted.kernel - 1) / 2 && fitted.padding != 0) continue;
          return open(sizes, false);
        }
      }
    }
    remark("the network's input is not told: taken to have the shape of the first result");
    open(made, false);
  }

  void add_embedding(const SummaryRow& row, const Sizes& made) {
    const std::int64_t entries = row.parameters / std::max<std::int64_t>(1, made.back());
    const std::int64_t length = made.size() > 1 ? made[0] : 1;
    if (entries < 1) return add_unknown(row, made);
    NetworkSketch::Result ids = results_[0];
    if (sketch_.sizes(ids) != Sizes{length} || results_.size() > 1) ids = sketch_.input({length}, true);
    if (results_.size() == 1 && sketch_.is_input(results_[0])) ids = sketch_.input({length}, true);
    put(row.name,
        sketch_.add(fmt::format("type = \"embedding\", entries = {}, out = {}", entries, made.back()), {ids},
                    {length, made.back()}));
  }

  void add_convolution(const SummaryRow& row, const std::string& type, const Sizes& made) {
    const bool depthwise = type.find("depthwise") != std::string::npos;
    const bool transposed = type.find("transpose") != std::string::npos;
    const Sizes image = made.size() == 2 ? Sizes{made[0], 1, made[1]} : made;
    for (const bool grouped : {false, true}) {
      for (std::size_t place = results_.size(); place-- > 0 && !transposed && made.size() >= 2;)
        if (grouped || !depthwise) {
          if (convolved(row, image, place, grouped)) return;
        }
    }
    add_unknown(row, made);
  }

  bool convolved(const SummaryRow& row, const Sizes& made, std::size_t place, bool grouped) {
    const Sizes in = sketch_.sizes(results_[place]);
    if (in.size() != made.size()) return false;
    auto window = window_of(in[0], made, row.parameters, grouped);
    if (!window || !fit_sides(in, made, *window)) return false;
    const NetworkSketch::Result from = place + 1 == results_.size() ? last() : take(place);
    put(row.name,
        sketch_.add(fmt::format("type = \"conv{}d\", out = {}, {}, groups = {}, bias = {}", made.size() - 1,
                                made[0], window_keys(*window), window->groups, window->bias),
                    {from}, made));
    return true;
  }

  void add_linear(const SummaryRow& row, const Sizes& made) {
    for (std::size_t place = results_.size(); place-- > 0;) {
      const Sizes in = sketch_.sizes(results_[place]);
      double elements = 1;
      for (const std::int64_t size : in) elements *= static_cast<double>(size);
      for (const bool bias : {true, false}) {
        const std::int64_t weights = row.parameters - (bias ? made.back() : 0);
        if (weights < 1 || weights % made.back() != 0) continue;
        const std::int64_t width = weights / made.back();
        const bool is_flat = elements == static_cast<double>(width);
        if (!is_flat && in.back() != width) continue;
        const auto rows = static_cast<std::int64_t>(elements) / width;
        const bool is_one = rows == 1 && made.size() == 1;
        const NetworkSketch::Result from = place + 1 == results_.size() ? last() : take(place);
        return put(row.name, sketch_.add(fmt::format("type = \"linear\", out = {}{}", made.back(),
                                                     bias ? "" : ", bias = false"),
                                         {sketch_.reshaped(from, is_one ? Sizes{width} : Sizes{rows, width})},
                                         is_one ? Sizes{made.back()} : Sizes{rows, made.back()}));
      }
    }
    add_unknown(row, made);
  }

  void add_recurrent(const SummaryRow& row, const std::string& type, const Sizes& made) {
    const Sizes in = sketch_.sizes(results_.back());
    const std::int64_t gates = type.find("lstm") != std::string::npos ? 4 : 3;
    for (const std::int64_t ways : {1, 2}) {
      const std::int64_t hidden = made.back() / ways,
                         biases = row.parameters / ways - gates * hidden * (in.back() + hidden);
      if (in.size() != 2 || made.back() % ways != 0 || biases < 0 || biases > 2 * gates * hidden) continue;
      const NetworkSketch::Result rows =
          sketch_.add(fmt::format("type = \"{}\", width = {}, bidirectional = {}, bias = {}",
                                  gates == 4 ? "lstm" : "gru", hidden, ways == 2, biases > 0),
                      {last()}, {in[0], made.back()});
      if (made.size() > 1) return put(row.name, rows);
      return put(row.name, sketch_.add("type = \"first_token\"", {rows}, made));
    }
    add_unknown(row, made);
  }

  void add_norm(const SummaryRow& row, const std::string& type) {
    const Sizes in = sketch_.sizes(results_.back());
    const bool is_layer = type.find("layernorm") != std::string::npos;
    const bool is_image = in.size() >= 3;
    const std::string body = is_layer && !is_image ? "type = \"layer_norm\"" : "type = \"batch_norm\"";
    if (is_layer && is_image) return add_unknown(row, in);
    if (!is_layer && in.size() == 2) return add_unknown(row, in);
    put(row.name, sketch_.add(body, {last()}, in));
  }

  void add_pool(const SummaryRow& row, const std::string& type, const Sizes& made) {
    const Sizes in = sketch_.sizes(results_.back());
    const bool is_max = type.find("max") != std::string::npos;
    if (in.size() < 3) return add_unknown(row, made);
    if (made.size() < in.size() || type.find("adaptive") != std::string::npos) {
      const std::int64_t out = made.size() < in.size() ? 1 : made[1];
      Sizes sizes(in.size(), out);
      sizes[0] = in[0];
      put(row.name, sketch_.add(fmt::format("type = \"adaptive_avg_pool\", out = {}", out), {last()}, sizes));
      return;
    }
    for (const std::int64_t kernel :
         {in[1] / std::max<std::int64_t>(1, made[1]), std::int64_t{2}, std::int64_t{3}}) {
      FoundWindow window{std::max<std::int64_t>(1, kernel), 1, 0, 1, true};
      if (!fit_sides(in, made, window) || made[0] != in[0] || 2 * window.padding > window.kernel) continue;
      return put(row.name, sketch_.add(fmt::format("type = \"{}_pool\", {}", is_max ? "max" : "avg",
                                                   window_keys(window)),
                                       {last()}, made));
    }
    add_unknown(row, made);
  }

  void add_join(const SummaryRow& row, const std::string& type, const Sizes& made) {
    std::vector<NetworkSketch::Result> inputs;
    for (const std::string& name : row.inputs) {
      const auto found = names_.find(name);
      if (found != names_.end()) inputs.push_back(found->second);
    }
    const bool adds = type == "add" || type == "multiply" || type == "concatenate";
    if (!adds || inputs.size() < 2) return add_unknown(row, made);
    for (std::size_t i = 0; i < results_.size(); ++i)
      if (std::find(inputs.begin(), inputs.end(), results_[i]) != inputs.end()) taken_[i] = true;
    put(row.name,
        sketch_.add(fmt::format("type = \"{}\"", type == "concatenate" ? "concat" : type), inputs, made));
  }

  void add_simple(const SummaryRow& row, const std::string& type, const Sizes& made) {
    const Sizes in = sketch_.sizes(results_.back());
    const char* known = activation_of(type);
    if (row.parameters > 0) return add_unknown(row, made);
    if (known != nullptr && in == made) {
      if (type == "activation")
        remark("an activation whose function the summary does not tell is taken as relu");
      return put(row.name, sketch_.add(fmt::format("type = \"{}\"", known), {last()}, in));
    }
    double before = 1, after = 1;
    for (const std::int64_t size : in) before *= static_cast<double>(size);
    for (const std::int64_t size : made) after *= static_cast<double>(size);
    if (before == after && known == nullptr) {
      if (in != made)
        put(row.name, sketch_.reshaped(last(), made));
      else if (!row.name.empty())
        names_[row.name] = results_.back();
      return;
    }
    add_unknown(row, made);
  }

  void add_unknown(const SummaryRow& row, const Sizes& made) {
    double elements = 1;
    for (const std::int64_t size : sketch_.sizes(results_.back())) elements *= static_cast<double>(size);
    for (const std::int64_t size : made) elements += static_cast<double>(size);
    unknown_ += fmt::format("{}{}", unknown_.empty() ? "" : ", ", quotable(row.type));
    ++unknown_count_;
    const double positions =
        made.size() > 2 ? static_cast<double>(made[1]) * static_cast<double>(made[2]) : 1;
    const double flops = 2 * static_cast<double>(row.parameters) * positions + elements;
    unknown_.resize(std::min<std::size_t>(unknown_.size(), 2'000));
    const std::string parameters = row.parameters > 0 ? fmt::format(", parameters = {}", row.parameters) : "";
    put(row.name,
        sketch_.add(
            fmt::format(
                "type = \"custom\"{}, forward_flops = \"{:.0f} FLOP\", backward_flops = \"{:.0f} FLOP\", "
                "forward_bytes = \"{:.0f} B\", backward_bytes = \"{:.0f} B\", saved_bytes = \"{:.0f} B\", "
                "shape = {}",
                parameters, flops, 2 * flops, 4 * elements, 8 * elements, 4 * elements, list_text(made)),
            {last()}, made));
  }

  void close() {
    const NetworkSketch::Result end = last();
    const bool softmax = sketch_.body(end) == "type = \"softmax\"";
    sketch_.loss(softmax ? sketch_.taken_by(end) : end, "");
    if (unknown_count_ > 0)
      remark(
          fmt::format("{} of {} layers could not be worked out and count by their parameters and bytes: {}",
                      unknown_count_, summary_.rows.size(), unknown_));
  }

  const NetworkSummary& summary_;
  const ModelImportOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& remarks_;
  NetworkSketch sketch_;
  std::vector<NetworkSketch::Result> results_;
  std::vector<bool> taken_;
  std::map<std::string, NetworkSketch::Result> names_;
  std::string unknown_;
  bool has_names_ = false;  ///< rows name what they take
  int unknown_count_ = 0;
};

}  // namespace

std::string network_of_summary(const NetworkSummary& summary, const ModelImportOptions& options,
                               Diagnostics& diagnostics, std::vector<std::string>& remarks,
                               const std::string& description) {
  return SummaryTranslation(summary, options, diagnostics, remarks).text(description);
}

ImportedModel read_network_summary(const SourceText& source, const ModelImportOptions& options,
                                   Diagnostics& diagnostics) {
  ImportedModel made;
  const NetworkSummary summary = read_summary_rows(source, diagnostics);
  if (!diagnostics.empty()) return made;
  made.remarks.push_back(
      "best effort: a summary tells types, shapes and parameters alone; strides, windows, groups and what a "
      "layer takes "
      "are those by which they come out");
  made.text = fmt::format("# Made by `foretrain model import` of {}, a printed summary: best effort.\n",
                          quotable_file(source.name)) +
              network_of_summary(summary, options, diagnostics, made.remarks,
                                 fmt::format("{}, from a printed summary", quotable_file(source.name)));
  if (summary.parameters > 0)
    made.remarks.push_back(
        fmt::format("the summary counts {} parameters, untrained ones with them", summary.parameters));
  return made;
}

}  // namespace foretrain
