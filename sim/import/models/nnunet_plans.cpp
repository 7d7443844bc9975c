// Reads nnU-Net's plans.json: the U-Net for a data set, stage by stage, as dynamic_network_architectures
// builds it.
//
// nnUNetv2_plan_experiment writes the file, for example
//
//   {"plans_name": "nnUNetPlans", "configurations": {"2d": {"patch_size": [512, 512], "architecture":
//   {...}}}}
//
// Stages of the encoder begin with a strided convolution. The decoder grows by a transposed convolution of
// the same stride, joins the stage of that size, and gives a segmentation at each size (deep supervision).
// Taken are the patch, the widths, kernels and strides, and the number of channels. The plans do not say how
// many classes there are, so two are assumed with a remark. Spacing, normalisation and batch size are
// ignored. Unknown classes of networks and stages that do not fit together are reported.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/models/config_values.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/readers.hpp"

namespace foretrain {

namespace {

/// Stages of a network and dimensions of an image, at most.
constexpr std::size_t kMostStages = 16, kMostPlanSides = 3;
/// Bytes of the file, at most.
constexpr std::size_t kLargestPlans = std::size_t{16} << 20;
/// Classes of the segmentation (background and one more), and the largest number in the plans.
constexpr std::int64_t kAssumedClasses = 2, kLargestPlanNumber = 1'000'000;
/// Convolutions of a stage, at most; nnU-Net plans up to six.
constexpr std::int64_t kMostConvolutions = 100;

/// One number for each dimension of the image, or one for each stage.
using Triple = std::vector<std::int64_t>;

/// The planned network: all lists except `patch` have one entry a stage, the decoder's one less.
struct PlannedUnet {
  std::int64_t channels = 1;
  Triple patch, features, convolutions, decoder_convolutions;
  std::vector<Triple> kernels, strides;
  bool is_residual = false, bias = true;
  // Number of stages of the encoder.
  std::size_t stages() const { return features.size(); }
};

/// Returns a list of 1 to `most` whole numbers from 1 to kLargestPlanNumber; nothing for other values.
std::optional<Triple> numbers_in(const LogJson& value, std::size_t most) {
  if (!value.is_array() || value.empty() || value.size() > most) return std::nullopt;
  Triple out;
  for (const LogJson& one : value) {
    const bool fits = one.is_number_integer() && one.get<double>() >= 1 &&
                      one.get<double>() <= static_cast<double>(kLargestPlanNumber);
    if (!fits) return std::nullopt;
    out.push_back(one.get<std::int64_t>());
  }
  return out;
}

/// Returns one list of sides for each stage; nothing for other values.
std::optional<std::vector<Triple>> lists_in(const LogJson& value) {
  if (!value.is_array() || value.empty() || value.size() > kMostStages) return std::nullopt;
  std::vector<Triple> out;
  for (const LogJson& one : value) {
    std::optional<Triple> sides = numbers_in(one, kMostPlanSides);
    if (!sides) return std::nullopt;
    out.push_back(std::move(*sides));
  }
  return out;
}

/// Reads a configuration of the plans, in the layout of either generation.
class PlansReader {
 public:
  PlansReader(const LogJson& configuration, Diagnostics& diagnostics)
      : configuration_(configuration), diagnostics_(diagnostics), values_(configuration, diagnostics) {}

  /// Returns the network; it is valid only where nothing was reported.
  PlannedUnet read() {
    const LogJson& architecture = at(configuration_, "architecture");
    return architecture.is_object() ? newer(architecture) : older();
  }

