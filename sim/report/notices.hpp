// The licences of others' software that is compiled into the program or in its pages.
#pragma once

#include <string_view>

namespace foretrain {

/// Plain text: each library and each package of the pages by name, with copyright and licence (made by
/// cmake/notices.cmake).
std::string_view packed_notices();

}  // namespace foretrain
