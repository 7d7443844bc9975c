// Slurm's options, from #SBATCH lines and from command lines, into a request.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads options from words of sbatch, salloc, srun or smux; what it cannot read goes to
/// script.not_understood.
class SlurmOptions {
 public:
  explicit SlurmOptions(JobScript& script) : script_(script) {}
  /// Reads options from `words[from]` on, up to the first word that is none; returns its index. `expands`:
  /// words come from a shell, where variables have values; in #SBATCH lines Slurm takes them as they stand.
  std::size_t read(const std::vector<ShellWord>& words, std::size_t from, bool expands);
  /// The command of --wrap, where there was one.
  const Field<std::string>& wrapped() const { return wrapped_; }
  /// Whether anything read so far asks for a job, and is no option of a step inside one: GPUs, a partition,
  /// an account, a time.
  bool asks_for_job() const { return asks_for_job_; }

 private:
  /// An option's value and where it stands.
  struct Value {
    const ShellWord& word;
    std::string_view text;
  };
  /// A row of the table of options that are read.
  struct Option {
    std::string_view name;
    char letter = 0;
    void (SlurmOptions::*take)(const Value&) = nullptr;
  };
  static std::span<const Option> options();
  static std::string unknown_option_hint(std::string_view name);
  static std::string_view whole_name(std::string_view name);

  std::size_t read_one(const std::vector<ShellWord>& words, std::size_t i, bool expands);
  void take(const Option& option, const Value& value, bool expands);
  void take_count(Field<int>& field, const ShellWord& word, std::string_view text);
  void take_gpus(Field<int>& field, const Value& value, bool with_kind);
  template <auto Member>
  void count(const Value& value);
  template <auto Member>
  void gpus(const Value& value);
  template <auto Member>
  void resource(const Value& value);  ///< gres: kinds of resources, GPUs among them
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

/// The #SBATCH lines before the first command, as Slurm reads them; later ones become remarks. `first_line`
/// is the number of the first.
void read_directives(std::string_view text, int first_line, JobScript& script);

// Options of Slurm that have no bearing on a training: they are passed over, and not reported.

/// The long and the short name of an option.
struct OptionName {
  std::string_view name;
  char letter = 0;
};

/// With a value.
std::span<const OptionName> slurm_other_options();
/// Without a value, or with one only after '='.
std::span<const OptionName> slurm_flags();

}  // namespace foretrain
