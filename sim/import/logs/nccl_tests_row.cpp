// Reads header and rows of nccl-tests. Size, count and type come first in all versions; reduction and root
// may be missing; then come a time and two bandwidths every few columns.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"
#include "sim/import/logs/nccl_tests_table.hpp"

namespace foretrain {

namespace {

/// Types of elements that any version prints.
constexpr std::array<std::string_view, 21> kTypes{
    "int8",    "uint8",  "int32",    "uint32",   "int64",    "uint64",  "half",
    "float",   "double", "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3",  "f8e5m2",
    "float16", "char",   "int",      "fp16",     "fp32",     "float32", "float64"};

/// Says whether a word is one of them.
bool is_element_type(std::string_view word) {
  return std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end();
}

/// Says whether a word is a reduction such as "sum" or "none"; "nan" is a figure.
bool is_word(std::string_view text) {
  return !text.empty() && !number_of(text) &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// Reads time, algbw, busbw and the check, from column `at` on. The check may be missing at the end of a
/// line.
NcclTime read_time(const Words& words, std::size_t at, double unit_us, bool in_place) {
  NcclTime time;
  time.in_place = in_place;
  if (at + 2 >= words.size()) {
    time.fault = fmt::format("the line ends early, in the {} time", in_place ? "in-place" : "out-of-place");
    return time;
  }
  const auto value = number_of(words[at]);
  if (!value) time.fault = "its time: " + why_no_number(words[at]);
  time.time_us = value.value_or(0) * unit_us;
  time.algbw = number_of(words[at + 1]).value_or(0), time.busbw = number_of(words[at + 2]).value_or(0);
  const auto wrong = at + 3 < words.size() ? number_of(words[at + 3]) : std::nullopt;
  time.is_checked = wrong.has_value();
  // Older versions print the largest error instead of a count; it is far below 1.
  time.wrong = wrong && *wrong >= 1 ? *wrong : 0;
  return time;
}

}  // namespace

// The versions of 2017 and 2018 name the first columns "bytes" and "N".
bool is_nccl_header(std::string_view line) {
  const bool names_size =
      (holds(line, "size") && holds(line, "count")) || (holds(line, "bytes") && holds(line, " N "));
  return names_size && holds(line, "algbw") && holds(line, "busbw") && holds(line, "time");
}

bool is_nccl_row(const Words& words, bool in_table) {
  if (words.size() < 3 || !integer_of(words[0]) || !integer_of(words[1])) return false;
  return is_element_type(words[2]) ||
         (in_table && words.size() >= 7 && words[2][0] >= 'a' && words[2][0] <= 'z');
}

NcclLayout nccl_layout_of(const Words& header) {
  NcclLayout layout{true, std::find(header.begin(), header.end(), "root") != header.end()};
  if (std::find(header.begin(), header.end(), "bytes") != header.end()) layout.unit_us = 1000;
  // The distance between the two times is the number of columns of one measurement.
  const auto is_time = [](std::string_view word) { return word == "time" || word == "cputime"; };
  const auto first = std::find_if(header.begin(), header.end(), is_time);
  const auto second = first == header.end() ? first : std::find_if(first + 1, header.end(), is_time);
  if (second != header.end() && second - first >= 3) layout.width = static_cast<std::size_t>(second - first);
  return layout;
}

NcclRow read_nccl_row(const Words& words, const NcclLayout& layout, int line) {
  NcclRow row;
  row.line = line, row.size = integer_of(words[0]).value_or(0), row.count = integer_of(words[1]).value_or(0),
  row.type = words[2];
  std::size_t at = 3;
  if (at < words.size() && is_word(words[at]))
    row.redop = words[at] == "none" ? "" : std::string(words[at]), ++at;
  // A row without a header that has one word more than whole measurements has a root.
  const bool has_root = layout.is_known ? layout.has_root : (words.size() - at) % 4 == 1;
  if (has_root && at < words.size())
    row.root = static_cast<int>(std::clamp<std::int64_t>(integer_of(words[at]).value_or(-1), -1, 1 << 30)),
    ++at;
  row.times.push_back(read_time(words, at, layout.unit_us, false));
  if (at + layout.width < words.size())
    row.times.push_back(read_time(words, at + layout.width, layout.unit_us, true));
  return row;
}

}  // namespace foretrain
