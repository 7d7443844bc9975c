// The C functions of foretrain.h. They run a command line with the output of the calling thread held in
// memory. No exception may cross this interface.
#include "sim/app/library/foretrain.h"

#include <string>
#include <vector>

#include "sim/app/library/run_program.hpp"

// The result that callers hold by pointer.
struct foretrain_result {
  foretrain::HeldRun run;
};

namespace {

/// Returns the text, and its length without the final NUL in `size` when that is not null.
const char* given(const std::string& text, std::size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.c_str();
}

}  // namespace

foretrain_result* foretrain_run(int count, const char* const* arguments) {
  try {
    std::vector<std::string> words;
    if (count > 0) words.assign(arguments, arguments + count);
    return new foretrain_result{foretrain::run_held(words)};
    // Only memory can run out here: run_held() turns all other errors into exit codes.
  } catch (...) {
    return nullptr;
  }
}

// The accessors below only read the result; texts belong to it.
int foretrain_exit_code(const foretrain_result* result) { return result->run.exit_code; }

const char* foretrain_output(const foretrain_result* result, std::size_t* size) {
  return given(result->run.output, size);
}

const char* foretrain_messages(const foretrain_result* result, std::size_t* size) {
  return given(result->run.messages, size);
}

void foretrain_free(foretrain_result* result) { delete result; }

const char* foretrain_version() { return FORETRAIN_VERSION; }

int foretrain_main(int argc, char** argv) { return foretrain::run_program(argc, argv); }