 private:
  /// Reads the layout since nnU-Net 2.4: the class of the network and its arguments.
  PlannedUnet newer(const LogJson& architecture) {
    const LogJson& name = at(architecture, "network_class_name");
    const std::string kind = name.is_string() ? name.get<std::string>() : "";
    const LogJson& own = at(architecture, "arch_kwargs");
    PlannedUnet unet;
    unet.is_residual = kind.ends_with("ResidualEncoderUNet");
    if (!unet.is_residual && !kind.ends_with("PlainConvUNet"))
      values_.refuse("network_class_name", fmt::format("{} is not known", quotable(kind.substr(0, 80))),
                     "known: PlainConvUNet, ResidualEncoderUNet");
    unet.features = numbers(own, "features_per_stage");
    unet.convolutions = numbers(own, unet.is_residual ? "n_blocks_per_stage" : "n_conv_per_stage");
    unet.decoder_convolutions = numbers(own, "n_conv_per_stage_decoder");
    unet.kernels = lists(own, "kernel_sizes"), unet.strides = lists(own, "strides");
    if (at(own, "conv_bias").is_boolean()) unet.bias = at(own, "conv_bias").get<bool>();
    return finished(std::move(unet));
  }

  /// Reads the layout before that: sizes under keys of their own, and widths that double up to a limit.
  PlannedUnet older() {
    PlannedUnet unet;
    unet.is_residual = values_.word_or("UNet_class_name", "PlainConvUNet") == "ResidualEncoderUNet";
    unet.convolutions = numbers(configuration_, "n_conv_per_stage_encoder");
    unet.decoder_convolutions = numbers(configuration_, "n_conv_per_stage_decoder");
    unet.kernels = lists(configuration_, "conv_kernel_sizes");
    unet.strides = lists(configuration_, "pool_op_kernel_sizes");
    const std::int64_t most = values_.size_or({"unet_max_num_features"}, 320);
    std::int64_t width = values_.size_or({"UNet_base_num_features"}, 32);
    for (std::size_t stage = 0; stage < unet.strides.size(); ++stage, width = std::min(most, 2 * width))
      unet.features.push_back(std::min(most, width));
    return finished(std::move(unet));
  }

  /// Reads the patch and checks that all lists have matching lengths. The message about lengths is given only
  /// when nothing else was wrong, because a missing list would cause it, too.
  PlannedUnet finished(PlannedUnet unet) {
    unet.patch = numbers(configuration_, "patch_size");
    const std::size_t stages = unet.stages(), sides = unet.patch.size();
    const auto has_sides = [&](const Triple& one) { return one.size() == sides; };
    // Each convolution is written out, so their number bounds the model file.
    for (const Triple* each : {&unet.convolutions, &unet.decoder_convolutions}) {
      if (!each->empty() && *std::ranges::max_element(*each) > kMostConvolutions)
        diagnostics_.report(
            {}, fmt::format("a stage of the plan has more than {} convolutions", kMostConvolutions),
            "nnU-Net plans at most six");
    }
    const bool fits =
        stages >= 2 && sides >= 2 && unet.kernels.size() == stages && unet.strides.size() == stages &&
        unet.convolutions.size() == stages && unet.decoder_convolutions.size() == stages - 1 &&
        std::ranges::all_of(unet.kernels, has_sides) && std::ranges::all_of(unet.strides, has_sides);
    if (!fits && diagnostics_.empty())
      diagnostics_.report({}, "the stages of the plan do not fit together",
                          "one entry a stage, one less in the decoder, as many sides as patch_size");
    return unet;
  }

  /// Reads a list that must be there; reports it and returns an empty one where it is wrong.
  Triple numbers(const LogJson& from, const char* key) {
    std::optional<Triple> read = numbers_in(at(from, key), kMostStages);
    if (!read)
      values_.refuse(key, fmt::format("{} must be a list of 1 to {} whole numbers", key, kMostStages));
    return read.value_or(Triple{});
  }
  std::vector<Triple> lists(const LogJson& from, const char* key) {
    std::optional<std::vector<Triple>> read = lists_in(at(from, key));
    if (!read) values_.refuse(key, fmt::format("{} must be a list of lists, one for each stage", key));
    return read.value_or(std::vector<Triple>{});
  }

  const LogJson& configuration_;
  Diagnostics& diagnostics_;
  ConfigValues values_;
};

/// Writes the model file of a planned network.
class UnetWriter {
 public:
  explicit UnetWriter(const PlannedUnet& unet) : unet_(unet) {}

