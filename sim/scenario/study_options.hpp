// Which keys mean anything with a strategy: combinations that differ in others are one.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Whether a key changes anything with this strategy: it is no option of strategies, or one that it has.
bool is_option_of(const std::string& strategy, std::string_view key);  // study.cpp

}  // namespace foretrain
