// Catalogs that are part of the program: a tar archive in its data, whose files are read as others are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// The folder that stands for the files in the program; no system has it.
inline constexpr std::string_view kPackedFolder = "/catalogs-in-the-program";

/// The archive: empty but in a program of one file (cmake/one_file.cmake), which links another definition.
std::string_view packed_catalogs();  // packed_none.cpp

/// A file of a tar archive, as it lies in it.
struct TarEntry {
  std::string name;
  std::string_view text;
};
/// The regular files of a tar archive (ustar, pax without long names), at most `most`; nothing for what is no
/// archive, is cut, or has a name that is not plain and relative.
std::optional<std::vector<TarEntry>> read_tar(std::string_view archive, std::size_t most);

/// The text of a file below kPackedFolder; nothing when `path` names none.
std::optional<std::string_view> packed_file(std::string_view path);

/// Whether there is a file, on the disk or in the program.
bool is_file_there(const std::string& path);
/// Paths of the files in a folder, on the disk or in the program, whose names end so; in no order.
std::vector<std::string> files_in(const std::string& folder, std::string_view ending);

}  // namespace foretrain
