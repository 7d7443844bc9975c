// Evidence in memory. Texts are in a list and are found by open addressing.
#include "sim/scenario/csv/evidence_table.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

namespace foretrain {

namespace {

/// Smallest size of the hash table.
constexpr std::size_t kFewestPlaces = 256;

/// The texts that is_same_run() compares, in the order of comes_before().
constexpr std::array<RowText, 10> kRunTexts{
    RowText::source,    RowText::model,     RowText::gpu,      RowText::cluster, RowText::framework,
    RowText::execution, RowText::precision, RowText::strategy, RowText::op,      RowText::path};

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(text));
}

}  // namespace

/// Probes linearly; the table is never full, so the loop ends.
std::size_t TextTable::place_of(std::string_view text) const {
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = places_.size() - 1;
  for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
    const TextId id = places_[place];
    if (id == kUnknownText || (hashes_[id] == hash && texts_[id] == text)) return place;
  }
}

/// The table is doubled before it is half full, so that a probe stays short.
TextId TextTable::id_of(std::string_view text) {
  // Growing moves the numbers, not the texts.
  if (places_.size() <= 2 * texts_.size()) {
    places_.assign(std::max(kFewestPlaces, 2 * places_.size()), kUnknownText);
    for (TextId id = 0; id < texts_.size(); ++id) places_[place_of(texts_[id])] = id;
  }
  TextId& id = places_[place_of(text)];
  if (id != kUnknownText) return id;
  texts_.emplace_back(text), hashes_.push_back(hash_of(text));
  return id = static_cast<TextId>(texts_.size() - 1);
}

TextId TextTable::find(std::string_view text) const { return places_[place_of(text)]; }

double residual_of(const StoredRow& row) { return std::log(row.measured / row.predicted); }

bool is_same_run(const StoredRow& a, const StoredRow& b) {
  return a.what == b.what && a.size == b.size && a.gpus == b.gpus && a.nodes == b.nodes &&
         std::ranges::all_of(kRunTexts, [&](RowText which) { return a.text(which) == b.text(which); });
}

EvidenceTable::EvidenceTable(const std::vector<Observation>& rows) {
  reserve(rows.size());
  for (const Observation& row : rows) add(row);
}

/// Texts that are known already are found first, without allocation.
void EvidenceTable::add(const Observation& row) {
  StoredRow stored = asked(row);
  for (std::size_t i = 0; i < kRowTexts; ++i)
    if (stored.texts[i] == kUnknownText) stored.texts[i] = texts_.id_of(row.*kRowTextMembers[i]);
  add(stored);
}

StoredRow EvidenceTable::asked(const Observation& question) const {
  StoredRow out{question.what,     {}, question.size, question.gpus, question.nodes, question.measured,
                question.predicted};
  for (std::size_t i = 0; i < kRowTexts; ++i) out.texts[i] = texts_.find(question.*kRowTextMembers[i]);
  return out;
}

Observation EvidenceTable::observation(const StoredRow& row) const {
  Observation out;
  out.what = row.what, out.size = row.size, out.gpus = row.gpus, out.nodes = row.nodes;
  out.measured = row.measured, out.predicted = row.predicted;
  for (std::size_t i = 0; i < kRowTexts; ++i) out.*kRowTextMembers[i] = texts_.text(row.texts[i]);
  return out;
}

std::vector<Observation> EvidenceTable::observations() const {
  std::vector<Observation> out;
  out.reserve(rows_.size());
  for (const StoredRow& row : rows_) out.push_back(observation(row));
  return out;
}

bool EvidenceTable::comes_before(const StoredRow& a, const StoredRow& b) const {
  if (a.what != b.what) return a.what < b.what;
  for (const RowText which : kRunTexts)
    if (a.text(which) != b.text(which)) return text(a, which) < text(b, which);
  const auto figures = [](const StoredRow& r) {
    return std::tie(r.size, r.gpus, r.nodes, r.measured, r.predicted);
  };
  if (figures(a) != figures(b)) return figures(a) < figures(b);
  return text(a, RowText::run) < text(b, RowText::run);
}

}  // namespace foretrain
