// Which Python this machine's user means, and the libraries of CUDA that its packages brought.
#pragma once

#include <string>
#include <vector>

#include "calibrate/micro/plan/nccl_environment.hpp"
#include "sim/base/shared_library.hpp"

namespace foretrain::micro {

/// FORETRAIN_PYTHON, or "python3".
std::string python_program(const ReadVariable& read);

/// The folders site-packages/nvidia/*/lib that belong to python_program(), sorted. It is looked for as a
/// shell would and never started; a virtual environment comes before the Python it was made from.
std::vector<std::string> python_library_folders(const ReadVariable& read);

/// By the loader's own rules (LD_LIBRARY_PATH, the system's), then in `folders`.
SharedLibrary open_library(const std::string& name, const std::vector<std::string>& folders);

}  // namespace foretrain::micro
