// Reader of message sizes. An item is cut at its colons; each part is a number with a unit. Ranges that would
// never end are refused: a factor of 1, or a factor with a start of 0.
#include "sim/scenario/csv/message_sizes.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/csv/text_scan.hpp"

namespace foretrain {

namespace {

/// A piece of the text with its place.
struct Piece {
  std::string_view text;
  int column = 1;
  SourceSpan span() const { return {1, column, std::max(1, static_cast<int>(text.size()))}; }
};

/// Splits a piece at a character; the parts keep their columns.
std::vector<Piece> split(Piece whole, char separator) {
  std::vector<Piece> parts;
  for (std::size_t begin = 0; begin <= whole.text.size();) {
    const std::size_t end = std::min(whole.text.find(separator, begin), whole.text.size());
    parts.push_back({whole.text.substr(begin, end - begin), whole.column + static_cast<int>(begin)});
    begin = end + 1;
  }
  return parts;
}

/// Removes blanks around a piece.
Piece trimmed_piece(Piece piece) {
  while (piece.text.starts_with(' ')) piece.text.remove_prefix(1), ++piece.column;
  while (piece.text.ends_with(' ')) piece.text.remove_suffix(1);
  return piece;
}

/// Takes the number at the front; nullopt when there is none or it is negative.
std::optional<double> take_number(std::string_view& text) {
  double value = 0;
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (problem != std::errc{} || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Returns the factor of a unit: "", "B", "K", "Ki", "KB", "KiB", … are 1, 2^10, …; nullopt for other texts.
std::optional<double> unit_of(std::string_view text) {
  double unit = 1;
  if (!text.empty() && text != "B") {
    constexpr std::string_view kSizePrefixes = "KMGT";
    const char upper = text.front() >= 'a' ? static_cast<char>(text.front() - 'a' + 'A') : text.front();
    const std::size_t index = kSizePrefixes.find(upper);
    if (index == std::string_view::npos) return std::nullopt;
    unit = std::ldexp(1.0, 10 * (static_cast<int>(index) + 1));
    text.remove_prefix(1);
    if (text.starts_with('i')) text.remove_prefix(1);
  }
  return text.empty() || text == "B" ? std::optional(unit) : std::nullopt;
}

/// Reads one list of sizes.
class SizeReader {
 public:
  explicit SizeReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::vector<Bytes> read(std::string_view text) {
    if (text.empty()) report({text, 1}, "there are no sizes");
    for (const Piece& item : split({text, 1}, ',')) {
      if (!text.empty()) read_item(trimmed_piece(item));
      if (is_full()) break;
      // Stops at the limits of mistakes and sizes.
    }
    return std::move(sizes_);
  }

 private:
  static constexpr std::string_view kHint = "as in 8:1G:2, 1M:8M:+1M, 64M or 4K,1M,256M";

  // Returns whether reading can stop: too many mistakes or sizes.
  bool is_full() const {
    return diagnostics_.found().size() >= Diagnostics::kMostDiagnostics || sizes_.size() > kMostSizes;
  }

  void report(const Piece& piece, std::string message, std::string_view hint = kHint) {
    if (diagnostics_.found().size() < Diagnostics::kMostDiagnostics)
      diagnostics_.report(piece.span(), std::move(message), std::string(hint));
  }

  // Returns the size of a piece; reports wrong ones.
  std::optional<Bytes> size(const Piece& piece) {
    std::string_view rest = piece.text;
    const auto number = take_number(rest);
    const auto unit = number ? unit_of(rest) : std::nullopt;
    if (!unit) return report(piece, fmt::format("\"{}\" is no size", piece.text.substr(0, 40))), std::nullopt;
    const double bytes = std::floor(*number * *unit);
    if (bytes <= static_cast<double>(kLargestMessage.count)) return Bytes{static_cast<std::int64_t>(bytes)};
    report(piece, "sizes end at 1 PiB", "nccl-tests itself stops at the memory of the GPUs");
    return std::nullopt;
  }

  // Reads a size or a range.
  void read_item(const Piece& item) {
    const std::vector<Piece> parts = split(item, ':');
    if (parts.size() > 3) return report(item, "a range is FROM:TO:FACTOR or FROM:TO:+STEP");
    const auto from = size(parts[0]);
    if (parts.size() == 1) return from ? add(item, *from) : void();
    const auto to = size(parts[1]);
    if (from && to && *from > *to) return report(item, "the range ends before it begins");
    // The step has a sign, which a factor cannot have.
    if (parts.size() == 3 && parts[2].text.starts_with('+')) return read_step(item, parts[2], from, to);
    const auto factor = parts.size() == 3 ? read_factor(parts[2]) : std::optional(2.0);
    if (!from || !to || !factor) return;
    // 0 times any factor stays 0.
    if (from->count == 0 && to->count > 0)
      return report(parts[0], "a factor never leaves 0 bytes", "start at 1, or use +STEP");
    for (double at = static_cast<double>(from->count); at <= static_cast<double>(to->count) && !is_full();) {
      add(item, {static_cast<std::int64_t>(at)});
      // Each size is at least one byte larger, so that the loop ends for factors near 1.
      at = std::max(std::floor(at * *factor), at + 1);
    }
  }

  std::optional<double> read_factor(const Piece& piece) {
    std::string_view rest = piece.text;
    const auto factor = take_number(rest);
    if (factor && rest.empty() && *factor > 1) return factor;
    report(piece, "the factor must be a number more than 1");
    return std::nullopt;
  }

  void read_step(const Piece& item, const Piece& piece, std::optional<Bytes> from, std::optional<Bytes> to) {
    const auto step = size({piece.text.substr(1), piece.column + 1});
    if (!step || !from || !to) return;
    if (step->count == 0) return report(piece, "a step of 0 bytes never ends");
    for (Bytes at = *from; at <= *to && !is_full(); at += *step) add(item, at);
  }

  void add(const Piece& item, Bytes size) {
    sizes_.push_back(size);
    if (sizes_.size() == kMostSizes + 1)
      report(item, fmt::format("more than {} sizes", kMostSizes), "take a larger step");
  }

  Diagnostics& diagnostics_;
  std::vector<Bytes> sizes_;
};

}  // namespace

std::vector<Bytes> read_message_sizes(const SourceText& source, Diagnostics& diagnostics) {
  // Longest list in bytes.
  constexpr std::size_t kLongest = 10'000;
  if (source.text.size() <= kLongest && is_text(source.text) && source.text.find('\n') == std::string::npos) {
    return SizeReader(diagnostics).read(source.text);
  }
  diagnostics.report({}, fmt::format("sizes are one line of text with at most {} characters", kLongest));
  return {};
}

}  // namespace foretrain
