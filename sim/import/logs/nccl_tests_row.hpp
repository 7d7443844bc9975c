// A header and a row of nccl-tests: which words are which columns, in every version.
#pragma once

#include <string_view>
#include <vector>

#include "sim/import/logs/nccl_tests_table.hpp"

namespace foretrain {

/// How the columns of a table lie behind size, count and type.
struct NcclLayout {
  bool is_known = false;  ///< from a header
  bool has_root = false;
  std::size_t width = 4;  ///< from one time to the next: time algbw busbw error
  double unit_us = 1;     ///< the columns "bytes" and "N" of 2017 and 2018 come with milliseconds
};

bool is_nccl_header(std::string_view line);
NcclLayout nccl_layout_of(const std::vector<std::string_view>& header);

/// Whether a line is a row: two integers and a type. In a table, new types of elements are rows too where all
/// else is there.
bool is_nccl_row(const std::vector<std::string_view>& words, bool in_table);
/// Requires is_nccl_row(). A time that cannot be read keeps why.
NcclRow read_nccl_row(const std::vector<std::string_view>& words, const NcclLayout& layout, int line);

}  // namespace foretrain
