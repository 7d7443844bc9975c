// Command lines made from the program's own tables: every command, every option, every key of a scenario,
// with values that are right, misspelt, missing or absurd.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/app/pages/completion.hpp"

namespace foretrain::test {

/// What the generator draws from. Lists come from the program; only the files are the generator's own.
struct CommandVocabulary {
  std::vector<CompletedCommand> commands;  ///< those that end by themselves, with at least one option
  std::vector<std::string> keys;           ///< "launch.shm=\"64 MB\"": every key with its example
  std::vector<std::string> files;          ///< that lie in the working folder
  /// Names of a catalog, as `foretrain list` has them; unknown catalogs are empty.
  const std::vector<std::string>& names(const std::string& catalog) const;

  std::vector<std::pair<std::string, std::vector<std::string>>> catalogs;
};

/// Reads the tables once. `files`: names of what write_files() wrote.
CommandVocabulary read_vocabulary(std::vector<std::string> files);

/// The arguments behind "foretrain" of the command line with this number: always the same ones for the same
/// vocabulary.
std::vector<std::string> make_command(const CommandVocabulary& vocabulary, std::uint64_t number);

/// The command line as a person would paste it into a shell.
std::string shell_text(const std::vector<std::string>& arguments);

}  // namespace foretrain::test
