// Reads a .pt2 archive: the exported program that torch.export.save() writes.
//
// The archive is a ZIP file with a JSON member, for example
//
//   {"graph_module": {"graph": {"tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 8}, ...]}}, "nodes":
//   [...]}}}
//
// Nodes become operators of ONNX (aten_nodes.cpp), so that the translation to layers is shared. Shapes of all
// tensors come from the file. Weights, constants and guards are not read. A damaged archive, one without a
// program, and a graph beyond the limits are reported.
#include <fmt/format.h>

#include "sim/import/models/aten_nodes.hpp"
#include "sim/import/models/filled_text.hpp"
#include "sim/import/models/onnx_translation.hpp"
#include "sim/import/models/readers.hpp"
#include "sim/import/models/zip_archive.hpp"

namespace foretrain {

namespace {

/// Largest JSON member once unpacked, in bytes, and its most levels of nesting.
constexpr std::size_t kLargestProgram = std::size_t{256} << 20;
constexpr int kDeepestProgram = 64;

/// Maps torch.export's ScalarType: 1 to 5 are whole numbers, 12 is bool, all others count as real numbers.
OnnxType type_of_scalar(const LogJson& number) {
  const std::int64_t type = number.is_number_integer() ? number.get<std::int64_t>() : 0;
  if (type >= 1 && type <= 5) return OnnxType::int64;
  return type == 12 ? OnnxType::boolean : OnnxType::real;
}

/// Returns a tensor with its shape. A symbolic size takes its hint; a size without one stays open (-1).
OnnxTensor tensor_of(const std::string& name, const LogJson& meta) {
  OnnxTensor out;
  out.name = name, out.type = type_of_scalar(at(meta, "dtype"));
  const LogJson& sizes = at(meta, "sizes");
  if (!sizes.is_array()) return out;
  for (const LogJson& size : sizes) {
    if (out.dims.size() == kMostOnnxDims) break;
    const LogJson &plain = at(size, "as_int"), &hint = at(at(at(size, "as_expr"), "hint"), "as_int");
    const LogJson& given = plain.is_number_integer() ? plain : hint;
    out.dims.push_back(given.is_number_integer() && given.get<std::int64_t>() > 0 ? given.get<std::int64_t>()
                                                                                  : -1);
  }
  return out;
}

/// Returns the tensor's name in an argument, whether or not it is wrapped in "as_tensor".
std::string name_of_argument(const LogJson& argument) {
  for (const LogJson* place : {&argument, &at(argument, "as_tensor")})
    if (const LogJson& name = at(*place, "name"); name.is_string())
      return name.get<std::string>().substr(0, 1'000);
  return "";
}

/// Turns the JSON of a program into a graph of ONNX's operators.
class ProgramReading {
 public:
  ProgramReading(const LogJson& program, Diagnostics& diagnostics)
      : graph_(at(at(program, "graph_module"), "graph")),
        signature_(at(at(program, "graph_module"), "signature")),
        diagnostics_(diagnostics) {}

  /// Returns the graph; reports one that is missing or too large, and then returns an empty one.
  OnnxGraph read() {
    out_.producer = "torch.export";
    const LogJson& values = at(graph_, "tensor_values");
    const LogJson& nodes = at(graph_, "nodes");
    if (!values.is_object() || !nodes.is_array() || nodes.size() > kMostOnnxNodes ||
        values.size() > kMostOnnxTensors) {
      diagnostics_.report({}, "the exported program has no graph of tensors and nodes, or too large a one",
                          fmt::format("at most {} nodes", kMostOnnxNodes));
      return {};
    }
    for (const auto& [name, meta] : values.items()) out_.values.push_back(tensor_of(name, meta));
    read_inputs(values);
    // Arguments that are numbers refer to this tensor, which has no dimensions.
    OnnxTensor scalar;
    scalar.name = kAtenScalar, scalar.type = OnnxType::real;
    out_.weights.push_back(scalar);
    for (const LogJson& node : nodes) append_aten(AtenNode(node), out_);
    const LogJson& outputs = at(graph_, "outputs");
    if (outputs.is_array())
      for (const LogJson& output : outputs) out_.outputs.push_back(tensor_of(name_of_argument(output), {}));
    return std::move(out_);
  }

 private:
  /// Sorts the inputs of the graph: what the user passes in, parameters, and buffers, which nothing trains.
  void read_inputs(const LogJson& values) {
    const LogJson& specs = at(signature_, "input_specs");
    if (!specs.is_array()) return;
    for (const LogJson& spec : specs) {
      if (!spec.is_object()) continue;
      for (const auto& [kind, said] : spec.items()) {
        const std::string name = name_of_argument(at(said, "arg"));
        if (name.empty()) continue;
        OnnxTensor tensor = tensor_of(name, at(values, name.c_str()));
        tensor.is_trained = kind == "parameter";
        (kind == "user_input" ? out_.inputs : out_.weights).push_back(std::move(tensor));
      }
    }
  }

  const LogJson &graph_, &signature_;
  Diagnostics& diagnostics_;
  OnnxGraph out_;
};

/// Returns the text of the member that holds the program. torch 2.1 and torch 2.7 name it differently.
/// Reports an archive that is damaged, has no such member, or whose member is too large.
std::optional<std::string> program_text(const SourceText& source, Diagnostics& diagnostics) {
  const auto members = zip_members(source.text);
  if (!members)
    return diagnostics.report({}, "the archive is damaged or was cut: its directory is not at its end"),
           std::nullopt;
  // The first member with a fitting name counts; an archive has one program.
  for (const ZipMember& member : *members) {
    const bool is_program =
        member.name.ends_with("serialized_exported_program.json") ||
        (member.name.find("models/") != std::string::npos && member.name.ends_with(".json"));
    if (!is_program) continue;
    std::optional<std::string> text = unzipped(source.text, member, kLargestProgram);
    if (!text)
      diagnostics.report({}, fmt::format("{} in the archive is damaged, or larger than {} MiB",
                                         quotable(member.name), kLargestProgram >> 20));
    return text;
  }
  diagnostics.report({}, "the archive holds no exported program",
                     "torch.export.save() writes one; torch.save() writes weights alone");
  return std::nullopt;
}

}  // namespace

/// A ZIP file is taken for an archive of PyTorch: no other format of models here is one.
bool is_exported_program(std::string_view text) { return is_zip(text); }

/// Patterns are joined as for ONNX, because programs may contain norms in many operators, too.
ImportedModel read_exported_program(const SourceText& source, const ModelImportOptions& options,
                                    Diagnostics& diagnostics) {
  ImportedModel made;
  const std::optional<std::string> text = program_text(source, diagnostics);
  if (!text) return made;
  // The callback drops deep values, so that every later walk over the program is bounded.
  bool too_deep = false;
  const LogJson program = LogJson::parse(
      *text,
      [&](int depth, LogJson::parse_event_t, LogJson&) {
        too_deep = too_deep || depth > kDeepestProgram;
        return depth <= kDeepestProgram;
      },
      false);
  if (too_deep) {
    diagnostics.report({}, fmt::format("the exported program is nested more than {} deep", kDeepestProgram));
    return made;
  }
  OnnxGraph graph = ProgramReading(program, diagnostics).read();
  if (!diagnostics.empty()) return made;
  join_onnx_patterns(graph);
  OnnxTranslation translation(graph, options, diagnostics, made.remarks);
  made.text = fmt::format("# Made by `foretrain model import` of {}, an exported program of PyTorch.\n",
                          quotable_file(source.name)) +
              translation.text(fmt::format("{}, from its exported program", quotable_file(source.name)));
  return made;
}

}  // namespace foretrain
