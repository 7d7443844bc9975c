// The programs that foretrain or its scripts start: its benchmark, Python with the foretrain package, and
// itself.
#pragma once

#include <string>

namespace foretrain {

/// Returns the foretrain-bench that lies beside this program, else its plain name, which is searched on PATH.
std::string bench_program();

/// Returns "foretrain" where a program of that name is on PATH, else the absolute path of this program.
std::string own_program();

/// Returns the program in FORETRAIN_PYTHON, or python3.
std::string python_program();

/// Appends the Python package of a source tree to PYTHONPATH, when it lies beside one of the catalogs'
/// folders. No other place is searched.
void add_package_to_python_path();

}  // namespace foretrain
