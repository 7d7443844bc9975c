// Integers that a block's parameters determine, as a model file writes them: "$width", "4*$width".
//
// Formulas are checked when a file is read (is_arithmetic) and computed when a block is expanded
// (arithmetic_value), because the numbers of parameters are known only then.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace foretrain {

/// Returns the number of a parameter.
using ParameterValue = std::function<std::int64_t(std::string_view name)>;

/// Returns whether the text consists of integers, "$name", + - * / and parentheses, with at least one
/// parameter.
bool is_arithmetic(std::string_view text);

/// Returns the value of such a text; a division rounds down. Returns nullopt for a division by zero or a
/// negative number, or a value beyond 64 bits. Requires is_arithmetic().
std::optional<std::int64_t> arithmetic_value(std::string_view text, const ParameterValue& value_of);

}  // namespace foretrain
