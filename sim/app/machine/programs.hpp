// The programs that foretrain starts: its benchmark, and Python with its package.
#pragma once

#include <string>

namespace foretrain {

/// foretrain-bench beside this program, else by its name alone, for a search of PATH.
std::string bench_program();

/// What FORETRAIN_PYTHON names, else python3.
std::string python_program();

/// Puts the Python package of a source tree, where one of the catalogs' folders has it, behind what
/// PYTHONPATH holds. Nothing else is searched.
void add_package_to_python_path();

}  // namespace foretrain
