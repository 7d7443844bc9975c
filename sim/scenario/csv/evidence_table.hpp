// Many rows of evidence with each text kept once: two rows are compared by numbers, and a hundred thousand
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

/// Texts by number; equal texts have equal numbers. 0 is the empty one.
using TextId = std::uint32_t;
inline constexpr TextId kUnknownText = 0xFFFFFFFF;  ///< of a text that no row has

/// Texts by number, each stored once: a hash table with open addressing. Finding a text takes O(its length).
class TextTable {
 public:
  TextTable() { id_of(""); }
  TextId id_of(std::string_view text);  ///< taken up where it is new
  TextId find(std::string_view text) const;
  const std::string& text(TextId id) const { return texts_[id]; }

 private:
  std::size_t place_of(std::string_view text) const;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> hashes_;  ///< low bits, of each text
  std::vector<TextId> places_;         ///< a power of two of them, at most half of them taken
};

/// An observation by the numbers of its texts.
struct StoredRow {
  Observed what = Observed::step;
  std::array<TextId, kRowTexts> texts{};
  double size = 1;
  int gpus = 1, nodes = 1;
  double measured = 0, predicted = 0;
  TextId text(RowText which) const { return texts[static_cast<std::size_t>(which)]; }
};
double residual_of(const StoredRow& row);
/// As of observations, for rows of one table.
bool is_same_run(const StoredRow& a, const StoredRow& b);

/// Measured runs in a compact form: each row refers to its texts by number, so that tens of thousands of rows
/// fit into little memory.
class EvidenceTable {
 public:
  EvidenceTable() = default;
  explicit EvidenceTable(const std::vector<Observation>& rows);

  void add(const Observation& row);
  void add(const StoredRow& row) { rows_.push_back(row); }  ///< of this table's texts
  void reserve(std::size_t rows) { rows_.reserve(rows); }
  TextTable& texts() { return texts_; }

  const std::vector<StoredRow>& rows() const { return rows_; }
  std::size_t size() const { return rows_.size(); }
  TextId find(std::string_view text) const { return texts_.find(text); }
  const std::string& text(const StoredRow& row, RowText which) const { return texts_.text(row.text(which)); }
  Observation observation(const StoredRow& row) const;
  std::vector<Observation> observations() const;
  /// To be compared with rows of the table, and no row of it: texts that none has are unlike those of all.
  StoredRow asked(const Observation& question) const;
  /// The order of observations, so that it is no other when rows came in another one.
  bool comes_before(const StoredRow& a, const StoredRow& b) const;

  void cut(std::size_t rows) { rows_.resize(rows); }
  /// Of those from `first` on; how many went.
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
