// The only door to Boost.Beast: one page and one answer, to this machine alone.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace foretrain {

/// The answer to one HTTP request.
struct WebResponse {
  int status = 200;
  std::string body;  ///< JSON
};

/// The HTTP server of `foretrain serve`: address, limits and the function that answers requests.
struct WebServer {
  int port = 8080;               ///< 0: any that is free
  bool or_another_port = false;  ///< where that one is taken, any that is free
  std::string token{};           ///< that requests have to bring; empty: anybody on this machine may ask
  std::string_view page;         ///< HTML, packed with gzip
  std::function<WebResponse(const std::string& question)> answer;
  std::size_t largest_body = 0;  ///< bytes
};

/// GET / is the page, POST /api/answer an answer, GET /engine.json says which engine it is, everything else
/// 404. Refused (403) are requests that name another host, come from another page, or bring no token: GET
/// /?token=… makes a cookie of it. Bodies that are too large are refused too (413). Listens on 127.0.0.1 and
/// ::1 until a signal ends the program; a request has 10 s in all, and where too many clients are slow the
/// slowest is hung up on. `ready` is told the port. Throws EnvironmentError when the port cannot be had.
void serve(const WebServer& server, const std::function<void(int port)>& ready);

}  // namespace foretrain
