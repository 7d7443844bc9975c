// Holds the table of formats that describe a network, and the entry that tries them in order.
//
// Formats are tried from the surest mark to the vaguest: marks that stand in one format alone come first, and
// the readers of printed text behind them. The first format that recognises the file reads it, and no other
// is tried after that.
#include <fmt/format.h>

#include "sim/import/models/model_file.hpp"
#include "sim/import/models/printed_modules.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Names all formats, for the message about a file that none recognises.
std::string known_formats() {
  std::string out = "known:";
  for (const ModelFormat& format : model_formats())
    out += fmt::format("{} {}", &format == &model_formats().front() ? "" : ",", format.name);
  return out;
}

/// Reads the produced text as a model file. A network that does not fit together is a fault of the input
/// file, so its faults are reported there, with the line of the produced text as the hint.
void check_network(const ImportedModel& made, Diagnostics& diagnostics) {
  const SourceText text{"the network made of it", made.text};
  Diagnostics faults(text);
  // The produced text may grow beyond its source, by repeated blocks; the reader's own limit applies to it.
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

/// JSON with typical keys comes first, then YAML, printed text, and the binary formats.
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

/// Reports of the reader are thrown before the produced text is checked: after a fault the text is not whole.
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
