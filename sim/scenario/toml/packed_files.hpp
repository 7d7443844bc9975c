// Catalogs that are part of the program: a tar archive in its data, whose files are read like others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The folder that stands for the files in the program; no system has it.
inline constexpr std::string_view kPackedFolder = "/catalogs-in-the-program";

/// Returns the archive. It is empty except in a program of one file (cmake/one_file.cmake), which links
/// another definition.
std::string_view packed_catalogs();  // packed_none.cpp

/// A file of a tar archive. The text points into the archive.
struct TarEntry {
  std::string name;
  std::string_view text;
};
/// Returns the regular files of a tar archive (ustar, or pax without long names), at most `most`. Returns
/// nullopt if the text is no archive, is cut off, has too many files, or has a name that is not plain and
/// relative.
std::optional<std::vector<TarEntry>> read_tar(std::string_view archive, std::size_t most);

/// Returns the text of a file below kPackedFolder; nullopt when `path` names none.
std::optional<std::string_view> packed_file(std::string_view path);

/// Returns whether the file exists, on the disk or in the program.
bool is_file_there(const std::string& path);
/// Returns the paths of the files in a folder, on the disk or in the program, whose names end with `ending`;
/// in no particular order.
std::vector<std::string> files_in(const std::string& folder, std::string_view ending);

}  // namespace foretrain
