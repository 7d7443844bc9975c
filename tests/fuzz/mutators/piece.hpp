// A text cut into pieces of one level after another, as its language nests them: what a mutator moves about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain::test {

enum class Language : std::uint8_t { toml, csv, xml, json, shell, lines };

/// A stretch of the text, first and one past the last byte.
struct Piece {
  std::size_t begin = 0, end = 0;
};

/// Pieces of one kind in the order of the text: sections, keys, rows, fields, elements, values, words. None
/// overlaps another of its level.
using Level = std::vector<Piece>;

/// From the largest pieces to the smallest; levels without any are left out.
std::vector<Level> levels_of(Language language, std::string_view text);

/// How a piece of the language is put into another of its kind, or made one value.
struct Wrapper {
  std::string_view before, after;
};
const std::vector<Wrapper>& wrappers_of(Language language);

/// By the name of a fuzz target ("fuzz_scenario"): what its inputs are written in.
Language language_of(std::string_view target);

}  // namespace foretrain::test
