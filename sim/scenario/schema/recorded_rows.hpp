// The lists of [recorded]: what they are read into, and the reading of sizes, names and rows.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/recorded/recorded_network.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

inline constexpr std::size_t kLongestRecordedName = 300;

/// Where something of the text refers to another list.
struct RecordedReference {
  std::size_t index;
  SourceSpan span;
};

/// What [recorded] is read into.
struct RecordedText {
  RecordedNetwork network;
  std::optional<Precision> precision;
  std::unordered_map<std::string, SizeId> known_sizes;
  std::vector<std::pair<SizeId, SourceSpan>> first_uses;
  std::vector<RecordedReference> ready, made;
  SourceSpan first_time{};
  bool is_timed = false;
};

/// The text of a size at a place, as an index; nothing after a mistake.
std::optional<SizeId> read_recorded_size(TableReader& table, std::string_view key, const Value& value,
                                         RecordedText& to);
/// A list of them.
std::vector<SizeId> read_recorded_sizes(TableReader& table, std::string_view key, RecordedText& to);
/// A name of bounded length.
std::optional<std::string> read_recorded_name(TableReader& table, std::string_view key);

/// Calls read(reader, place) for each table of a list of at most so many; whoever reads calls finish().
template <class Read>
void for_each_table(TableReader& table, std::string_view key, std::size_t most, Read read) {
  const Array* values = table.array(key, most);
  if (values == nullptr) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Value& value = (*values)[i];
    if (table.diagnostics().found().size() >= Diagnostics::kMostDiagnostics) return;
    const auto* fields = std::get_if<Table>(&value.data);
    if (fields == nullptr) {
      table.report(value.span, fmt::format("{}[{}] must be a table in braces", table.full_name(key), i));
      continue;
    }
    TableReader reader(*fields, fmt::format("{}[{}]", table.full_name(key), i), table.diagnostics());
    read(reader, value.span);
  }
}

/// Reads each table of a list into an entry of its own.
template <class TargetEntry, class Row>
void read_recorded_list(TableReader& table, std::string_view key, std::size_t most,
                        const Keys<TargetEntry>& keys, RecordedText& file, std::vector<Row>& rows) {
  for_each_table(table, key, most, [&](TableReader& reader, SourceSpan) {
    TargetEntry entry{file, {}};
    read_keys(reader, keys, entry);
    reader.finish();
    rows.push_back(std::move(entry.row));
  });
}

// Checks once all lists are there; each reports at the place that is wrong.

/// References to a list that has so many entries.
void check_references(TableReader& table, const std::vector<RecordedReference>& references,
                      std::size_t length, std::string_view what);
/// At most 2^40 elements at the recorded batch.
void check_recorded_sizes(TableReader& table, const RecordedText& file);

/// An operator of a list.
struct RecordedOperatorEntry {
  RecordedText& file;
  RecordedOperator row;
};
/// Without the pass that issued it.
const Keys<RecordedOperatorEntry>& recorded_call_keys();

// The lists, each with its keys for the reference page.

void read_recorded_parameters(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_buffers(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_storages(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_operators(TableReader& table, std::string_view key, RecordedText& to);
/// Of parameters, buffers and storages.
std::vector<KeyTable> recorded_row_tables();
KeyTable recorded_operator_table();

}  // namespace foretrain