  /// Returns the model file: encoder, decoder, and a loss for each size.
  std::string write(std::string_view title) {
    text_ = fmt::format("description = \"{}\"\noptimizer = \"momentum\"\ninput = [{}, {}]\nlayers = [\n",
                        title, unet_.channels, fmt::join(unet_.patch, ", "));
    // A residual network begins with a convolution that keeps the size (the stem).
    if (unet_.is_residual) norm_conv("stem", unet_.features[0], unet_.kernels[0], ones(), unet_.bias, true);
    for (std::size_t stage = 0; stage < unet_.stages(); ++stage) encode(stage);
    for (std::size_t stage = unet_.stages() - 1; stage-- > 0;) decode(stage);
    // Each size of the decoder has its own loss; layers that lead to no loss would be dropped.
    for (std::size_t stage = unet_.stages() - 1; stage-- > 0;)
      text_ += fmt::format("  {{ type = \"loss\", from = \"seen{}\" }},\n", stage);
    return text_ + "]\n";
  }

 private:
  // Stride of a convolution that keeps the size.
  Triple ones() const { return Triple(unet_.patch.size(), 1); }
  std::string kind() const { return unet_.patch.size() == 3 ? "conv3d" : "conv2d"; }

  /// Writes convolution, instance norm and, where asked, the activation, as ConvDropoutNormReLU has them.
  void norm_conv(const std::string& name, std::int64_t out, const Triple& kernel, const Triple& stride,
                 bool bias, bool activates, std::string_view indent = "  ") {
    Triple padding;
    for (const std::int64_t side : kernel) padding.push_back((side - 1) / 2);
    text_ += fmt::format(
        "{}{{ type = \"{}\", out = {}, kernel = [{}], stride = [{}], padding = [{}], bias = {}, name = "
        "\"{}\" }},\n"
        "{}{{ type = \"instance_norm\" }},\n",
        indent, kind(), out, fmt::join(kernel, ", "), fmt::join(stride, ", "), fmt::join(padding, ", "), bias,
        name, indent);
    if (activates) text_ += fmt::format("{}{{ type = \"leaky_relu\", inplace = true }},\n", indent);
  }

  /// Writes a stage of the encoder, whose first convolution shrinks the image.
  void encode(std::size_t stage) {
    for (std::int64_t i = 0; i < unet_.convolutions[stage]; ++i) {
      const std::string name = fmt::format("encoder.stages.{}.{}", stage, i);
      const Triple stride = i == 0 ? unet_.strides[stage] : ones();
      if (unet_.is_residual)
        residual(name, stage, stride,
                 i == 0 && stage > 0 && unet_.features[stage] != unet_.features[stage - 1]);
      else
        norm_conv(name, unet_.features[stage], unet_.kernels[stage], stride, unet_.bias, true);
    }
    name_last(fmt::format("stage{}", stage));
  }

  /// Writes a residual block: two convolutions beside a mean over the stride and, where channels change, a
  /// projection.
  void residual(const std::string& name, std::size_t stage, const Triple& stride, bool projects) {
    const bool shrinks = stride != ones();
    text_ += "  { type = \"add\", branches = [\n    [\n";
    norm_conv(name + ".conv1", unet_.features[stage], unet_.kernels[stage], stride, unet_.bias, true,
              "      ");
    norm_conv(name + ".conv2", unet_.features[stage], unet_.kernels[stage], ones(), unet_.bias, false,
              "      ");
    text_ += "    ],\n    [\n";
    if (shrinks)
      text_ += fmt::format("      {{ type = \"avg_pool\", kernel = [{0}], stride = [{0}] }},\n",
                           fmt::join(stride, ", "));
    if (projects) norm_conv(name + ".skip", unet_.features[stage], ones(), ones(), false, false, "      ");
    text_ += "    ],\n  ] },\n  { type = \"leaky_relu\", inplace = true },\n";
  }

