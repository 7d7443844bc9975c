// The web server of `foretrain serve`: one page and one kind of answer, for this machine only. No other code
// uses Boost.Beast.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace foretrain {

/// The answer to one question.
struct WebResponse {
  /// HTTP status.
  int status = 200;
  std::string body;  ///< JSON
};

/// The content that the server offers, its port and its limits.
struct WebServer {
  /// Port; 0: any free one.
  int port = 8080;
  /// Takes any free port when that one is taken.
  bool or_another_port = false;
  /// Token that requests must bring; empty: everybody on this machine may ask.
  std::string token{};
  /// The page as HTML, compressed with gzip.
  std::string_view page;
  /// Answers the body of POST /api/answer. It is called from several threads at once.
  std::function<WebResponse(const std::string& question)> answer;
  /// Largest body of a request in bytes.
  std::size_t largest_body = 0;
};

/// Serves until a signal ends the program. GET / is the page, POST /api/answer an answer, GET /engine.json
/// names the engine, everything else is 404. Requests that name another host, come from another page, or
/// bring no token are refused with 403; GET /?token=… turns the token into a cookie. A body that is too large
/// is refused with 413. The server listens on 127.0.0.1 and ::1. A request has 10 s in all; when too many
/// clients are slow, the slowest connection is closed. `ready` is called with the port when it is open.
/// Throws EnvironmentError when the port cannot be opened.
void serve(const WebServer& server, const std::function<void(int port)>& ready);

}  // namespace foretrain
