// Makes a network of a printed model by carrying shapes from module to module in the printed order.
//
// The result is the rows of a printed summary, from which summary.cpp continues. print(model) shows neither
// the size of the input nor what forward() calls. The size must be given (--image). A call is assumed only
// where the next module leaves one choice, such as a pool ahead of a linear layer, and each assumption
// becomes a remark. A module that takes another number of channels than the result before it starts a branch:
// it takes the last result that fits.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/printed_modules.hpp"
#include "sim/import/models/summary_network.hpp"

namespace foretrain {

namespace {

/// Channels first, then sides; or tokens, then width; or the width alone. There is no batch.
using Shape = std::vector<std::int64_t>;

/// Longest side of an image, and tokens of a sample where --sequence is not given.
constexpr std::int64_t kLargestSide = 100'000, kUsualTokens = 128;
/// Widest window of a pool in forward() that is assumed: 2, 4, 8 and 16 are tried.
constexpr std::int64_t kWidestPool = 16;

std::string shape_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, " x ")); }

/// Returns the elements of a shape; 0 where there are too many to be true.
std::int64_t elements_of_shape(const Shape& shape) {
  double out = 1;
  for (const std::int64_t size : shape) out *= static_cast<double>(size);
  return out < 1e15 ? static_cast<std::int64_t>(out) : 0;
}

/// The outcome for an input of one size.
struct ShapedModel {
  NetworkSummary summary;
  std::vector<std::string> remarks;
  // The first module that does not fit; nullptr: all fit.
  const PrintedModule* misfit = nullptr;
  // Reason of the misfit, which continues a sentence that begins with the module's name.
  std::string why;
};

/// Carries the shape through all modules. The objects of different sizes are independent, so several sizes
/// can be tried.
class ShapeCarrier {
 public:
  ShapeCarrier(const std::vector<PrintedModule>& modules, std::int64_t image, std::int64_t tokens)
      : modules_(modules), image_(image), tokens_(tokens) {}

  /// Carries the shape to the end, or to the first module that does not fit.
  ShapedModel carry() {
    for (const PrintedModule& module : modules_) {
      take(module);
      if (out_.misfit != nullptr) break;
    }
    if (!unknown_.empty())
      remark(fmt::format("modules that are not known change no shape and cost nothing: {}",
                         fmt::join(unknown_, ", ")));
    return std::move(out_);
  }

 private:
  /// Takes one module by its type. An unknown one keeps the shape and costs nothing; a remark names it.
  void take(const PrintedModule& module) {
    const std::string type = lower_case(module.type);
    if (type.starts_with("convtranspose")) return take_transposed(module);
    if (type.starts_with("conv") && module.number("", 1)) return take_convolution(module);
    if (type == "linear" || type == "lazylinear") return take_linear(module);
    if (type == "embedding") return take_embedding(module);
    if (type == "lstm" || type == "gru") return take_recurrent(module, type == "lstm" ? 4 : 3);
    if (type.find("norm") != std::string::npos) return take_norm(module, type);
    if (type.find("pool") != std::string::npos) return take_pool(module, type);
    if (type == "flatten" && !shape_.empty()) return row(module, {elements_of_shape(shape_)}, 0);
    if (type == "identity" || shape_.empty()) return;
    constexpr std::string_view kKnown[] = {"relu",        "relu6",     "gelu",    "silu",     "hardswish",
                                           "sigmoid",     "tanh",      "softmax", "dropout",  "elu",
                                           "hardsigmoid", "leakyrelu", "swish",   "dropout2d"};
    if (std::ranges::find(kKnown, type) != std::end(kKnown)) return row(module, shape_, 0);
    if (unknown_.size() < 20) unknown_.insert(shortened(module.type, 40));
  }

