// foretrain-bench: measures this machine and writes samples; the only catch and the only exit codes.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

#include "calibrate/micro/gpu/benchmark.hpp"
#include "calibrate/micro/plan/options.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace {

constexpr int kWrongInput = 1, kUsage = 2, kEnvironmentError = 3;

int fail(std::string_view text, int code) {
  std::fflush(stdout);
  fmt::print(stderr, "{}", foretrain::printable_lines(text));
  return code;
}

/// Everything that was printed has arrived.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return fail("error: standard output: cannot be written\n", kEnvironmentError);
}

int run(int argc, char** argv) {
  using foretrain::micro::Options;
  const Options options = foretrain::micro::parse_options({argv + 1, argv + argc});
  switch (options.action) {
    case Options::Action::help:
      fmt::print("{}", foretrain::micro::help_text());
      return 0;
    case Options::Action::version:
      fmt::print("foretrain-bench {}\n", FORETRAIN_VERSION);
      return 0;
    case Options::Action::list:
      foretrain::micro::list_families(options);
      return 0;
    case Options::Action::measure:
      return foretrain::micro::run_benchmarks(options) ? 0 : kEnvironmentError;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is a failed write
  try {
    return finish(run(argc, argv));
  } catch (const foretrain::micro::UsageError& error) {
    return fail(fmt::format("error: {}\n", error.what()), kUsage);
  } catch (const foretrain::InputError& error) {
    return fail(error.what(), kWrongInput);
  } catch (const std::bad_alloc&) {
    return fail("error: out of memory\n", kEnvironmentError);
  } catch (const std::exception& error) {
    return fail(fmt::format("error: {}\n", error.what()), kEnvironmentError);
  }
}
