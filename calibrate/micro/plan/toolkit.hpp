// Which CUDA toolkit can build for a GPU.
#pragma once

#include <string>

namespace foretrain::micro {

/// What a GPU of that compute capability needs by NVIDIA's release notes: "CUDA 11 or 12" for 6.0 to 7.2,
/// "CUDA 12.8 or newer" for 10.0.
std::string toolkit_for(int major, int minor);

/// One sentence why a GPU cannot be used: its name, what this build has, what to build with.
std::string no_kernels_sentence(const std::string& gpu, int major, int minor, int built_with);

}  // namespace foretrain::micro
