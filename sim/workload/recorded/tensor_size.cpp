// The grammar of sizes: a type, then dimensions in square brackets. Each dimension is a constant, a multiple
// of the batch, or the sum of both.
#include "sim/workload/recorded/tensor_size.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/names.hpp"

namespace foretrain {
namespace {

/// The name and the width of an element type.
struct ElementRow {
  std::string_view name;
  int bytes;
};
/// Rows in the order of ElementType.
constexpr std::array<ElementRow, 12> kElementRows{{{"f64", 8},
                                                   {"f32", 4},
                                                   {"f16", 2},
                                                   {"bf16", 2},
                                                   {"f8", 1},
                                                   {"i64", 8},
                                                   {"i32", 4},
                                                   {"i16", 2},
                                                   {"i8", 1},
                                                   {"u8", 1},
                                                   {"b8", 1},
                                                   {"c64", 8}}};

/// Returns the names of all types, from which the nearest one is proposed for a mistyped one.
std::vector<std::string> element_names() {
  std::vector<std::string> names;
  for (const ElementRow& row : kElementRows) names.emplace_back(row.name);
  return names;
}

/// Takes a whole number without sign from the beginning of `text`; returns false when there is none.
bool take_number(std::string_view& text, std::int64_t& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || number < 0 || text.front() == '-') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Takes the letter of the batch.
bool take_batch(std::string_view& text) {
  if (!text.starts_with('B')) return false;
  text.remove_prefix(1);
  return true;
}

/// Parses one dimension: "7", "B", "49B" or "1+2B". Returns false for any other text.
bool parse_extent(std::string_view text, Extent& extent) {
  if (take_batch(text)) {
    extent.per_sample = 1;
    return text.empty();
  }
  std::int64_t number = 0;
  // A number is a factor when the batch follows it, and a constant otherwise.
  if (!take_number(text, number)) return false;
  if (take_batch(text)) {
    extent.per_sample = number;
    return text.empty();
  }
  extent.fixed = number;
  if (text.empty()) return true;
  if (!text.starts_with('+')) return false;
  text.remove_prefix(1);
  extent.per_sample = 1;
  if (!text.starts_with('B') && !take_number(text, extent.per_sample)) return false;
  return take_batch(text) && text.empty();
}

/// Returns a result that reports a fault, with a hint that may be empty.
ParsedTensorSize bad_size(std::string fault, std::string hint) {
  return {{}, std::move(fault), std::move(hint)};
}

/// Returns the text of a dimension, which parse_extent() reads.
std::string extent_text(const Extent& extent) {
  if (extent.per_sample == 0) return std::to_string(extent.fixed);
  const std::string growth = extent.per_sample == 1 ? "B" : fmt::format("{}B", extent.per_sample);
  return extent.fixed == 0 ? growth : fmt::format("{}+{}", extent.fixed, growth);
}

}  // namespace

std::string_view name_of(ElementType type) { return kElementRows[static_cast<std::size_t>(type)].name; }
int bytes_of(ElementType type) { return kElementRows[static_cast<std::size_t>(type)].bytes; }

double TensorSize::elements(double batch) const {
  double product = 1;
  for (const Extent& extent : dimensions) product *= extent.at(batch);
  return product;
}

bool TensorSize::grows() const {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [](const Extent& extent) { return extent.per_sample != 0; });
}

std::string to_string(const TensorSize& size) {
  std::vector<std::string> extents;
  for (const Extent& extent : size.dimensions) extents.push_back(extent_text(extent));
  return fmt::format("{}[{}]", name_of(size.type), fmt::join(extents, ","));
}

// Faults are phrased to follow the name of the tensor in a message.
ParsedTensorSize parse_tensor_size(std::string_view text) {
  // The parts of a size: the type, then the dimensions between the brackets.
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || !text.ends_with(']'))
    return bad_size("is no size", "a type and its dimensions, as in \"f32[B,3,224,224]\", \"i64[]\"");
  const std::string_view type = text.substr(0, bracket);
  const auto row = std::find_if(kElementRows.begin(), kElementRows.end(),
                                [type](const ElementRow& known) { return known.name == type; });
  if (row == kElementRows.end())
    return bad_size(fmt::format("has an unknown type \"{}\"", type.substr(0, 20)),
                    did_you_mean(type, element_names()));
  ParsedTensorSize parsed;
  parsed.size.type = static_cast<ElementType>(row - kElementRows.begin());
  std::string_view rest = text.substr(bracket + 1, text.size() - bracket - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    Extent extent;
    if (!parse_extent(rest.substr(0, comma), extent))
      return bad_size(fmt::format("has a dimension \"{}\"", rest.substr(0, std::min<std::size_t>(comma, 20))),
                      "a number, or one that grows with the batch: 64, B, 49B, 1+49B");
    if (extent.fixed > kLargestExtent || extent.per_sample > kLargestExtent)
      return bad_size("has a dimension of more than 2^40", "");
    if (parsed.size.dimensions.size() == kMostRecordedDimensions)
      return bad_size(fmt::format("has more than {} dimensions", kMostRecordedDimensions), "");
    parsed.size.dimensions.push_back(extent);
    // A comma must be followed by a dimension.
    if (comma + 1 == rest.size()) return bad_size("ends with a comma", "");
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return parsed;
}

}  // namespace foretrain
