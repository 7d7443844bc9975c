// The order is that of trying: marks that stand in one format alone come first.
#include <fmt/format.h>

#include "sim/import/models/model_file.hpp"
#include "sim/import/models/printed_modules.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

std::string known_formats() {
  std::string out = "known:";
  for (const ModelFormat& format : model_formats())
    out += fmt::format("{} {}", &format == &model_formats().front() ? "" : ",", format.name);
  return out;
}

/// The text must be a network that fits together, or the file describes none: the faults are told of the
/// file, with the line of the text that they were found in.
void check_network(const ImportedModel& made, Diagnostics& diagnostics) {
  const SourceText text{"the network made of it", made.text};
  Diagnostics faults(text);
  if (made.text.size() > kLargestText) {
    diagnostics.report({}, fmt::format("the network makes a model file of {} bytes, more than {} are read",
                                       made.text.size(), kLargestText));
    return;
  }
  read_model_file(text, faults);
  for (const Diagnostic& fault : faults.found())
    diagnostics.report({}, fmt::format("the network does not fit together: {}", fault.message),
                       fault.hint.empty() ? fault.line_text : fault.hint);
}

}  // namespace

const std::vector<ModelFormat>& model_formats() {
  static const std::vector<ModelFormat> rows{
      {"Hugging Face config", "config.json of transformers: the network of its architecture",
       is_network_config, read_network_config},
      {"nnU-Net plans", "plans.json: the U-Net of a configuration (--name), 2-D or 3-D", is_nnunet_plans,
       read_nnunet_plans},
      {"Ultralytics YAML", "yolov8.yaml, yolo11-seg.yaml and the like; --name takes the scale",
       is_ultralytics_yaml, read_ultralytics_yaml},
      {"printed summary", "Keras' model.summary(), torchsummary, torchinfo: best effort", is_network_summary,
       read_network_summary},
      {"print(model)", "PyTorch's modules as they are printed, also within a longer text: best effort",
       is_printed_model, read_printed_model},
      {"PyTorch .pt2", "torch.export.save(): the graph of the exported program", is_exported_program,
       read_exported_program},
      {"ONNX", "the graph that exporters write, with or without weights; norms must not be folded", is_onnx,
       read_onnx},
  };
  return rows;
}

ImportedModel import_model(const SourceText& source, const ModelImportOptions& options) {
  Diagnostics diagnostics(source);
  for (const ModelFormat& format : model_formats()) {
    if (!format.recognises(source.text)) continue;
    ImportedModel made = format.read(source, options, diagnostics);
    diagnostics.throw_if_any();
    check_network(made, diagnostics);
    diagnostics.throw_if_any();
    return made;
  }
  diagnostics.report({}, "no format of a network that is known", known_formats());
  diagnostics.throw_if_any();
  return {};
}

}  // namespace foretrain
