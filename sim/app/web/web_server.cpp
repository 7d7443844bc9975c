// What a page of another site can reach are names that lead here, and forms: both are told by their headers.
// Beast reads requests; connections, deadlines and answers are our own.
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

constexpr std::size_t kMostConnections = 64, kLongestHead = 8 << 10;
/// Until the first byte, until the whole request, and for each part of a response.
constexpr seconds kSilent{1}, kForRequest{10}, kForPart{10};

/// An answer to a request: its body is `body`, or the packed page.
struct Reply {
  http::status status = http::status::ok;
  std::string type = "text/plain; charset=utf-8", body{}, more_headers{};
  std::string_view page{};
};

Reply refusal(http::status status, std::string body = "") {
  return {.status = status, .body = std::move(body)};
}

/// "127.0.0.1:PORT", "[::1]:PORT" and "localhost:PORT", as a browser on this machine says.
bool is_own_host(std::string_view host, int port) {
  for (const char* name : {"127.0.0.1", "[::1]", "localhost"}) {
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  }
  return false;
}

std::string_view header(const Request& request, http::field name) {
  const auto value = request[name];
  return {value.data(), value.size()};
}

bool is_own_origin(const Request& request, int port) {
  if (request.count(http::field::origin) == 0) return true;
  const std::string_view origin = header(request, http::field::origin);
  return origin.starts_with("http://") && is_own_host(origin.substr(7), port);
}

bool is_allowed(const Request& request, int port) {
  return request.count(http::field::host) == 1 && is_own_host(header(request, http::field::host), port) &&
         is_own_origin(request, port);
}

/// Port and name of a cookie: those of other ports of this machine come along.
std::string cookie_name(int port) { return fmt::format("foretrain-{}", port); }

/// "/" and "token=…" of "/?token=…".
std::pair<std::string_view, std::string_view> path_and_query(const Request& request) {
  const std::string_view target(request.target().data(), request.target().size());
  const std::size_t mark = std::min(target.find('?'), target.size());
  return {target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

std::string_view token_of(std::string_view query) {
  constexpr std::string_view kName = "token=";
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    if (query.starts_with(kName)) return query.substr(kName.size(), end - kName.size());
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

bool has_token(const Request& request, const WebServer& server, int port) {
  if (server.token.empty() || is_same_secret(token_of(path_and_query(request).second), server.token))
    return true;
  const auto [first, last] = request.equal_range(http::field::cookie);
  return std::any_of(first, last, [&](const auto& cookie) {
    const std::string_view value(cookie.value().data(), cookie.value().size());
    return is_same_secret(cookie_value(value, cookie_name(port)), server.token);
  });
}

/// The token leaves the address bar, where it would be copied along with the link, and becomes a cookie. That
/// comes with links of other pages, as those of the lesson have (SameSite=Lax), but not with what they post.
bool takes_token(const Request& request, const WebServer& server) {
  const auto [path, query] = path_and_query(request);
  return !server.token.empty() && path == "/" && !token_of(query).empty();
}

/// What needs only the head of a request: what may not be asked, how to get in, and what is not there. Ok: it
/// is to be answered. Without the token nothing is told but how to get it.
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
  if (header(request, http::field::content_type).starts_with("multipart/"))
    return refusal(http::status::unsupported_media_type);
  return {};
}

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

std::string head_of(const Reply& reply) {
  const auto reason = http::obsolete_reason(reply.status);
  return fmt::format(
      "HTTP/1.1 {} {}\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n{}Content-Type: {}\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      static_cast<int>(reply.status), std::string_view(reason.data(), reason.size()), reply.more_headers,
      reply.type, reply.page.empty() ? reply.body.size() : reply.page.size());
}

/// One request of a connection, within a deadline for all of it, and its answer.
class Conversation {
 public:
  Conversation(const WebServer& server, int port, WebConnections& connections,
               WebConnections::Handle connection)
      : server_(server), port_(port), connections_(connections), connection_(connection) {
    parser_.header_limit(kLongestHead);
    parser_.body_limit(server.largest_body);
    parser_.eager(true);
  }

  /// What is left of a refused request is read and forgotten: a client that still sends would not see why.
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
  /// Unknown: nobody waits for an answer.
  Reply replied() {
    while (!parser_.is_header_done())
      if (const Reply fault = read_more(); fault.status != http::status::ok) return fault;
    if (Reply reply = reply_to_head(parser_.get(), server_, port_); reply.status != http::status::ok)
      return reply;
    if (header(parser_.get(), http::field::expect) == "100-continue" && !parser_.is_done())
      send("HTTP/1.1 100 Continue\r\n\r\n");
    while (!parser_.is_done())
      if (const Reply fault = read_more(); fault.status != http::status::ok) return fault;
    return reply_to(parser_.get(), server_);
  }

  /// Ok: some more of the request is there.
  Reply read_more() {
    const ssize_t got = receive();
    if (got <= 0) return refusal(http::status::unknown);
    pending_.append(block_.data(), static_cast<std::size_t>(got));
    boost::beast::error_code problem;
    pending_.erase(0, parser_.put(boost::asio::buffer(pending_), problem));
    // Nothing else limits the end of a chunk's line, and what follows the last chunk.
    if (problem == http::error::need_more && pending_.size() > kLongestHead)
      return refusal(parser_.is_header_done() ? http::status::bad_request
                                              : http::status::request_header_fields_too_large);
    if (!problem || problem == http::error::need_more) return {};
    if (problem == http::error::body_limit) return refusal(http::status::payload_too_large);
    if (problem == http::error::header_limit) return refusal(http::status::request_header_fields_too_large);
    return refusal(http::status::bad_request);
  }

  ssize_t receive() {
    if (!connections_.wait(connection_, POLLIN,
                           has_begun_ ? connection_->deadline : connection_->begin + kSilent))
      return -1;
    has_begun_ = true;
    return ::recv(connection_->socket, block_.data(), block_.size(), 0);
  }

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
  std::string pending_;
  bool has_begun_ = false;
};

/// One request on each connection: what is left of a refused request's body is never taken for a request of
/// its own.
class PageServer {
 public:
  PageServer(const WebServer& server, LoopbackSockets& sockets)
      : server_(server), sockets_(sockets), connections_(kMostConnections, kForRequest) {}

  [[noreturn]] void run() {
    for (;;) {
      const int socket = sockets_.accept();
      WebConnections::Handle connection;
      if (socket < 0) continue;
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      if (connections_.open(socket, connection))
        start(connection);
      else
        refuse(socket);
    }
  }

 private:
  void start(WebConnections::Handle connection) {
    try {
      std::thread([this, connection] { serve_one(connection); }).detach();
    } catch (const std::system_error&) {  // no more threads
      connections_.close(connection);
    }
  }

  void serve_one(WebConnections::Handle connection) {
    try {
      Conversation(server_, sockets_.port(), connections_, connection).hold();
    } catch (const std::exception&) {  // as out of memory: the next one may have it
    }
    connections_.close(connection);
  }

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