  /// Writes a stage of the decoder. The deepest one starts from the encoder's last stage.
  void decode(std::size_t stage) {
    // A stage of the decoder undoes the stride of the deeper stage of the encoder.
    const Triple& stride = unet_.strides[stage + 1];
    text_ += fmt::format(
        "  {{ type = \"conv_transpose\", from = \"{4}\", out = {0}, kernel = [{1}], stride = [{1}], bias = "
        "{2}, name = "
        "\"decoder.transpconvs.{3}\", as = \"up{3}\" }},\n  {{ type = \"concat\", from = [\"up{3}\", "
        "\"stage{3}\"] }},\n",
        unet_.features[stage], fmt::join(stride, ", "), unet_.bias, stage,
        stage + 2 < unet_.stages() ? fmt::format("grown{}", stage + 1) : fmt::format("stage{}", stage + 1));
    for (std::int64_t i = 0; i < unet_.decoder_convolutions[stage]; ++i)
      norm_conv(fmt::format("decoder.stages.{}.{}", stage, i), unet_.features[stage], unet_.kernels[stage],
                ones(), unet_.bias, true);
    name_last(fmt::format("grown{}", stage));
    text_ += fmt::format(
        "  {{ type = \"{}\", from = \"grown{}\", out = {}, kernel = 1, name = \"decoder.seg_layers.{}\", as "
        "= "
        "\"seen{}\" }},\n",
        kind(), stage, kAssumedClasses, stage, stage);
  }

  /// Names the result of the layer that was written last; every stage ends with an activation.
  void name_last(const std::string& name) {
    text_.resize(text_.rfind(" },"));
    text_ += fmt::format(", as = \"{}\" }},\n", name);
  }

  const PlannedUnet& unet_;
  std::string text_;
};

/// Returns the default configuration: 3d_fullres, otherwise 2d. Both are networks of a single pass; a cascade
/// is not read.
std::string chosen_configuration(const LogJson& configurations) {
  for (const char* name : {"3d_fullres", "2d"})
    if (at(configurations, name).is_object()) return name;
  return "";
}

}  // namespace

/// Two keys that stand together only in plans.
bool is_nnunet_plans(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{' &&
         text.find("\"plans_name\"") != std::string_view::npos &&
         text.find("\"configurations\"") != std::string_view::npos;
}

/// --name chooses a configuration; a cascade has several networks and is none of these.
ImportedModel read_nnunet_plans(const SourceText& source, const ModelImportOptions& options,
                                Diagnostics& diagnostics) {
  ImportedModel made;
  const LogJson plans = parsed_object(
      source, {"plan", kLargestPlans, "plans.json as nnUNetv2_plan_experiment writes it"}, diagnostics);
  if (!diagnostics.empty()) return made;
  const LogJson& configurations = at(plans, "configurations");
  const std::string name = options.name.empty() ? chosen_configuration(configurations) : options.name;
  const LogJson& configuration = at(configurations, name.c_str());
  if (!configuration.is_object())
    return diagnostics.report({},
                              fmt::format("the plans have no configuration {}", quotable(name.substr(0, 60))),
                              "--name 2d, 3d_fullres or 3d_lowres"),
           made;
  PlannedUnet unet = PlansReader(configuration, diagnostics).read();
  if (!diagnostics.empty()) return made;
  // The plans describe each input channel once, by the intensities of the data set.
  const std::size_t channels = at(plans, "foreground_intensity_properties_per_channel").size();
  unet.channels = static_cast<std::int64_t>(std::clamp<std::size_t>(channels, 1, 1000));
  made.remarks.push_back(
      fmt::format("taken with {} classes: the plans do not say how many there are", kAssumedClasses));
  made.remarks.push_back(fmt::format("configuration {}; another by --name", name));
  made.text = fmt::format(
      "# Made by `foretrain model import` of {}, plans of nnU-Net.\n{}", quotable_file(source.name),
      UnetWriter(unet).write(
          fmt::format("nnU-Net {}, {}", quotable(name), unet.is_residual ? "residual encoder" : "plain")));
  return made;
}

}  // namespace foretrain