  /// Notes that a module does not fit; carry() stops there.
  void misfit(const PrintedModule& module, std::string why) {
    out_.misfit = &module;
    out_.why = std::move(why);
  }
  void remark(std::string what) {
    if (std::ranges::find(out_.remarks, what) == out_.remarks.end()) out_.remarks.push_back(std::move(what));
  }

  /// Adds a module as a row of the summary, with the shape of its result.
  void row(const PrintedModule& module, Shape shape, std::int64_t parameters) {
    add_row(module.type, std::move(shape), parameters, module.line);
  }
  /// Adds a row and keeps its shape for branches that return to it.
  void add_row(const std::string& type, Shape shape, std::int64_t parameters, int line) {
    SummaryRow made;
    made.type = type, made.sizes = shape, made.parameters = parameters, made.span = {line, 1, 1};
    out_.summary.rows.push_back(std::move(made));
    past_.push_back(shape);
    shape_ = std::move(shape);
  }

  void open(Shape shape, int line) { add_row("Input", std::move(shape), 0, line); }

  /// Lets a branch continue from the last result with as many channels. Returns false, with a misfit, where
  /// there is none.
  bool go_back_to_channels(const PrintedModule& module, std::int64_t channels) {
    if (shape_.size() >= 2 && shape_.front() == channels) return true;
    const auto found = std::find_if(past_.rbegin(), past_.rend(), [&](const Shape& shape) {
      return shape.size() >= 2 && shape.front() == channels;
    });
    if (found == past_.rend()) {
      misfit(module, fmt::format("takes {} channels, and no result before it has so many", channels));
      return false;
    }
    shape_ = *found;
    return true;
  }

  /// Returns an argument as a number of at least 1.
  static std::int64_t or_one(const PrintedModule& module, std::string_view name) {
    return std::clamp<std::int64_t>(module.number(name).value_or(1), 1, kLargestSide);
  }

  /// Takes Conv1d, Conv2d or Conv3d: size and parameters by PyTorch's formulas. Only the first of two kernel
  /// sides is read.
  void take_convolution(const PrintedModule& module) {
    const std::int64_t in = module.number("", 0).value_or(0), out = module.number("", 1).value_or(0);
    const std::int64_t kernel = or_one(module, "kernel_size"), stride = or_one(module, "stride");
    const std::int64_t dilation = or_one(module, "dilation"), groups = or_one(module, "groups");
    if (in < 1 || out < 1 || in % groups != 0) return misfit(module, "has no channels that can be read");
    const std::size_t sides = module.type.find("1d") != std::string::npos   ? 1
                              : module.type.find("3d") != std::string::npos ? 3
                                                                            : 2;
    // The first layer opens the input: its channels are known, its sides are --image.
    if (shape_.empty()) {
      Shape input(sides + 1, image_);
      input.front() = in;
      open(std::move(input), module.line);
    }
    if (!go_back_to_channels(module, in)) return;
    const bool is_same = module.argument("padding").find("same") != std::string_view::npos;
    const std::int64_t reach = dilation * (kernel - 1);
    const std::int64_t padding =
        std::clamp<std::int64_t>(module.number("padding").value_or(0), 0, kLargestSide);
    Shape made = shape_;
    made.front() = out;
    for (std::size_t i = 1; i < made.size(); ++i) {
      made[i] = is_same ? made[i] : (made[i] + 2 * padding - reach - 1) / stride + 1;
      if (made[i] < 1 || shape_[i] + 2 * padding < reach + 1)
        return misfit(module, fmt::format("is wider than the {} before it", shape_text(shape_)));
    }
    const double windows = std::pow(static_cast<double>(kernel), static_cast<double>(sides));
    const double weights = static_cast<double>(out) * static_cast<double>(in / groups) * windows;
    if (weights > 1e12) return misfit(module, "has too many parameters");
    row(module, std::move(made), static_cast<std::int64_t>(weights) + (has_bias(module) ? out : 0));
  }

