// The HTTP server of `foretrain serve`. Boost.Beast parses requests; connections, deadlines and answers are
// handled here.
//
// The server must not answer other web sites that the user visits. A page elsewhere can reach it by a host
// name that resolves to this machine, or by posting a form. Both are recognised by the headers Host and
// Origin. Other users of the machine are kept out by a token.
#include "sim/app/web/web_server.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/app/web/access_token.hpp"
#include "sim/app/web/loopback.hpp"
#include "sim/app/web/web_connections.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

namespace http = boost::beast::http;
using Request = http::request<http::string_body>;
using RequestParser = http::request_parser<http::string_body>;
using std::chrono::seconds;

// Connections at once, and bytes of the head of a request.
constexpr std::size_t kMostConnections = 64, kLongestHead = 8 << 10;
// Longest wait for the first byte, for the whole request, and for each part of a response.
constexpr seconds kSilent{1}, kForRequest{10}, kForPart{10};

// An answer to a request. Its body is `page` when that is not empty, else `body`.
struct Reply {
  http::status status = http::status::ok;
  std::string type = "text/plain; charset=utf-8", body{}, more_headers{};
  std::string_view page{};
};

/// Returns a reply with this status and a short text.
Reply refusal(http::status status, std::string body = "") {
  return {.status = status, .body = std::move(body)};
}

/// Returns true for the names that a browser on this machine uses: 127.0.0.1:PORT, [::1]:PORT,
/// localhost:PORT.
bool is_own_host(std::string_view host, int port) {
  for (const char* name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  }
  return false;
}

