// Writes a file such that its name shows either the whole new content or the old one. Both programs write
// files by this.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Makes `text` the content of the file.
///
/// The text goes to a new file in the same folder, under a name that nobody can guess and that this call
/// creates. That file then takes the name `path`. Mode, owner and group of an existing file stay, and a link
/// keeps its target. Devices, pipes that some process reads, files with several names (hard links) and files
/// whose owner cannot be kept are written in place.
///
/// Signals that end the program are held back until nothing half-written is left. If one arrives during the
/// writing, the part written so far is removed first. This assumes a program of one thread. Throws
/// EnvironmentError with path and cause for a folder, a socket, a disk, a pipe that nobody reads, a file that
/// may not be written, and a full disk. Throws InputError for "-".
void write_whole_file(const std::string& path, std::string_view text);

/// The same for an entry of a folder that others can write to: the entry at `path` is replaced and never
/// opened, even if it is a link.
void replace_entry(const std::string& path, std::string_view text);

/// Removes files that killed programs have left in the folder of `path`. Only files of these calls are
/// removed that are older than a minute, belong to this user, and are not locked by a program.
void remove_left_parts(const std::string& path);

/// Returns the path that `path` stands for after all links are followed. It need not exist.
std::string behind_links(std::string path);

}  // namespace foretrain