  /// Takes a transposed convolution; the inverse formula of a convolution's size.
  void take_transposed(const PrintedModule& module) {
    const std::int64_t in = module.number("", 0).value_or(0), out = module.number("", 1).value_or(0);
    const std::int64_t kernel = or_one(module, "kernel_size"), stride = or_one(module, "stride");
    const std::int64_t padding = module.number("padding").value_or(0),
                       more = module.number("output_padding").value_or(0);
    if (in < 1 || out < 1 || shape_.empty()) return misfit(module, "has nothing before it");
    if (!go_back_to_channels(module, in)) return;
    Shape made = shape_;
    made.front() = out;
    for (std::size_t i = 1; i < made.size(); ++i) {
      made[i] = (made[i] - 1) * stride - 2 * padding + kernel + more;
      if (made[i] < 1 || made[i] > kLargestSide) return misfit(module, "makes no shape that can be");
    }
    const double weights = static_cast<double>(in) * static_cast<double>(out) *
                           std::pow(static_cast<double>(kernel), static_cast<double>(made.size() - 1));
    if (weights > 1e12) return misfit(module, "has too many parameters");
    row(module, std::move(made), static_cast<std::int64_t>(weights) + (has_bias(module) ? out : 0));
  }

  static bool has_bias(const PrintedModule& module) { return module.argument("bias") != "False"; }

