// The lists of [recorded] while they are read, and readers of sizes, names and rows.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/recorded/recorded_network.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Longest name in bytes.
inline constexpr std::size_t kLongestRecordedName = 300;

/// A reference of the text to an entry of another list.
struct RecordedReference {
  std::size_t index;
  SourceSpan span;
};

/// The contents of [recorded] while it is read.
struct RecordedText {
  RecordedNetwork network;
  /// Precision in which times were measured.
  std::optional<Precision> precision;
  /// Sizes by their text, and the place where each is used first.
  std::unordered_map<std::string, SizeId> known_sizes;
  std::vector<std::pair<SizeId, SourceSpan>> first_uses;
  /// References to parameters and to operators, to be checked later.
  std::vector<RecordedReference> ready, made;
  /// Place of the first measured time.
  SourceSpan first_time{};
  bool is_timed = false;
};

/// Reads the text of a size; returns its index, or nullopt after a mistake.
std::optional<SizeId> read_recorded_size(TableReader& table, std::string_view key, const Value& value,
                                         RecordedText& to);
/// Reads a list of sizes; wrong ones are reported and left out.
std::vector<SizeId> read_recorded_sizes(TableReader& table, std::string_view key, RecordedText& to);
/// Reads a name of at most kLongestRecordedName bytes.
std::optional<std::string> read_recorded_name(TableReader& table, std::string_view key);

/// Calls read(reader, place) for each table of a list of at most `most` tables. `read` has to call finish().
/// Stops when the diagnostics are full.
template <class Read>
void for_each_table(TableReader& table, std::string_view key, std::size_t most, Read read) {
  const Array* values = table.array(key, most);
  if (values == nullptr) return;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Value& value = (*values)[i];
    // Further mistakes would not be reported.
    if (table.diagnostics().found().size() >= Diagnostics::kMostDiagnostics) return;
    const auto* fields = std::get_if<Table>(&value.data);
    if (fields == nullptr) {
      table.report(value.span, fmt::format("{}[{}] must be a table in braces", table.full_name(key), i));
      continue;
    }
    // Messages of the reader name the entry by its number, as in recorded.operators[3].
    TableReader reader(*fields, fmt::format("{}[{}]", table.full_name(key), i), table.diagnostics());
    read(reader, value.span);
  }
}

/// Reads each table of a list into an entry of its own and appends its row.
template <class TargetEntry, class Row>
void read_recorded_list(TableReader& table, std::string_view key, std::size_t most,
                        const Keys<TargetEntry>& keys, RecordedText& file, std::vector<Row>& rows) {
  for_each_table(table, key, most, [&](TableReader& reader, SourceSpan) {
    // The entry refers to the file, so that its keys can add sizes and references.
    TargetEntry entry{file, {}};
    read_keys(reader, keys, entry);
    reader.finish();
    rows.push_back(std::move(entry.row));
  });
}

// Checks after all lists were read; each reports at the wrong place.

/// Reports references beyond the end of a list with `length` entries.
void check_references(TableReader& table, const std::vector<RecordedReference>& references,
                      std::size_t length, std::string_view what);
/// Reports sizes of more than 2^40 elements at the recorded batch.
void check_recorded_sizes(TableReader& table, const RecordedText& file);

/// An operator of a list while it is read.
struct RecordedOperatorEntry {
  RecordedText& file;
  RecordedOperator row;
};
/// Returns the keys of an operator without the pass that issued it.
const Keys<RecordedOperatorEntry>& recorded_call_keys();

// Readers of the lists.

void read_recorded_parameters(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_buffers(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_storages(TableReader& table, std::string_view key, RecordedText& to);
void read_recorded_operators(TableReader& table, std::string_view key, RecordedText& to);
/// Return the keys for the reference page: of parameters, buffers and storages, and of operators.
std::vector<KeyTable> recorded_row_tables();
KeyTable recorded_operator_table();

}  // namespace foretrain
