// The test runner's main: Catch2 2.x generates it here, 3.x brings its own library.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#else
namespace foretrain::test {
void catch_three_brings_its_own_main() {}
}  // namespace foretrain::test
#endif
