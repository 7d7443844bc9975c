// Slurm's options, from #SBATCH lines and from command lines, into a request.
#pragma once

#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"

namespace foretrain {

/// Reads options from words of sbatch, salloc, srun or smux; what it cannot read goes to script.not_understood.
class SlurmOptions {
 public:
  explicit SlurmOptions(JobScript& script) : script_(script) {}
  /// Reads options from `words[from]` on, up to the first word that is none; returns its index. `expands`: words come from a shell, where
  /// variables have values; in #SBATCH lines Slurm takes them as they stand.
  std::size_t read(const std::vector<ShellWord>& words, std::size_t from, bool expands);
  /// The command of --wrap, where there was one.
  const Field<std::string>& wrapped() const { return wrapped_; }
  /// Whether anything read so far asks for a job, and is no option of a step inside one: GPUs, a partition, an account, a time.
  bool asks_for_job() const { return asks_for_job_; }

 private:
  std::size_t read_one(const std::vector<ShellWord>& words, std::size_t i, bool expands);
  void take(std::string_view name, const ShellWord& value, std::string_view text, bool expands);
  void take_gpus(std::string_view name, Field<int>& field, const ShellWord& word, std::string_view text);
  void take_count(Field<int>& field, const ShellWord& word, std::string_view text);
  void take_nodes(const ShellWord& word, std::string_view text);
  void not_understood(const ShellWord& word, std::string_view text, std::string why);

  JobScript& script_;
  Field<std::string> wrapped_;
  bool asks_for_job_ = false;
};

/// The #SBATCH lines before the first command, as Slurm reads them; later ones become remarks. `first_line` is the number of the first.
void read_directives(std::string_view text, int first_line, JobScript& script);

}  // namespace foretrain
