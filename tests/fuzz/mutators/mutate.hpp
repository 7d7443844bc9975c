// One mutation of a text by its pieces: whole sections, keys, rows, elements and words are left out, doubled,
// exchanged, put into each other, quoted, or become extreme numbers.
#pragma once

#include <random>
#include <string>
#include <string_view>

#include "tests/fuzz/mutators/piece.hpp"

namespace foretrain::test {

/// Of at most `longest` bytes; the same for the same `random`. Texts without a piece come back as they are.
std::string mutated(Language language, std::string_view text, std::size_t longest, std::minstd_rand& random);

}  // namespace foretrain::test
