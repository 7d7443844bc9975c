// Reads ONNX files (.onnx): a graph of the forward pass, with or without its weights.
//
// Exporters such as torch.onnx.export() write the binary message ModelProto. The graph gives layers and
// shapes; backward follows from foretrain's own layers. Values of weights are skipped.
#include <fmt/format.h>

#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/onnx_translation.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/import/wire_message.hpp"

namespace foretrain {

namespace {

/// Adds a remark where a graph looks as if it was exported for inference. Batch norms are folded into the
/// convolutions there, so that their parameters and their work are missing.
void report_inference(const OnnxGraph& graph, std::vector<std::string>& remarks) {
  bool convolves = false, normalises = false;
  for (const OnnxNode& node : graph.nodes) {
    convolves = convolves || (node.op == "Conv" && node.inputs.size() > 2);
    normalises = normalises || node.op.ends_with("Normalization");
  }
  if (convolves && !normalises)
    remarks.push_back(
        "no norm is in the graph, and convolutions have a bias: if the network has batch norms, export it "
        "for "
        "training (torch.onnx.export(…, training=TrainingMode.TRAINING, do_constant_folding=False))");
}

}  // namespace

/// Recognises a message whose fields are those of ModelProto (numbers up to 30), with a version and a graph.
bool is_onnx(std::string_view text) {
  WireMessage model(text);
  bool has_graph = false, has_version = false;
  while (model.next()) {
    if (model.field() > 30) return false;
    has_version = has_version || (model.field() == 1 && !model.has_bytes());
    has_graph = has_graph || (model.field() == 7 && model.has_bytes());
  }
  // A file that was cut inside the graph counts as ONNX, so that the reader can say where it breaks off.
  return has_version && (has_graph || (model.is_broken() && model.field() == 7));
}

ImportedModel read_onnx(const SourceText& source, const ModelImportOptions& options,
                        Diagnostics& diagnostics) {
  ImportedModel made;
  OnnxGraph graph = read_onnx_graph(source, diagnostics);
  if (!diagnostics.empty()) return made;
  report_inference(graph, made.remarks);
  // Norms and activations are joined first, because the translation knows them as single operators.
  join_onnx_patterns(graph);
  OnnxTranslation translation(graph, options, diagnostics, made.remarks);
  made.text = fmt::format("# Made by `foretrain model import` of {}, an ONNX graph of {}.\n",
                          quotable_file(source.name),
                          graph.producer.empty() ? "an unnamed exporter" : quotable(graph.producer)) +
              translation.text(fmt::format("{}, from its ONNX graph", quotable_file(source.name)));
  return made;
}

}  // namespace foretrain
