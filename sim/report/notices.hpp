// Licences of third-party software that is compiled into the program or its pages.
#pragma once

#include <string_view>

namespace foretrain {

/// Returns plain text with name, copyright and licence of each library and of each package of the pages. It
/// is made by cmake/notices.cmake.
std::string_view packed_notices();

}  // namespace foretrain
