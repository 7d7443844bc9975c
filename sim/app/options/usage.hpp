// Checks of choices on the command line, and messages about words that it does not know.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
class Validator;
}  // namespace CLI

namespace foretrain {

/// Returns a check that accepts these names as spelt_alike() finds them, and names the nearest one otherwise.
CLI::Validator one_of(std::vector<std::string> names);

/// Returns the message about a line that could not be parsed: one sentence for each word that nothing takes,
/// with the nearest known word. The last line names the command whose --help tells more.
std::string usage_mistake(const CLI::App& app, const CLI::ParseError& error);

/// Returns a sentence about a word where a command of `path` ("foretrain topology") should be.
std::string unknown_command(const CLI::App& command, const std::string& path, const std::string& word);

/// Returns the words of a command line unchanged. Throws InputError when two --set among them contradict each
/// other.
std::vector<std::string> checked_words(std::vector<std::string> words);

}  // namespace foretrain
