// The secret of the workshop page: made, compared, found among cookies.
#include "sim/app/web/access_token.hpp"

#include <set>

#include "tests/support/catch.hpp"

namespace access_token_test {

using namespace foretrain;

TEST_CASE("tokens are 32 digits, and no two are the same") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string token = new_access_token();
    CHECK(token.size() == 32);
    CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
    seen.insert(token);
  }
  CHECK(seen.size() == 1000);
}

TEST_CASE("a secret is the same only when all of it is") {
  CHECK(is_same_secret("abc", "abc"));
  for (const char* wrong : {"", "ab", "abcd", "abd", "bbc", "ABC"}) CHECK_FALSE(is_same_secret(wrong, "abc"));
  CHECK_FALSE(is_same_secret("", ""));
}

TEST_CASE("a cookie is found by its whole name") {
  CHECK(cookie_value("a=1; foretrain-8080=x; b=2", "foretrain-8080") == "x");
  CHECK(cookie_value("foretrain-8080=x", "foretrain-8080") == "x");
  CHECK(cookie_value("foretrain-8080=a=b", "foretrain-8080") == "a=b");
  for (const char* header : {"", ";", "xforetrain-8080=x", "foretrain-808=x", "foretrain-8080",
                             "foretrain-8080 =x", "foretrain-80800=x"})
    CHECK(cookie_value(header, "foretrain-8080").empty());
}

}  // namespace access_token_test
