// Fuzz target: job scripts, submit files and manifests from any bytes, told apart by content. Nothing outside
// is read.
#include <cstdint>
#include <string>

#include "tests/fuzz/job_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace foretrain;
  const SourceText source{"job.sh", std::string(reinterpret_cast<const char*>(data), size)};
  const ScriptFinder itself = [&](const std::string& name) {
    return name == "self.sh" ? std::optional<SourceText>(source) : std::nullopt;
  };
  try {
    is_job_script(source.text);
    test::check_read_job(read_job_script(source, itself), source);
  } catch (const InputError& error) {
    test::require(!error.diagnostics().empty());
  }
  return 0;
}
