// Where the figures lie that tests hold the model against.
#pragma once

#include <filesystem>

namespace foretrain::test {

/// docs/measured of the source tree; its README says where the rows of each file come from.
inline const std::filesystem::path kMeasured = FORETRAIN_SOURCE_DIR "/docs/measured";

}  // namespace foretrain::test
