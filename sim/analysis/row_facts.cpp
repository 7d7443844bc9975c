// One GPU has nobody to talk to, so the strategy's name only tells which framework ran.
#include "sim/analysis/row_facts.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether `word`, in small letters, stands in the text by itself or followed by a digit ("TensorFlow2", "_XLA_").
bool mentions(std::string text, std::string_view word) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

bool sets(const Measurement& row, std::string_view key) {
  return std::any_of(row.settings.begin(), row.settings.end(), [&](const auto& setting) { return setting.first.starts_with(key); });
}

bool ran_tensorflow(const Measurement& row) {
  return row.strategy == "mirrored" || row.strategy == "parameter_server" || mentions(row.source, "tensorflow");
}

Measurement as_plain_loop(Measurement row) {
  if (!sets(row, "framework.") && ran_tensorflow(row)) {
    row.settings.emplace_back("framework.name", "\"tensorflow\"");
    if (mentions(row.source, "xla")) row.settings.emplace_back("framework.execution", "\"compiled\"");
  }
  row.strategy = "single";
  return row;
}

}  // namespace

std::vector<Measurement> with_plain_loops(std::vector<Measurement> rows) {
  for (Measurement& row : rows) {
    if (row.gpus == 1 && find_strategy(row.strategy) == nullptr) row = as_plain_loop(std::move(row));
  }
  return rows;
}

std::vector<Measurement> with_trainers(std::vector<Measurement> rows) {
  for (Measurement& row : rows) {
    if (mentions(row.source, "adaptdl") && !sets(row, "loop.hooks")) row.settings.emplace_back("loop.hooks", "\"adaptdl\"");
  }
  return rows;
}

}  // namespace foretrain
