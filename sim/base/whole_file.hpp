// Writing a file so that it is there whole or as before; for both programs.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// Makes `text` what the file holds. It is written to a file of its own beside it, under a name that nobody
/// can guess and that this call creates, which then takes the name `path`; mode, owner and group of a file
/// that is there stay, and a link keeps pointing where it does. Written to as they stand are devices, pipes
/// that somebody reads, and files with several names (hard links) or an owner that cannot be kept. Signals
/// that end the program wait until nothing half-written is left, or give up what is half-written first (a
/// program of one thread). Throws EnvironmentError with path and cause: a folder, a socket, a disk, a pipe
/// that nobody reads, a file that may not be written, no room.
void write_whole_file(const std::string& path, std::string_view text);

/// The same for an entry of a folder that others can write to: whatever is at `path`, a link too, is replaced
/// and never opened.
void replace_entry(const std::string& path, std::string_view text);

/// Removes what programs that were killed in the moment before a file took its name have left in the folder
/// of `path`: files of these calls that are older than a minute, belong to this user, and that no program
/// holds.
void remove_left_parts(const std::string& path);

/// The name that `path` stands for behind links, which need not be there yet.
std::string behind_links(std::string path);

}  // namespace foretrain
