// What is written names every file as one word, so that blanks and quotes in names are part of them.
#include "sim/report/sweep/submission.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// "1-02:30:00" of Slurm without days, which all of its versions take.
std::string clock_text(double seconds) {
  const auto minutes = static_cast<std::int64_t>(std::ceil(seconds / 60));
  return fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

/// A name for a queue: letters, digits, dots, dashes.
std::string job_name(const SweepSubmission& s) {
  std::string out = "sweep-";
  for (const char c : s.name.substr(0, 40))
    out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '-';
  return out;
}

/// `part`: how the engine's shell says the shard's number.
std::string run_line(const SweepSubmission& s, const std::string& part) {
  return fmt::format("{} sweep run {} --db {}-{}.sqlite --shard {}/{} -j {}", shell_word(s.program),
                     shell_word(s.sweep), shell_word(s.database), part, part, s.shards, s.threads);
}

std::string about(const SweepSubmission& s) {
  return fmt::format(
      "# {} in {} shards. {}\n# A job that was killed goes on where it was when it is started again. "
      "Afterwards:\n#   {} sweep merge {}-*.sqlite -o {}.sqlite\n",
      printable(s.name), s.shards, s.estimate, shell_word(s.program), shell_word(s.database),
      shell_word(s.database));
}

std::string write_slurm(const SweepSubmission& s) {
  return fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --array=1-{}\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n#SBATCH --mem={}M\n#SBATCH --time={}\n#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n{}exec {}\n",
      job_name(s), s.shards, s.threads, s.memory_mib, clock_text(s.seconds), about(s),
      run_line(s, "\"$SLURM_ARRAY_TASK_ID\""));
}

/// In HTCondor's new quoting: the whole in double quotes, each argument in single ones, both doubled inside.
std::string condor_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : c == '"' ? "\"\"" : std::string(1, c);
  return out + "'";
}

std::string write_condor(const SweepSubmission& s) {
  if (s.program.find_first_of("\n\r") != std::string::npos)
    throw InputError("HTCondor takes no program with a line break in its name");
  return fmt::format(
      "{}executable = {}\ntransfer_executable = false\nshould_transfer_files = false\ninitialdir = "
      "$ENV(PWD)\n"
      "getenv = true\narguments = \"sweep run {} --db {}-$(part).sqlite --shard $(part)/{} -j {}\"\n"
      "output = {}-$(part).out\nerror = {}-$(part).err\nlog = {}.log\nrequest_cpus = {}\n"
      "request_memory = {}MB\nmax_retries = 3\n+MaxRuntime = {:.0f}\nqueue part from seq 1 {} |\n",
      about(s), s.program, condor_word(s.sweep), condor_word(s.database), s.shards, s.threads, job_name(s),
      job_name(s), job_name(s), s.threads, s.memory_mib, s.seconds, s.shards);
}

/// A text of YAML: JSON's is one.
std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string lower(std::string text) {
  for (char& c : text) c = c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// An indexed job counts from 0.
std::string write_kubernetes(const SweepSubmission& s) {
  if (s.image.empty() || s.claim.empty())
    throw InputError("Kubernetes starts containers: which image, and which volume has the sweep?",
                     "--image NAME and --claim NAME, a PersistentVolumeClaim that is mounted as /sweep");
  const std::string line =
      "part=$((JOB_COMPLETION_INDEX + 1)); cd /sweep && exec " + run_line(s, "\"$part\"");
  return fmt::format(
      "{}apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {}\nspec:\n  completionMode: Indexed\n"
      "  completions: {}\n  parallelism: {}\n  backoffLimit: {}\n  activeDeadlineSeconds: {:.0f}\n  "
      "template:\n"
      "    spec:\n      restartPolicy: OnFailure\n      containers:\n        - name: foretrain\n"
      "          image: {}\n          command: [\"sh\", \"-c\", {}]\n          resources:\n"
      "            requests: {{cpu: \"{}\", memory: {}Mi}}\n            limits: {{memory: {}Mi}}\n"
      "          volumeMounts:\n            - {{name: sweep, mountPath: /sweep}}\n      volumes:\n"
      "        - name: sweep\n          persistentVolumeClaim: {{claimName: {}}}\n",
      about(s), lower(job_name(s)), s.shards, s.shards, 3 * s.shards, s.seconds, yaml_text(s.image),
      yaml_text(line), s.threads, s.memory_mib, s.memory_mib, yaml_text(s.claim));
}

std::string write_flux(const SweepSubmission& s) {
  return fmt::format(
      "#!/bin/sh\n{}exec flux submit --cc=1-{} --job-name={} -N 1 -n 1 -c {} -t {}m "
      "--output={}-{{{{cc}}}}.out "
      "sh -c {}\n",
      about(s), s.shards, job_name(s), s.threads, static_cast<std::int64_t>(std::ceil(s.seconds / 60)),
      job_name(s), shell_word("exec " + run_line(s, "\"$FLUX_JOB_CC\"")));
}

}  // namespace

std::string shell_word(std::string_view text) {
  const std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+:,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

const std::vector<SweepEngine>& sweep_engines() {
  static const std::vector<SweepEngine> engines{
      {"slurm", "A job array of Slurm", write_slurm, {"sbatch"}},
      {"htcondor", "A submit file of HTCondor", write_condor, {"condor_submit"}},
      {"kubernetes", "An indexed job of Kubernetes", write_kubernetes, {"kubectl", "apply", "-f"}},
      {"flux", "Jobs of Flux", write_flux, {"sh"}},
  };
  return engines;
}

}  // namespace foretrain
