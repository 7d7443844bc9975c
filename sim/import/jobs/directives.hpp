// Cuts directive lines of shell scripts (#PBS, #BSUB, #$, #flux:) into options, and reads values that several
// batch systems write alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// The words of one directive line without its mark, and the place of the line.
struct Directive {
  std::vector<ShellWord> words;
  SourceSpan span{};
};

/// Returns the words of `line` from column `from` on, counted from 0; `number` is the line's number.
/// Quotes hold words together, a backslash stands for the character behind it, and "#" at the beginning of a
/// word ends the line. Nothing is expanded.
std::vector<ShellWord> directive_words(std::string_view line, std::size_t from, int number);

/// Returns the lines that begin with `mark`. If `only_top` is set, those behind the first command have no
/// effect in the batch system `name`, and they become remarks.
std::vector<Directive> cut_directives(std::string_view text, std::string_view mark, bool only_top,
                                      std::string_view name, JobScript& script);

/// Says whether some line begins with `mark`.
bool has_directive(std::string_view text, std::string_view mark);

/// Returns the first word of the text, as in "qsub -l …". A prompt "$ " is skipped.
std::string_view first_word(std::string_view text);

/// The text of an option's value, and the word that holds it. Both refer to the words of the directive.
struct OptionValue {
  const ShellWord& word;
  std::string_view text;
};

/// An option of a batch system. Without `take` it is skipped, because it has no bearing on a training.
struct BatchOption {
  /// Name with its dashes.
  std::string_view name;
  /// True if a value follows; false for a flag.
  bool has_value = true;
  /// Puts the value into the script's request, or reports it.
  void (*take)(JobScript& script, const OptionValue& value) = nullptr;
};

/// Reads options from `words[from]` on, up to the first word that is none, and returns its index.
/// Unknown options are reported with the nearest name. Long options may hold their value behind "=", and
/// short ones may have it joined, as in "-N2". A value that depends on variables is reported.
std::size_t read_batch_options(const std::vector<ShellWord>& words, std::size_t from,
                               std::span<const BatchOption> options, std::string_view system,
                               JobScript& script);

/// Reports a value that cannot be read; at most 100 such reports are kept.
void not_understood(JobScript& script, const OptionValue& value, std::string why);

/// Reads a count from 0 to 10^6. Reports other texts and returns no value for them.
Field<int> count_field(JobScript& script, const OptionValue& value, std::string_view text);

/// Makes CPUs unknown where a request does not state them, for systems that do not give one CPU to each task.
void clear_unset_cpus(JobScript& script);

/// Returns the seconds of "s", "m:s", "h:m:s" or "d:h:m:s"; no value for other texts.
std::optional<std::int64_t> clock_seconds(std::string_view text);

/// Reads an amount of memory as PBS and Grid Engine write it: "16gb", "500mb", or bytes without a unit. Units
/// are powers of 1024. No value for other texts.
std::optional<MemoryRequest> bytes_memory(std::string_view text);

/// A name with its value, which is empty for a name alone.
struct Pair {
  std::string_view name, value;
};
/// Cuts "a=1:b=2" or "a=1,b=2" into its parts at `separator`; empty parts are skipped.
std::vector<Pair> pairs_of(std::string_view text, char separator);

}  // namespace foretrain
