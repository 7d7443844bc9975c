// The table [recorded], read in one pass over its lists. References to other lists are checked when all lists
// are read.
#include "sim/scenario/schema/schema_recorded.hpp"

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/recorded_gpu.hpp"
#include "sim/scenario/schema/recorded_rows.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/section_values.hpp"

namespace foretrain {

namespace {

/// Largest batch and number of modules.
constexpr std::int64_t kMostSamples = 1'000'000;
constexpr std::int64_t kMostModules = 1'000'000;
/// A name of the network.
template <auto Member>
Takes<RecordedText> network_text(std::string kind = "text") {
  return {std::move(kind), [](TableReader& table, std::string_view key, RecordedText& to) {
            if (auto text = read_recorded_name(table, key)) to.network.*Member = std::move(*text);
          }};
}

/// Keys of the table that are no lists.
Keys<RecordedText> heading_keys() {
  using N = RecordedNetwork;
  static const auto number = [](std::int64_t N::*member, std::int64_t most) {
    return Takes<RecordedText>{"integer",
                               [member, most](TableReader& table, std::string_view key, RecordedText& to) {
                                 if (const auto found = table.integer(key, 1, most))
                                   to.network.*member = *found;
                               }};
  };
  return {
      {"format",
       {"integer", [](TableReader& table, std::string_view key,
                      RecordedText&) { static_cast<void>(table.integer(key, 1, 1)); }},
       "1",
       kRequired,
       "of this table"},
      {"by", network_text<&N::by>(), "\"foretrain.capture 0.1.0, torch 1.13.1\"", "not said",
       "what recorded it"},
      {"batch", number(&N::batch, kMostSamples), "4", kRequired, "samples of the recorded step"},
      {"grows",
       {"true, false", [](TableReader& table, std::string_view key,
                          RecordedText& to) { to.network.grows = table.boolean(key).value_or(false); }},
       "true",
       "false",
       "sizes say how they grow with the batch, B; else they hold for `batch` alone"},
      {"inputs",
       {"list of sizes", [](TableReader& table, std::string_view key,
                            RecordedText& to) { to.network.inputs = read_recorded_sizes(table, key, to); }},
       "[\"f32[B,3,224,224]\", \"i64[B]\"]",
       "none",
       "what is copied to the GPU for a step"},
      {"modules", number(&N::modules, kMostModules), "68", "1", "named ones, with the root"},
      {"gpu", network_text<&N::gpu>("name"), "\"a100-sxm4-40gb\"", "none",
       "where `time` was measured: a GPU of the catalog, or as its driver calls it"}};
}

/// The precision in which times were measured.
Takes<RecordedText> recorded_precision() {
  using enum Precision;
  static const std::vector<Choice<Precision>> kPrecisions =
      named(std::array{fp32, tf32, amp_fp16, bf16, fp8});
  return {takes::names_of(kPrecisions), [](TableReader& table, std::string_view key, RecordedText& to) {
            choose(table, key, kPrecisions, to.precision);
          }};
}

/// Keys of the table's lists.
Keys<RecordedText> list_keys() {
  return {{"precision", recorded_precision(), "\"fp32\"", "fp32", "in which `time` was measured"},
          {"parameters",
           {"list of tables", read_recorded_parameters},
           "[{ name = \"fc.weight\", size = \"f32[10,64]\" }]",
           kRequired,
           "in the order of their registration"},
          {"buffers",
           {"list of tables", read_recorded_buffers},
           "[{ name = \"bn1.running_mean\", size = \"f32[64]\" }]",
           "none",
           "tensors that are no parameters and stay"},
          {"operators",
           {"list of tables", read_recorded_operators},
           "[{ op = \"aten::relu\", in = [\"f32[B,64]\"], out = [\"f32[B,64]\"] }]",
           kRequired,
           "as the framework issued them, without the optimizer's"},
          {"storages",
           {"list of tables", read_recorded_storages},
           "[{ size = \"f32[B,64]\", made = 0, freed = 3, saved = true }]",
           "none",
           "what lives on the GPU during the step, without parameters, buffers and the optimizer's state"}};
}

const Keys<RecordedText>& recorded_keys() {
  static const Keys<RecordedText> keys = heading_keys() + list_keys();
  return keys;
}

/// Reports sizes that grow with the batch if the file does not state that its sizes grow.
void check_growth(TableReader& table, const RecordedText& file) {
  if (file.network.grows) return;
  // Each distinct size is looked at once.
  for (const auto& [id, span] : file.first_uses) {
    const TensorSize& size = file.network.sizes[id];
    if (size.grows())
      table.report(span,
                   fmt::format("{} grows with the batch, but recorded.grows is not true", to_string(size)),
                   "set grows = true, or write the size at the recorded batch");
  }
}

/// Reports parameters and buffers whose size grows with the batch.
void check_parameters(TableReader& table, std::string_view key, const RecordedText& file) {
  for (std::size_t i = 0; i < file.network.parameters.size(); ++i) {
    if (!file.network.sizes.empty() && file.network.sizes[file.network.parameters[i].size].grows())
      table.report(table.span_of(key), fmt::format("recorded.parameters[{}] grows with the batch", i));
  }
  for (std::size_t i = 0; i < file.network.buffers.size(); ++i) {
    if (!file.network.sizes.empty() && file.network.sizes[file.network.buffers[i].size].grows())
      table.report(table.span_of(key), fmt::format("recorded.buffers[{}] grows with the batch", i));
  }
}

}  // namespace

/// The lists are read first; references, sizes and times are checked when all of them are present.
RecordedFile read_recorded(TableReader& document, std::string_view key) {
  RecordedFile out;
  const Table* given = document.table(key);
  if (given == nullptr) return out;
  TableReader table(*given, std::string(key), document.diagnostics());
  RecordedText file;
  // The first name of each table means no module and no node.
  file.network.module_names.id_of(""), file.network.node_names.id_of("");
  const std::size_t mistakes = document.diagnostics().found().size();
  read_keys(table, recorded_keys(), file);
  table.finish();
  // An empty list is a mistake of its own only if reading it gave none.
  if (table.has("operators") && file.network.operators.empty() &&
      document.diagnostics().found().size() == mistakes)
    table.report(table.span_of("operators"), "recorded.operators is empty", "record a training step");
  // In a damaged text the lists may lack lines.
  if (!document.damaged()) {
    check_references(table, file.ready, file.network.parameters.size(), "parameter");
    check_references(table, file.made, file.network.operators.size(), "operator");
  }
  check_recorded_sizes(table, file), check_growth(table, file);
  // Only sound sizes can be looked up.
  if (document.diagnostics().found().size() == mistakes) check_parameters(table, "parameters", file);
  // Times are meaningless without the GPU on which they were measured.
  if (file.is_timed && !table.has("gpu"))
    table.report(file.first_time, "times need recorded.gpu, on which they were measured",
                 "add gpu = \"a100-sxm4-40gb\" to [recorded]");
  if (file.is_timed && table.has("gpu")) {
    if (auto gpu = find_recorded_gpu(table, "gpu", file.network.gpu))
      out.measured_on = MeasuredOn{std::move(*gpu), file.precision.value_or(Precision::fp32)};
  }
  out.network = std::move(file.network);
  return out;
}

/// Operators, parameters, buffers and storages have a table each.
std::vector<KeyTable> recorded_key_tables() {
  std::vector<KeyTable> tables{
      {"`[recorded]`", "A network as its framework ran one step of it, instead of `layers`.",
       described(recorded_keys())},
      recorded_operator_table()};
  for (KeyTable& table : recorded_row_tables()) tables.push_back(std::move(table));
  return tables;
}

}  // namespace foretrain
