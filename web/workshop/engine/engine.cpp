// The simulator as the page calls it: one function from a question to an answer.
#include <cstdlib>
#include <string>

#include <emscripten.h>

#include "sim/app/answer.hpp"

extern "C" {

/// JSON for JSON (web/workshop/ENGINE.md). The answer stays until the next question.
EMSCRIPTEN_KEEPALIVE const char* foretrain_answer(const char* question) {
  static std::string answer;
  ::setenv("FORETRAIN_PATH", "/catalogs", 1);
  answer = foretrain::answer_question(question);
  return answer.c_str();
}
}
