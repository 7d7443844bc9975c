// Reads Slurm's options from #SBATCH lines and from command lines into a request.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads the options of sbatch, salloc, srun or smux into script.request. What it cannot read goes to
/// script.not_understood.
/// The last of several options with the same meaning counts, as in Slurm. The script must outlive the object.
class SlurmOptions {
 public:
  explicit SlurmOptions(JobScript& script) : script_(script) {}
  /// Reads options from `words[from]` on, up to the first word that is none, and returns its index.
  /// `expands` says that the words come from a shell, where variables have values. In #SBATCH lines Slurm
  /// takes them as they stand, so a value with "$" is reported.
  std::size_t read(const std::vector<ShellWord>& words, std::size_t from, bool expands);
  /// Returns the command of --wrap, if it was given.
  const Field<std::string>& wrapped() const { return wrapped_; }
  /// Says whether any option so far asks for a job and cannot be that of a step inside of one: GPUs, a
  /// partition, an account or a time.
  bool asks_for_job() const { return asks_for_job_; }

 private:
  /// The text of an option's value, and the word that holds it.
  struct Value {
    const ShellWord& word;
    std::string_view text;
  };
  /// An option that is read: its long name, its letter or 0, and the function that takes the value.
  struct Option {
    std::string_view name;
    char letter = 0;
    void (SlurmOptions::*take)(const Value&) = nullptr;
  };
  /// Returns the table of options that are read.
  static std::span<const Option> options();
  /// Returns the hint for an option that Slurm does not have, with the nearest name.
  static std::string unknown_option_hint(std::string_view name);
  /// Returns the whole name of a long option that may be abbreviated.
  static std::string_view whole_name(std::string_view name);

  /// Reads one option at words[i], and returns the index behind it and its value.
  std::size_t read_one(const std::vector<ShellWord>& words, std::size_t i, bool expands);
  /// Takes a value, unless it depends on variables whose values are not known.
  void take(const Option& option, const Value& value, bool expands);
  /// Reads a count into a field; a bad one clears the field and is reported.
  void take_count(Field<int>& field, const ShellWord& word, std::string_view text);
  /// Reads GPUs into a field. `with_kind` is true for --gres, where other kinds of resources may stand beside
  /// them.
  void take_gpus(Field<int>& field, const Value& value, bool with_kind);
  /// The functions below take the value of one option each; a template argument is the member of JobRequest
  /// that they set.
  template <auto Member>
  void count(const Value& value);
  template <auto Member>
  void gpus(const Value& value);
  template <auto Member>
  /// Reads a list of generic resources, of which GPUs are taken.
  void resource(const Value& value);
  template <auto Member>
  void memory(const Value& value);
  template <auto Member>
  void words(const Value& value);
  void nodes(const Value& value);
  void job_name(const Value& value);
  void hint(const Value& value);
  void wrap(const Value& value);
  void gpus_per_socket(const Value& value);
  void array(const Value& value);
  void constraint(const Value& value);
  void time(const Value& value);
  void not_understood(const ShellWord& word, std::string_view text, std::string why);

  JobScript& script_;
  Field<std::string> wrapped_;
  bool asks_for_job_ = false;
};

/// Reads the #SBATCH lines before the first command; `first_line` is the number of the text's first line.
/// Lines behind the first command become remarks, since Slurm ignores them, and so do lines that look like
/// misspelt directives.
/// Components of a heterogeneous job with GPUs are joined if their nodes are alike.
void read_directives(std::string_view text, int first_line, JobScript& script);

// Slurm has many more options without a bearing on a training. They are known by name, so that they are
// skipped without a report.

/// The long name of an option, and its letter or 0.
struct OptionName {
  std::string_view name;
  char letter = 0;
};

/// Returns the options with a value.
std::span<const OptionName> slurm_other_options();
/// Returns the options without a value, or with one only behind "=".
std::span<const OptionName> slurm_flags();

}  // namespace foretrain
