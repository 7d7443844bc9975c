// Whole numbers that a block's parameters decide, as a model file writes them: "$width", "4*$width".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace foretrain {

/// The number that a parameter stands for.
using ParameterValue = std::function<std::int64_t(std::string_view name)>;

/// Whether the text is made of whole numbers, "$name", + - * / and parentheses, with one parameter at least.
bool is_arithmetic(std::string_view text);

/// The value of such a text; a division rounds down. Nothing for a division by zero or a value beyond 64
/// bits. Requires is_arithmetic().
std::optional<std::int64_t> arithmetic_value(std::string_view text, const ParameterValue& value_of);

}  // namespace foretrain