  /// Takes a linear layer, which needs `in_features` as the last size before it.
  void take_linear(const PrintedModule& module) {
    const std::int64_t in = module.number("in_features").value_or(0),
                       out = module.number("out_features").value_or(0);
    if (in < 1 || out < 1 || in > 1'000'000'000 / out * 1000)
      return misfit(module, "has no sizes that can be read");
    if (shape_.empty()) open({in}, module.line);
    if (!meet(module, in)) return;
    Shape made = shape_;
    made.back() = out;
    row(module, std::move(made), in * out + (has_bias(module) ? out : 0));
  }

  /// Makes the last size `in`: as it is, by flattening, as tokens, by a pool, or by an earlier result.
  /// Returns false, with a misfit, where none fits.
  bool meet(const PrintedModule& module, std::int64_t in) {
    if (shape_.back() == in && shape_.size() < 3) return true;
    if (shape_.size() >= 3) return meet_image(module, in);
    const auto found = std::find_if(past_.rbegin(), past_.rend(), [in](const Shape& shape) {
      return shape.size() < 3 && shape.back() == in;
    });
    if (found == past_.rend()) {
      misfit(module, fmt::format("takes {} numbers, and before it are {}", in, shape_text(shape_)));
      return false;
    }
    shape_ = *found;
    return true;
  }

  /// Brings an image to `in` numbers: flattened, as tokens, by a mean over positions, or by a max pool.
  bool meet_image(const PrintedModule& module, std::int64_t in) {
    const std::int64_t all = elements_of_shape(shape_), channels = shape_.front();
    if (all == in) {
      add_row("Flatten", {in}, 0, module.line);
      return true;
    }
    if (channels == in) {
      // Behind a layer norm positions are tokens, so a linear layer works on each of them.
      if (has_tokens_) return as_tokens(module);
      remark(
          fmt::format("a mean over all positions before {} is assumed: print(model) does not show functions",
                      module.name));
      add_row("AdaptiveAvgPool2d", pooled(shape_, 1), 0, module.line);
      add_row("Flatten", {in}, 0, module.line);
      return true;
    }
    for (std::int64_t window = 2; window <= std::min(kWidestPool, shape_[1]); window *= 2) {
      const Shape made = pooled(shape_, shape_[1] / window);
      if (elements_of_shape(made) != in) continue;
      remark(fmt::format("a {0} x {0} max pool before {1} is assumed: print(model) does not show functions",
                         window, module.name));
      add_row("MaxPool2d", made, 0, module.line);
      add_row("Flatten", {in}, 0, module.line);
      return true;
    }
    misfit(module, fmt::format("takes {} numbers, and before it are {}", in, shape_text(shape_)));
    return false;
  }

  /// Returns a shape with the same channels and all sides equal.
  static Shape pooled(const Shape& shape, std::int64_t side) {
    Shape out(shape.size(), side);
    out.front() = shape.front();
    return out;
  }

  /// Makes an image a sequence: positions become tokens, channels their width.
  bool as_tokens(const PrintedModule& module) {
    const std::int64_t channels = shape_.front();
    add_row("Flatten", {elements_of_shape(shape_) / channels, channels}, 0, module.line);
    return true;
  }

  /// Takes an embedding, which begins a sequence of tokens.
  void take_embedding(const PrintedModule& module) {
    const std::int64_t entries = module.number("", 0).value_or(0), width = module.number("", 1).value_or(0);
    if (entries < 1 || width < 1 || entries > 1'000'000'000'000 / width)
      return misfit(module, "has no sizes that can be read");
    row(module, {tokens_, width}, entries * width);
  }

  /// Takes LSTM (4 gates) or GRU (3 gates); each layer becomes a row. PyTorch has two biases for each gate.
  void take_recurrent(const PrintedModule& module, std::int64_t gates) {
    std::int64_t in = module.number("", 0).value_or(0);
    const std::int64_t hidden = module.number("", 1).value_or(0);
    const std::int64_t layers = std::clamp<std::int64_t>(module.number("num_layers").value_or(1), 1, 100);
    const std::int64_t ways = module.argument("bidirectional") == "True" ? 2 : 1;
    if (in < 1 || hidden < 1 || in > 1'000'000 || hidden > 1'000'000)
      return misfit(module, "has no sizes that can be read");
    if (shape_.empty()) open({tokens_, in}, module.line);
    if (!meet(module, in)) return;
    for (std::int64_t layer = 0; layer < layers; ++layer, in = ways * hidden) {
      const std::int64_t biases = module.argument("bias") == "False" ? 0 : 2 * gates * hidden;
      row(module, {shape_.size() > 1 ? shape_[0] : 1, ways * hidden},
          ways * (gates * hidden * (in + hidden) + biases));
    }
  }

  /// Takes a norm. LayerNorm on an image means that positions are tokens from there on.
  void take_norm(const PrintedModule& module, const std::string& type) {
    if (shape_.empty()) return;
    const bool is_layer =
        type.find("layernorm") != std::string::npos || type.find("rms") != std::string::npos;
    const std::int64_t width =
        module.number("", type.find("groupnorm") != std::string::npos ? 1 : 0).value_or(0);
    if (width < 1) return;
    if (is_layer && shape_.size() >= 3) {
      has_tokens_ = true;
      if (shape_.front() == width) as_tokens(module);
    }
    if (!is_layer && shape_.size() >= 3 && !go_back_to_channels(module, width)) return;
    const bool has_weights =
        module.argument("affine") != "False" && module.argument("elementwise_affine") != "False";
    row(module, shape_, has_weights ? (type.find("rms") != std::string::npos ? width : 2 * width) : 0);
  }

  /// Takes a pool; without a stride the stride is the kernel.
  void take_pool(const PrintedModule& module, const std::string& type) {
    if (shape_.size() < 2) return;
    if (type.find("adaptive") != std::string::npos) {
      const std::int64_t side = module.number("output_size", 0).value_or(1);
      return row(module, pooled(shape_, std::clamp<std::int64_t>(side, 1, shape_[1])), 0);
    }
    const std::int64_t kernel = std::max<std::int64_t>(module.number("kernel_size", 0).value_or(2), 1);
    const std::int64_t stride = std::max<std::int64_t>(module.number("stride").value_or(kernel), 1);
    const std::int64_t padding = module.number("padding").value_or(0);
    const std::int64_t more = module.argument("ceil_mode") == "True" ? stride - 1 : 0;
    Shape made = shape_;
    for (std::size_t i = 1; i < made.size(); ++i) {
      if (made[i] + 2 * padding < kernel)
        return misfit(module, fmt::format("is wider than the {} before it", shape_text(shape_)));
      made[i] = (made[i] + 2 * padding - kernel + more) / stride + 1;
    }
    row(module, std::move(made), 0);
  }

  const std::vector<PrintedModule>& modules_;
  std::int64_t image_, tokens_;
  ShapedModel out_;
  Shape shape_;
  std::vector<Shape> past_;
  std::set<std::string> unknown_;
  bool has_tokens_ = false;
};

/// Returns whether the first module with weights takes an image.
bool takes_image(const std::vector<PrintedModule>& modules) {
  for (const PrintedModule& module : modules) {
    const std::string type = lower_case(module.type);
    if (type.starts_with("conv")) return true;
    if (type == "linear" || type == "embedding" || type == "lstm" || type == "gru") return false;
  }
  return false;
}

/// Returns which usual sides all modules fit; empty where more than a few do, which would not help.
std::string fitting_sides(const std::vector<PrintedModule>& modules) {
  constexpr int kFewSides = 4;
  std::string out;
  int count = 0;
  for (const std::int64_t side : {28, 32, 64, 96, 128, 224, 256, 299, 384, 512}) {
    if (ShapeCarrier(modules, side, kUsualTokens).carry().misfit == nullptr)
      out += fmt::format("{}{}", count++ > 0 ? ", " : "", side);
  }
  return count <= kFewSides ? out : "";
}

/// Asks for --image, with the usual sides that fit.
void ask_for_image(const std::vector<PrintedModule>& modules, Diagnostics& diagnostics) {
  const std::string sides = fitting_sides(modules);
  diagnostics.report({modules.front().line, 1, 1}, "print(model) does not tell the size of the input",
                     fmt::format("give the side of the image, as in --image 224{}{}",
                                 sides.empty() ? "" : "; of the usual sizes these fit all layers: ", sides));
}

}  // namespace

