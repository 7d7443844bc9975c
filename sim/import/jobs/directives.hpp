// Directive lines of shell scripts (#PBS, #BSUB, #$, #flux:) cut into options, and values that several batch
// systems write alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// A directive's words, without its mark; quotes hold words together.
struct Directive {
  std::vector<ShellWord> words;
  SourceSpan span{};
};

/// The words of `line` from column `from` on (0-based). Quotes hold words together, a backslash stands for
/// the character behind it, `#` at the beginning of a word ends the line.
std::vector<ShellWord> directive_words(std::string_view line, std::size_t from, int number);

/// The lines that begin with `mark`. `only_top`: those behind the first command are none to the batch system
/// `name`; they become remarks.
std::vector<Directive> cut_directives(std::string_view text, std::string_view mark, bool only_top,
                                      std::string_view name, JobScript& script);

/// Whether some line begins with `mark`.
bool has_directive(std::string_view text, std::string_view mark);

/// The first word of the text, as in "qsub -l …"; "$ " of a prompt is passed over.
std::string_view first_word(std::string_view text);

/// An option's value and where it stands.
struct OptionValue {
  const ShellWord& word;
  std::string_view text;
};

/// An option of a batch system. Without `take` it is passed over: it has no bearing on a training.
struct BatchOption {
  std::string_view name;  ///< with its dashes
  bool has_value = true;
  void (*take)(JobScript& script, const OptionValue& value) = nullptr;
};

/// Reads options from `words[from]` on, up to the first word that is none; returns its index. Unknown ones
/// are not understood, with the nearest name. Long options may hold their value behind '='.
std::size_t read_batch_options(const std::vector<ShellWord>& words, std::size_t from,
                               std::span<const BatchOption> options, std::string_view system,
                               JobScript& script);

void not_understood(JobScript& script, const OptionValue& value, std::string why);

/// A count in the range of counts; what is none is reported.
Field<int> count_field(JobScript& script, const OptionValue& value, std::string_view text);

/// Where a request says no CPUs, and the system does not give one for each task, they are not known.
void clear_unset_cpus(JobScript& script);

/// Seconds of s, m:s, h:m:s, d:h:m:s. Nothing for other texts.
std::optional<std::int64_t> clock_seconds(std::string_view text);

/// Memory in bytes without a unit ("16gb", "500mb", "1024"), units are powers of two, as in PBS and Grid
/// Engine.
std::optional<MemoryRequest> bytes_memory(std::string_view text);

/// "a=1:b=2" or "a=1,b=2": names and values; a name alone has no value.
struct Pair {
  std::string_view name, value;
};
std::vector<Pair> pairs_of(std::string_view text, char separator);

}  // namespace foretrain
