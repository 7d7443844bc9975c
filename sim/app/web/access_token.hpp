// The secret by which the workshop page knows its user: in the address that is printed, then in a cookie.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// 32 digits of 128 random bits of the kernel. Throws EnvironmentError where it has none.
std::string new_access_token();

/// Whether both are the same, in a time that does not tell how far they are.
bool is_same_secret(std::string_view given, std::string_view secret);

/// The value of one cookie of a Cookie header; empty: it is not among them.
std::string_view cookie_value(std::string_view header, std::string_view name);

}  // namespace foretrain
