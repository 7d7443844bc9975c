// The program: the only catch and the only exit codes.
#include <cstdio>
#include <exception>

#include "sim/app/command_line.hpp"
#include "sim/base/diagnostics.hpp"

namespace {

constexpr int kWrongInput = 1, kWorldFailed = 3;

int fail(const char* text, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s", text);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return foretrain::run_command_line(argc, argv);
  } catch (const foretrain::InputError& error) {
    return fail(error.what(), kWrongInput);
  } catch (const std::bad_alloc&) {
    return fail("error: out of memory\n", kWorldFailed);
  } catch (const std::exception& error) {
    fail("error: ", kWorldFailed);
    fail(error.what(), kWorldFailed);
    return fail("\n", kWorldFailed);
  }
}
