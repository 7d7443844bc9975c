// The text of calibrate/micro/dispatch.py, put into the program by CMake.
#pragma once

#include <string_view>

namespace foretrain::micro {

extern const std::string_view kDispatchScript;

}  // namespace foretrain::micro
