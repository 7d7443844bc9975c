// Writes job scripts for sweeps. A script contains every name as one word of its language. Names that a
// language cannot express are refused, so that no name can change the script.
#include "sim/report/sweep/submission.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/shell_word.hpp"

namespace foretrain {

namespace {

/// Returns a time limit as HH:MM:00. Slurm's form with days is avoided, since all versions take this one.
std::string clock_text(double seconds) {
  const auto minutes = static_cast<std::int64_t>(std::ceil(seconds / 60));
  return fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Returns a name for the queue. It has letters, digits, dots and dashes, and begins and ends with a letter
/// or digit.
std::string job_name(const SweepSubmission& s) {
  std::string out = "sweep-";
  for (const char c : s.name.substr(0, 40)) out += is_letter_or_digit(c) || c == '.' || c == '-' ? c : '-';
  while (!is_letter_or_digit(out.back())) out.pop_back();
  return out;
}

/// Returns the file with "./" before a leading dash, which would make it an option.
std::string as_file(const std::string& path) { return path.starts_with('-') ? "./" + path : path; }

/// Returns the command of a shard. `part` is the shard's number as the engine's shell expresses it.
std::string run_line(const SweepSubmission& s, const std::string& part) {
  return fmt::format("{} sweep run {} --db {}-{}.sqlite --shard {}/{} -j {}", shell_word(s.program),
                     shell_word(as_file(s.sweep)), shell_word(as_file(s.database)), part, part, s.shards,
                     s.threads);
}

/// Returns comment lines on the sweep and on what to do afterwards. check_names() guarantees that no name has
/// a line end.
std::string about(const SweepSubmission& s) {
  const std::string database = shell_word(as_file(s.database));
  return fmt::format(
      "# {} in {} shards. {}\n# A job that was killed goes on where it was when it is started again. "
      "Afterwards:\n#   {} sweep merge {}-*.sqlite -o {}.sqlite\n",
      s.name, s.shards, s.estimate, shell_word(s.program), database, database);
}

// A name, and what it is in a message.
struct NamedText {
  std::string_view what;
  const std::string& text;
};

/// Throws InputError for names with control characters, which no script can carry, and for names with a
/// character that the engine's language cannot quote.
void check_names(const SweepSubmission& s, const SweepEngine& engine) {
  const NamedText names[] = {{"the sweep's file", s.sweep}, {"the sweep's name", s.name},
                             {"the program", s.program},    {"--db", s.database},
                             {"--image", s.image},          {"--claim", s.claim}};
  for (const NamedText& name : names) {
    if (!is_printable(name.text))
      throw InputError(fmt::format("{} has a line break or another control character in it: {}", name.what,
                                   shortened(printable(name.text), 60)),
                       "a script can only carry names without them");
    if (const std::size_t at = name.text.find_first_of(engine.refused); at != std::string::npos)
      throw InputError(fmt::format("{} has \"{}\" in it, where {}: {}", name.what, name.text[at],
                                   engine.why_refused, shortened(name.text, 60)),
                       "another name, or another engine");
  }
}

/// Returns a job array of Slurm. A job that is requeued continues its shard.
std::string write_slurm(const SweepSubmission& s) {
  return fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --array=1-{}\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n"
      "#SBATCH --cpus-per-task={}\n#SBATCH --mem={}M\n#SBATCH --time={}\n#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n{}exec {}\n",
      job_name(s), s.shards, s.threads, s.memory_mib, clock_text(s.seconds), about(s),
      run_line(s, "\"$SLURM_ARRAY_TASK_ID\""));
}

/// Returns a word in HTCondor's new syntax of arguments: the whole list is in double quotes, each word in
/// single quotes, and quotes inside are doubled.
std::string condor_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : c == '"' ? "\"\"" : std::string(1, c);
  return out + "'";
}

/// Returns a submit file of HTCondor.
std::string write_condor(const SweepSubmission& s) {
  return fmt::format(
      "{}executable = {}\ntransfer_executable = false\nshould_transfer_files = false\ninitialdir = "
      "$ENV(PWD)\n"
      "getenv = true\narguments = \"sweep run {} --db {}-$(part).sqlite --shard $(part)/{} -j {}\"\n"
      "output = {}-$(part).out\nerror = {}-$(part).err\nlog = {}.log\nrequest_cpus = {}\n"
      "request_memory = {}MB\nmax_retries = 3\n+MaxRuntime = {:.0f}\nqueue part from seq 1 {} |\n",
      about(s), s.program, condor_word(as_file(s.sweep)), condor_word(as_file(s.database)), s.shards,
      s.threads, job_name(s), job_name(s), job_name(s), s.threads, s.memory_mib, s.seconds, s.shards);
}

/// Returns the code point of a UTF-8 character of `length` bytes.
std::uint32_t number_of_character(std::string_view bytes, std::size_t length) {
  constexpr std::uint32_t kFirst[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(bytes[0]) & kFirst[length];
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(bytes[i]) & 0x3F);
  return code;
}

/// Returns a YAML text in double quotes. Characters beyond ASCII are escaped, since YAML treats some as line
/// ends and readers reject others.
std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    const std::uint32_t code =
        length == 1 ? static_cast<unsigned char>(text[0]) : number_of_character(text, length);
    if (code < 0x20 || code >= 0x7F)
      out += fmt::format("\\U{:08x}", code);
    else
      out += (code == '"' || code == '\\' ? "\\" : "") + std::string(1, static_cast<char>(code));
    text.remove_prefix(length);
  }
  return out + "\"";
}

/// Doubles each $, because Kubernetes replaces $(NAME) in a command by a variable.
std::string without_variables(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '$' ? "$$" : std::string(1, c);
  return out;
}

/// Returns the name in the form of Kubernetes: lower case and without dots.
std::string lower(std::string text) {
  for (char& c : text) c = c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns an indexed job of Kubernetes, whose index counts from 0. Throws InputError without --image and
/// --claim.
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
      yaml_text(without_variables(line)), s.threads, s.memory_mib, s.memory_mib, yaml_text(s.claim));
}

/// Returns a script that submits jobs to Flux.
std::string write_flux(const SweepSubmission& s) {
  return fmt::format(
      "#!/bin/sh\n{}exec flux submit --cc=1-{} --job-name={} -N 1 -n 1 -c {} -t {}m "
      "--output={}-{{{{cc}}}}.out "
      "sh -c {}\n",
      about(s), s.shards, job_name(s), s.threads, static_cast<std::int64_t>(std::ceil(s.seconds / 60)),
      job_name(s), shell_word("exec " + run_line(s, "\"$FLUX_JOB_CC\"")));
}

}  // namespace

std::string written_submission(const SweepEngine& engine, const SweepSubmission& submission) {
  check_names(submission, engine);
  return engine.write(submission);
}

// Rows: name, help text, writer, command that submits, characters that cannot be quoted, and why.
const std::vector<SweepEngine>& sweep_engines() {
  static const std::vector<SweepEngine> engines{
      {"slurm", "A job array of Slurm", write_slurm, {"sbatch"}},
      {"htcondor",
       "A submit file of HTCondor",
       write_condor,
       {"condor_submit"},
       "$",
       "HTCondor begins a macro"},
      {"kubernetes", "An indexed job of Kubernetes", write_kubernetes, {"kubectl", "apply", "-f"}},
      {"flux", "Jobs of Flux", write_flux, {"sh"}, "{}", "Flux fills in a job's number"},
  };
  return engines;
}

}  // namespace foretrain
