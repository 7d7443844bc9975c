// Edit distance by dynamic programming with three rows (optimal string alignment), and the search for close
// names.
#include "sim/base/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"

namespace foretrain {

namespace {

/// Characters of a name that are compared.
constexpr std::size_t kLongestName = 64;
/// Names that a hint lists at most.
constexpr std::size_t kMostListed = 20;

/// Returns the name in small letters, with '-' for '_', cut to kLongestName.
std::string folded(std::string_view text) {
  std::string out(text.substr(0, kLongestName));
  for (char& c : out) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Returns the letters and digits of the name, in small letters.
std::string letters_of(std::string_view name) {
  std::string out;
  for (const char c : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  return out;
}

/// Returns the letters without the unit of a speed after the last digit: roce100g and roce100gbe become
/// roce100. The unit in names of GPUs distinguishes models (a100-80gb), so callers look for an exact match
/// first.
std::string without_speed_unit(const std::string& letters) {
  for (const std::string_view unit : {"gbit", "gbps", "gbe", "gb", "g"}) {
    if (!letters.ends_with(unit)) continue;
    const std::string rest = letters.substr(0, letters.size() - unit.size());
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.back())) != 0) return rest;
  }
  return letters;
}

/// Returns the only known name that `same` accepts; empty when there is none, or several.
template <class Same>
std::string the_only(const std::vector<std::string>& known, Same same) {
  if (std::ranges::count_if(known, same) != 1) return "";
  return *std::ranges::find_if(known, same);
}

/// Returns whether one name contains the other. Names of one or two characters do not count.
bool contains_other(const std::string& a, const std::string& b) {
  return std::min(a.size(), b.size()) >= 3 &&
         (a.find(b) != std::string::npos || b.find(a) != std::string::npos);
}

/// Returns the quoted names with `separator` between them and `last` before the last one.
std::string joined(const std::vector<std::string>& names, std::string_view separator, std::string_view last,
                   std::string_view quote) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? last : separator;
    out += fmt::format("{}{}{}", quote, names[i], quote);
  }
  return out;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  const std::string x = folded(a), y = folded(b);
  std::array<int, kLongestName + 1> before{}, previous{}, current{};
  for (std::size_t j = 0; j <= y.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= x.size(); ++i) {
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= y.size(); ++j) {
      const int change = x[i - 1] == y[j - 1] ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      // The swap of two neighbours costs 1: it continues from two rows and two columns before.
      const bool swapped = i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[y.size()];
}

std::string spelt_alike(std::string_view name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return std::string(name);
  const std::string letters = letters_of(name);
  if (letters.empty()) return "";
  const auto alike = [&](const std::string& other) { return letters_of(other) == letters; };
  if (std::ranges::any_of(known, alike)) return the_only(known, alike);
  return the_only(known, [bare = without_speed_unit(letters)](const std::string& other) {
    return without_speed_unit(letters_of(other)) == bare;
  });
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t most) {
  const int reach = std::max(2, static_cast<int>(name.size()) / 3);
  std::vector<std::pair<int, std::string>> near;
  for (const std::string& candidate : known) {
    int distance = edit_distance(name, candidate);
    // A name inside another one counts as just near enough.
    if (distance > reach && contains_other(folded(name), folded(candidate))) distance = reach;
    if (distance <= reach) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < near.size() && i < most; ++i) out.push_back(near[i].second);
  return out;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const auto near = nearest_names(name, known);
  if (!near.empty()) return fmt::format("did you mean {}?", joined(near, ", ", " or ", "\""));
  if (known.empty()) return "";
  std::vector<std::string> listed = known;
  const bool cut = listed.size() > kMostListed;
  if (cut) listed.resize(kMostListed);
  return fmt::format("known: {}{}", joined(listed, ", ", ", ", ""), cut ? ", …" : "");
}

}  // namespace foretrain
