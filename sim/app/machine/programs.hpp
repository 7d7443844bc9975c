// The programs that foretrain starts: its benchmark, and Python with the foretrain package.
#pragma once

#include <string>

namespace foretrain {

/// Returns the foretrain-bench that lies beside this program, else its plain name, which is searched on PATH.
std::string bench_program();

/// Returns the program in FORETRAIN_PYTHON, or python3.
std::string python_program();

/// Appends the Python package of a source tree to PYTHONPATH, when it lies beside one of the catalogs'
/// folders. No other place is searched.
void add_package_to_python_path();

}  // namespace foretrain
