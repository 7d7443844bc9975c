// Keys that have an effect with a strategy: combinations that differ in others are one.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Returns whether a key changes anything with this strategy: it is no option of strategies, or one that the
/// strategy has.
bool is_option_of(const std::string& strategy, std::string_view key);  // study.cpp

}  // namespace foretrain
