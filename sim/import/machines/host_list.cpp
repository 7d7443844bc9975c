// A name may hold brackets at several places; each is a list of numbers and ranges, which keep their leading
// zeros.
// The names are the product of all brackets; both functions stop at a limit, since a short list can name
// billions of hosts.
#include "sim/import/machines/host_list.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/import/logs/log_lines.hpp"

namespace foretrain {

namespace {

/// Limit of names, and of the numbers in one range.
constexpr std::int64_t kMostNames = 1'000'000;

/// Cuts a list at the commas outside of brackets.
std::vector<std::string_view> names_apart(std::string_view list) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    if (i > begin) out.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return out;
}

/// The numbers that a range such as "08-10" stands for; empty when `last` is below `first`.
struct NumberRange {
  std::int64_t first = 0, last = -1;
  /// Digits of the first number, with its leading zeros.
  std::size_t width = 0;
};

/// Reads "7" or "08-10". Returns an empty range when the text is none or has more than kMostNames numbers.
NumberRange range_of(std::string_view part) {
  const std::size_t dash = part.find('-');
  const std::string_view first = part.substr(0, dash),
                         last = dash == std::string_view::npos ? first : part.substr(dash + 1);
  const auto from = integer_of(first), to = integer_of(last);
  if (!from || !to || *from < 0 || *to < *from || *to - *from >= kMostNames) return {};
  return {*from, *to, first.size()};
}

/// The parts of a name before, in and behind its first brackets.
struct Bracketed {
  std::string_view before, inside, behind;
  bool has = false;
};

/// Cuts a name at its first brackets; `has` is false when it has none.
Bracketed bracketed(std::string_view name) {
  const std::size_t open = name.find('['), close = name.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {name, "", "", false};
  return {name.substr(0, open), name.substr(open + 1, close - open - 1), name.substr(close + 1), true};
}

/// Returns the number of names that one entry stands for: the product over its brackets.
std::int64_t count_of_name(std::string_view name) {
  std::int64_t count = 1;
  for (Bracketed part = bracketed(name); part.has; part = bracketed(part.behind)) {
    std::int64_t numbers = 0;
    for (const std::string_view range : names_apart(part.inside))
      numbers += range_of(range).last - range_of(range).first + 1;
    count = std::min(count * numbers, kMostNames);
  }
  return count;
}

/// Appends the names of one entry: `before` is finished, `rest` may hold further brackets.
void add_names(const std::string& before, std::string_view rest, std::size_t most,
               std::vector<std::string>& out) {
  const Bracketed part = bracketed(rest);
  if (!part.has) {
    out.push_back(before + std::string(rest));
    return;
  }
  for (const std::string_view text : names_apart(part.inside)) {
    const NumberRange range = range_of(text);
    for (std::int64_t i = range.first; i <= range.last && out.size() < most; ++i)
      add_names(before + std::string(part.before) + fmt::format("{:0{}}", i, range.width), part.behind, most,
                out);
  }
}

}  // namespace

int count_of_names(std::string_view list) {
  std::int64_t count = 0;
  for (const std::string_view name : names_apart(list))
    count = std::min(count + count_of_name(name), kMostNames);
  return static_cast<int>(count);
}

std::vector<std::string> names_of_list(std::string_view list, std::size_t most) {
  std::vector<std::string> out;
  for (const std::string_view name : names_apart(list)) {
    if (out.size() < most) add_names("", name, most, out);
  }
  return out;
}

HostSet::HostSet(std::string_view list) : has_all_(list == "ALL") {
  constexpr std::size_t kMostOfSet = 20'000;
  for (std::string& name : names_of_list(list, kMostOfSet)) names_.insert(std::move(name));
}

bool HostSet::shares(const std::vector<std::string>& hosts) const {
  return has_all_ ||
         std::ranges::any_of(hosts, [this](const std::string& host) { return names_.contains(host); });
}

}  // namespace foretrain
