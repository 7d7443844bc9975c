// The model file: input shape, layers, blocks. Templates are read first, then checked as a whole, expanded,
// and last shown to the workload's expand(), which knows whether each layer fits its input.
#include <set>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/layers/block_check.hpp"
#include "sim/scenario/layers/block_expansion.hpp"
#include "sim/scenario/layers/layer_template.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kLargestSide = 1'000'000'000;

Block read_block(const Entry& entry, Diagnostics& diagnostics) {
  Block out;
  out.span = entry.key_span;
  const auto* table = std::get_if<Table>(&entry.value.data);
  if (table == nullptr) {
    diagnostics.report(entry.value.span,
                       fmt::format("blocks.{} must be a table with layers", entry.key.substr(0, 60)));
    return out;
  }
  TableReader reader(*table, "blocks." + entry.key.substr(0, 60), diagnostics);
  out.layers = read_layers(reader, "layers");
  reader.finish();
  return out;
}

Blocks read_blocks(TableReader& document) {
  Blocks blocks;
  const Table* table = document.table("blocks");
  if (table == nullptr) return blocks;
  for (const Entry& entry : table->entries) blocks[entry.key] = read_block(entry, document.diagnostics());
  return blocks;
}

std::vector<std::int64_t> read_input(TableReader& document) {
  document.require("input", "input = [3, 224, 224]");
  const auto input = document.integers("input", 1, kLargestSide, 4);
  if (input && input->empty())
    document.report(document.span_of("input"), "input is empty", "write channels, height and width");
  return input.value_or(std::vector<std::int64_t>{});
}

/// A block used many times shows each fault once.
void report_faults(const std::vector<ModelFault>& faults, Diagnostics& diagnostics) {
  std::set<std::pair<int, int>> seen;
  for (const ModelFault& fault : faults) {
    if (diagnostics.found().size() >= Diagnostics::kMostDiagnostics) return;
    if (seen.insert({fault.span.line, fault.span.column}).second)
      diagnostics.report(fault.span, fault.message, fault.hint);
  }
}

}  // namespace

ModelFile read_model_file(const SourceText& source, Diagnostics& diagnostics) {
  const Table table = parse_toml(source, diagnostics);
  TableReader document(table, "", diagnostics);
  ModelFile file;
  Model& model = file.model;
  model.name = name_of_file(source.name);
  model.description = document.string("description").value_or("");
  model.input = read_input(document);
  model.input_is_tokens = document.boolean("input_is_tokens").value_or(false);
  model.samples_per_input = document.integer("samples_per_input", 1, kLargestSide).value_or(1);
  model.optimizer = document.one_of("optimizer", optimizer_names()).value_or("");
  const LayerList layers = read_layers(document, "layers");
  const Blocks blocks = read_blocks(document);
  document.finish();
  const bool sound = check_blocks(blocks, layers, diagnostics);
  if (!sound || !diagnostics.empty()) return file;
  model.layers = expand_blocks(blocks, layers, diagnostics);
  if (!diagnostics.empty()) return file;
  ExpansionResult expansion = expand(model);
  report_faults(expansion.faults, diagnostics);
  file.expanded = std::move(expansion.model);
  return file;
}

Model read_model(const SourceText& source, Diagnostics& diagnostics) {
  return read_model_file(source, diagnostics).model;
}

}  // namespace foretrain