/// Returns the value of a header; empty when it is missing.
std::string_view header(const Request& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

/// Returns true unless the request was made by a page of another site.
bool is_own_origin(const Request& request, int port) {
  if (request.count(http::field::origin) == 0) return true;
  const std::string_view origin = header(request, http::field::origin);
  return origin.starts_with("http://") && is_own_host(origin.substr(7), port);
}

/// Returns true when Host and Origin name this server.
bool is_allowed(const Request& request, int port) {
  return request.count(http::field::host) == 1 && is_own_host(header(request, http::field::host), port) &&
         is_own_origin(request, port);
}

/// Returns the cookie's name. It has the port, since browsers send cookies of all ports of a host.
std::string cookie_name(int port) { return fmt::format("foretrain-{}", port); }

/// Splits the target: "/" and "token=…" for "/?token=…".
std::pair<std::string_view, std::string_view> path_and_query(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  const std::size_t mark = std::min(target.find('?'), target.size());
  return {target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

/// Returns the token of a query; empty when it has none.
std::string_view token_of(std::string_view query) {
  constexpr std::string_view kName = "token=";
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    if (query.starts_with(kName)) return query.substr(kName.size(), end - kName.size());
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

/// Returns true when the request brings the token in its address or in a cookie, or when none is needed.
bool has_token(const Request& request, const WebServer& server, int port) {
  if (server.token.empty() || is_same_secret(token_of(path_and_query(request).second), server.token))
    return true;
  const auto [first, last] = request.equal_range(http::field::cookie);
  return std::any_of(first, last, [&](const auto& cookie) {
    const std::string_view value(cookie.value().data(), cookie.value().size());
    return is_same_secret(cookie_value(value, cookie_name(port)), server.token);
  });
}

/// Returns true when the token is in the address of the page. It is then moved to a cookie, because an
/// address is copied along with a link. SameSite=Lax sends the cookie with links of other pages, as those of
/// the lesson, but not with what they post.
bool takes_token(const Request& request, const WebServer& server) {
  const auto [path, query] = path_and_query(request);
  return !server.token.empty() && path == "/" && !token_of(query).empty();
}

/// Returns the reply that follows from the head of the request alone: 403 for a foreign page or a missing
/// token, 303 to move the token, 404 for an unknown path, 415 for a form. Status ok means that the request is
/// to be answered. Without the token, nothing is revealed but how to get it.
Reply reply_to_head(const Request& request, const WebServer& server, int port) {
  if (!is_allowed(request, port)) return refusal(http::status::forbidden);
  if (!has_token(request, server, port))
    return refusal(http::status::forbidden,
                   "Open the address that `foretrain serve` printed: its token says who you are.\n");
  if (takes_token(request, server))
    return {
        .status = http::status::see_other,
        .more_headers = fmt::format("Location: /\r\nSet-Cookie: {}={}; Path=/; HttpOnly; SameSite=Lax\r\n",
                                    cookie_name(port), server.token)};
  const std::string_view path = path_and_query(request).first;
  const bool is_get = request.method() == http::verb::get || request.method() == http::verb::head;
  const bool is_there = is_get ? path == "/" || path == "/engine.json"
                               : request.method() == http::verb::post && path == "/api/answer";
  if (!is_there) return refusal(http::status::not_found);
  // A form of another page could only be posted as multipart; the page itself sends plain JSON.
  if (header(request, http::field::content_type).starts_with("multipart/"))
    return refusal(http::status::unsupported_media_type);
  return {};
}

/// Returns the reply to a request that is allowed and complete.
Reply reply_to(const Request& request, const WebServer& server) {
  if (request.method() == http::verb::post) {
    WebResponse answer = server.answer(request.body());
    return {static_cast<http::status>(answer.status), "application/json", std::move(answer.body)};
  }
  if (path_and_query(request).first == "/")
    return {.type = "text/html; charset=utf-8",
            .more_headers = "Content-Encoding: gzip\r\n",
            .page = server.page};
  return {.type = "application/json", .body = R"({"engine": "native"})"};
}

/// Returns the status line and headers. Each response closes its connection.
std::string head_of(const Reply& reply) {
  const auto reason = http::obsolete_reason(reply.status);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n{}Content-Type: {}\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      static_cast<int>(reply.status), std::string_view(reason.data(), reason.size()), reply.more_headers,
      reply.type, reply.page.empty() ? reply.body.size() : reply.page.size());
}

// A request on a connection and its answer, within a deadline for all of it.
class Conversation {
 public:
  Conversation(const WebServer& server, int port, WebConnections& connections,
               WebConnections::Handle connection)
      : server_(server), port_(port), connections_(connections), connection_(connection) {
    // Beast refuses larger heads and bodies; eager parsing delivers the body as it comes.
    parser_.header_limit(kLongestHead);
    parser_.body_limit(server.largest_body);
    parser_.eager(true);
  }

  /// Reads the request, sends the answer, and reads the rest of a refused request: a client that is still
  /// sending would not read the answer otherwise.
  void hold() {
    const Reply reply = replied();
    if (reply.status == http::status::unknown) return;
    const bool is_head = parser_.is_header_done() && parser_.get().method() == http::verb::head;
    const bool is_sent =
        send(head_of(reply)) && (is_head || send(reply.page.empty() ? reply.body : reply.page));
    if (!is_sent || parser_.is_done()) return;
    ::shutdown(connection_->socket, SHUT_WR);
    while (receive() > 0) {
    }
  }

 private:
  /// Returns the reply to the request. Status unknown means that nobody waits for one.
  Reply replied() {
    while (!parser_.is_header_done())
      if (const Reply fault = read_more(); fault.status != http::status::ok) return fault;
    if (Reply reply = reply_to_head(parser_.get(), server_, port_); reply.status != http::status::ok)
      return reply;
    // curl waits for this line before it sends a large body.
    if (header(parser_.get(), http::field::expect) == "100-continue" && !parser_.is_done())
      send("HTTP/1.1 100 Continue\r\n\r\n");
    while (!parser_.is_done())
      if (const Reply fault = read_more(); fault.status != http::status::ok) return fault;
    return reply_to(parser_.get(), server_);
  }

  /// Reads some more of the request. Status ok means that it continues.
  Reply read_more() {
    const ssize_t got = receive();
    if (got <= 0) return refusal(http::status::unknown);
    pending_.append(block_.data(), static_cast<std::size_t>(got));
    boost::beast::error_code problem;
    pending_.erase(0, parser_.put(boost::asio::buffer(pending_), problem));
    // Beast limits neither the length of a chunk's line nor what follows the last chunk.
    if (problem == http::error::need_more && pending_.size() > kLongestHead)
      return refusal(parser_.is_header_done() ? http::status::bad_request
                                              : http::status::request_header_fields_too_large);
    if (!problem || problem == http::error::need_more) return {};
    if (problem == http::error::body_limit) return refusal(http::status::payload_too_large);
    if (problem == http::error::header_limit) return refusal(http::status::request_header_fields_too_large);
    return refusal(http::status::bad_request);
  }

  /// Receives up to a block. The first byte must come soon, the others by the request's deadline. Returns -1
  /// at the limit.
  ssize_t receive() {
    if (!connections_.wait(connection_, POLLIN,
                           has_begun_ ? connection_->deadline : connection_->begin + kSilent))
      return -1;
    has_begun_ = true;
    return ::recv(connection_->socket, block_.data(), block_.size(), 0);
  }

  /// Sends all of the text. Returns false when the client takes nothing for kForPart.
  bool send(std::string_view text) {
    while (!text.empty()) {
      if (!connections_.wait(connection_, POLLOUT, WebClock::now() + kForPart)) return false;
      const ssize_t sent = ::send(connection_->socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
      text.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return true;
  }

  const WebServer& server_;
  int port_;
  WebConnections& connections_;
  WebConnections::Handle connection_;
  RequestParser parser_;
  std::array<char, 1 << 16> block_{};
  // Received bytes that the parser has not consumed.
  std::string pending_;
  bool has_begun_ = false;
};

// Accepts connections and serves one request on each. The rest of a refused request is thus never taken for a
// request of its own.
class PageServer {
 public:
  PageServer(const WebServer& server, LoopbackSockets& sockets)
      : server_(server), sockets_(sockets), connections_(kMostConnections, kForRequest) {}

  /// Accepts connections forever.
  [[noreturn]] void run() {
    for (;;) {
      const int socket = sockets_.accept();
      WebConnections::Handle connection;
      if (socket < 0) continue;
      // The answer is one piece, so waiting to fill packets would only delay it.
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connections_.open(socket, connection))
        start(connection);
      else
        refuse(socket);
    }
  }

 private:
  /// Serves the connection in a thread of its own.
  void start(WebConnections::Handle connection) {
    try {
      std::thread([this, connection] { serve_one(connection); }).detach();
      // No more threads can be started.
    } catch (const std::system_error&) {
      connections_.close(connection);
    }
  }

  /// Serves one request. An exception ends only this connection.
  void serve_one(WebConnections::Handle connection) {
    try {
      Conversation(server_, sockets_.port(), connections_, connection).hold();
      // Memory may have run out; the next request may have it.
    } catch (const std::exception&) {
    }
    connections_.close(connection);
  }

  /// Sends status 503 without waiting, and closes the socket.
  static void refuse(int socket) {
    constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    ::send(socket, kBusy.data(), kBusy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::close(socket);
  }

  const WebServer& server_;
  LoopbackSockets& sockets_;
  WebConnections connections_;
};

}  // namespace

void serve(const WebServer& server, const std::function<void(int port)>& ready) {
  LoopbackSockets sockets(server.port, server.or_another_port);
  PageServer pages(server, sockets);
  ready(sockets.port());
  pages.run();
}

}  // namespace foretrain