ImportedModel read_printed_model(const SourceText& source, const ModelImportOptions& options,
                                 Diagnostics& diagnostics) {
  ImportedModel made;
  const std::vector<PrintedModule> modules = printed_modules(source, diagnostics);
  if (!diagnostics.empty()) return made;
  if (modules.empty()) return diagnostics.report({}, "the printed model has no layer"), made;
  if (takes_image(modules) && !options.image) return ask_for_image(modules, diagnostics), made;
  const std::int64_t image = std::clamp<std::int64_t>(options.image.value_or(1), 1, kLargestSide);
  const std::int64_t tokens =
      std::clamp<std::int64_t>(options.sequence.value_or(kUsualTokens), 1, 10'000'000);
  ShapedModel shaped = ShapeCarrier(modules, image, tokens).carry();
  if (shaped.misfit != nullptr) {
    diagnostics.report(
        {shaped.misfit->line, 1, 1}, fmt::format("{} {}", printable(shaped.misfit->name), shaped.why),
        takes_image(modules)
            ? "another --image may fit; views and functions of forward() are not printed"
            : "views and functions of forward() are not printed: `foretrain record` sees them");
    return made;
  }
  made.remarks = std::move(shaped.remarks);
  made.remarks.emplace_back(
      "best effort: print(model) shows modules alone; additions, attention's products and views in forward() "
      "are not "
      "in it");
  if (!takes_image(modules) && !options.sequence)
    made.remarks.push_back(fmt::format("samples of {} tokens are assumed: --sequence N says better", tokens));
  const std::string file = quotable_file(source.name);
  made.text = fmt::format("# Made by `foretrain model import` of {}, a printed model: best effort.\n", file) +
              network_of_summary(shaped.summary, options, diagnostics, made.remarks,
                                 fmt::format("{}, from a printed model", file));
  return made;
}

}  // namespace foretrain
