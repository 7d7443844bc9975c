// How the command line takes choices, and what it says about words that it does not know.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
class Validator;
}  // namespace CLI

namespace foretrain {

/// One of these names, as spelt_alike() finds it; otherwise the nearest one is named.
CLI::Validator one_of(std::vector<std::string> names);

/// What is wrong with the line that was parsed: every word that nothing takes, each with the nearest that
/// something does.
std::string usage_mistake(const CLI::App& app, const CLI::ParseError& error);

/// About a word where a command of `parent` ("foretrain topology") should be.
std::string unknown_command(const CLI::App& command, const std::string& path, const std::string& word);

/// The words of a command line. Throws InputError where two --set among them contradict each other.
std::vector<std::string> checked_words(std::vector<std::string> words);

}  // namespace foretrain
