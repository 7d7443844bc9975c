// The secret with which the workshop page proves that its user may ask. It is part of the printed address and
// then becomes a cookie.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Returns 32 hexadecimal digits of 128 random bits from the kernel. Throws EnvironmentError when there are
/// none.
std::string new_access_token();

/// Returns true when both are equal. The time does not depend on how much of them agrees.
bool is_same_secret(std::string_view given, std::string_view secret);

/// Returns the value of one cookie of a Cookie header; empty when it is missing.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace foretrain
