// Mutations are a table of functions from a text and two pieces of one level to another text.
#include "tests/fuzz/mutators/mutate.hpp"

#include <algorithm>
#include <array>

namespace foretrain::test {

namespace {

/// What readers must refuse or bear: beyond ranges, almost zero, no number at all, in other people's writing.
constexpr std::array<std::string_view, 25> kExtremes{"0",
                                                     "-1",
                                                     "1",
                                                     "-0",
                                                     "1e308",
                                                     "1e-320",
                                                     "nan",
                                                     "inf",
                                                     "-inf",
                                                     "0x7f",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967296",
                                                     "9223372036854775807",
                                                     "1e999",
                                                     "00",
                                                     "1_000",
                                                     "1,000",
                                                     "0.1.2",
                                                     "1.",
                                                     ".5",
                                                     "+5",
                                                     "\"\"",
                                                     "1000000",
                                                     "18446744073709551616"};

/// A text and two pieces of it, `first` not after `second`.
struct Cut {
  Language language;
  std::string_view text;
  Piece first, second;
  std::minstd_rand& random;

  std::string_view of(const Piece& piece) const { return text.substr(piece.begin, piece.end - piece.begin); }
  /// The text with `piece` replaced.
  std::string with(const Piece& piece, std::string_view by) const {
    std::string result(text.substr(0, piece.begin));
    result += by;
    result += text.substr(piece.end);
    return result;
  }
};

std::string left_out(const Cut& cut) { return cut.with(cut.first, {}); }
std::string doubled(const Cut& cut) { return cut.with({cut.first.end, cut.first.end}, cut.of(cut.first)); }
std::string copied(const Cut& cut) { return cut.with(cut.second, cut.of(cut.first)); }
std::string moved_back(const Cut& cut) {
  return cut.with({cut.first.begin, cut.first.begin}, cut.of(cut.second));
}

std::string exchanged(const Cut& cut) {
  if (cut.first.end > cut.second.begin) return std::string(cut.text);
  std::string result(cut.text.substr(0, cut.first.begin));
  result += cut.of(cut.second);
  result += cut.text.substr(cut.first.end, cut.second.begin - cut.first.end);
  result += cut.of(cut.first);
  result += cut.text.substr(cut.second.end);
  return result;
}

std::string made_extreme(const Cut& cut) {
  return cut.with(cut.first, kExtremes[cut.random() % kExtremes.size()]);
}

std::string wrapped(const Cut& cut) {
  const std::vector<Wrapper>& wrappers = wrappers_of(cut.language);
  const Wrapper& wrapper = wrappers[cut.random() % wrappers.size()];
  std::string inner(wrapper.before);
  inner += cut.of(cut.first);
  inner += wrapper.after;
  return cut.with(cut.first, inner);
}

/// The same wrapper many times: how deep may one nest?
std::string nested(const Cut& cut) {
  const std::vector<Wrapper>& wrappers = wrappers_of(cut.language);
  const Wrapper& wrapper = wrappers[cut.random() % wrappers.size()];
  std::string before, after;
  for (std::size_t depth = 2 + cut.random() % 62; depth > 0; --depth)
    before += wrapper.before, after += wrapper.after;
  return cut.with(cut.first, before + std::string(cut.of(cut.first)) + after);
}

/// From the first to the second: whatever lies between goes, too.
std::string cut_short(const Cut& cut) {
  return cut.first.end <= cut.second.begin ? cut.with({cut.first.end, cut.second.begin}, {}) : left_out(cut);
}

constexpr std::array kMutations{left_out,     doubled, copied, moved_back, exchanged,
                                made_extreme, wrapped, nested, cut_short};

}  // namespace

std::string mutated(Language language, std::string_view text, std::size_t longest, std::minstd_rand& random) {
  const std::vector<Level> levels = levels_of(language, text);
  if (levels.empty()) return std::string(text);
  const Level& level = levels[random() % levels.size()];
  std::size_t first = random() % level.size(), second = random() % level.size();
  if (first > second) std::swap(first, second);
  const auto mutation = kMutations[random() % kMutations.size()];
  std::string result = mutation({language, text, level[first], level[second], random});
  if (result.size() > longest) result.resize(longest);
  return result;
}

}  // namespace foretrain::test
