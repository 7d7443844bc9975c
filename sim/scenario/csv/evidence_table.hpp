// Many rows of evidence with each text stored once. Two rows are compared by numbers, and a hundred thousand
// are read in less than a tenth of a second.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/csv/observation.hpp"

namespace foretrain {

/// Number of a text. Equal texts have equal numbers; 0 is the empty text.
using TextId = std::uint32_t;
/// Number of a text that no row has.
inline constexpr TextId kUnknownText = 0xFFFFFFFF;

/// Texts by number, each stored once, in a hash table with open addressing. Finding a text takes O(its
/// length).
class TextTable {
 public:
  TextTable() { id_of(""); }
  /// Returns the number of a text, which is added if it is new.
  TextId id_of(std::string_view text);
  /// Returns the number of a text, or kUnknownText.
  TextId find(std::string_view text) const;
  const std::string& text(TextId id) const { return texts_[id]; }

 private:
  /// Returns the place of a text in the hash table, or the free place where it would be.
  std::size_t place_of(std::string_view text) const;
  std::vector<std::string> texts_;
  /// Low bits of the hash of each text.
  std::vector<std::uint32_t> hashes_;
  /// The hash table: a power of two of places, at most half of them taken.
  std::vector<TextId> places_;
};

/// An observation with the numbers of its texts.
struct StoredRow {
  Observed what = Observed::step;
  std::array<TextId, kRowTexts> texts{};
  double size = 1;
  int gpus = 1, nodes = 1;
  double measured = 0, predicted = 0;
  TextId text(RowText which) const { return texts[static_cast<std::size_t>(which)]; }
};
/// Returns log(measured / predicted).
double residual_of(const StoredRow& row);
/// Compares rows of one table as is_same_run() compares observations.
bool is_same_run(const StoredRow& a, const StoredRow& b);

/// Measured runs in a compact form. Each row refers to its texts by number, so that tens of thousands of rows
/// need little memory. Not thread-safe.
class EvidenceTable {
 public:
  EvidenceTable() = default;
  explicit EvidenceTable(const std::vector<Observation>& rows);

  void add(const Observation& row);
  /// Adds a row whose texts are numbers of this table.
  void add(const StoredRow& row) { rows_.push_back(row); }
  void reserve(std::size_t rows) { rows_.reserve(rows); }
  TextTable& texts() { return texts_; }

  const std::vector<StoredRow>& rows() const { return rows_; }
  std::size_t size() const { return rows_.size(); }
  TextId find(std::string_view text) const { return texts_.find(text); }
  const std::string& text(const StoredRow& row, RowText which) const { return texts_.text(row.text(which)); }
  Observation observation(const StoredRow& row) const;
  std::vector<Observation> observations() const;
  /// Returns a row for comparisons with rows of the table, without adding it. Texts that no row has are
  /// kUnknownText.
  StoredRow asked(const Observation& question) const;
  /// Orders rows as comes_before() orders observations, so that the order does not depend on the files.
  bool comes_before(const StoredRow& a, const StoredRow& b) const;

  /// Keeps the first `rows` rows.
  void cut(std::size_t rows) { rows_.resize(rows); }
  /// Removes rows from index `first` on for which `is_gone` is true; returns how many were removed.
  template <class Gone>
  std::size_t erase_if(std::size_t first, Gone is_gone) {
    const std::size_t before = rows_.size();
    const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(first);
    rows_.erase(std::remove_if(begin, rows_.end(), is_gone), rows_.end());
    return before - rows_.size();
  }

 private:
  TextTable texts_;
  std::vector<StoredRow> rows_;
};

}  // namespace foretrain
