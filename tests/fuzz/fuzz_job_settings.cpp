// Fuzz target: the settings of a job script; its first half is the script, the rest the file it names.
#include <cstdint>
#include <string>

#include "sim/import/job_settings.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(text.find("\n---8<---\n"), text.size());
  const SourceText source{"job.sh", text.substr(0, cut)};
  const ScriptFinder find = [&](const std::string& name) -> std::optional<SourceText> {
    if (cut == text.size()) return std::nullopt;
    return SourceText{name, text.substr(cut + 10)};
  };
  try {
    JobScript script = read_job_script(source, find);
    const JobSettings settings = read_job_settings(source, script, find);
    for (const Diagnostic& mistake : settings.mistakes) test::require(!mistake.message.empty());
    test::require(settings.files.empty() || !settings.files.front().format.empty());
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}
