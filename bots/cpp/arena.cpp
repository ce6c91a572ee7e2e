#include "arena.hpp"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arena/v1/referee.grpc.pb.h"

namespace arena {
namespace {

constexpr std::uint32_t kProtocol = 1;
// Every match has a bot of its own, so one process may hold many.
constexpr std::uint32_t kMatches = 768;
// So many times in a decision's limit the referee is told what has been decided: it takes who is silent for stopped.
constexpr int kPieces = 4;

using Clock = std::chrono::steady_clock;
using Say = std::function<void(const v1::PlayRequest&)>;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The matches that this process holds, each with a bot of its own.
class Table {
 public:
  Table(const NewBot& new_bot, Say say) : new_bot_(new_bot), say_(std::move(say)) {}

  // Takes a frame in and says the choices it asks for: in one frame, or, if they take long, in several.
  void answer(const v1::PlayResponse& frame) {
    auto began = Clock::now();
    for (const auto& start : frame.starts()) {
      const std::chrono::milliseconds limit(start.limits().decision_ms());
      if (limit.count() > 0) piece_ = std::min<Clock::duration>(piece_, Clock::duration(limit) / kPieces);
      bots_[start.match()] = new_bot_(start);
    }
    for (const auto& rejected : frame.rejections()) {
      std::cerr << "match " << rejected.match() << ", decision " << rejected.decision() << ": " << rejected.reason()
                << '\n';
    }
    v1::PlayRequest reply;
    for (const auto& decision : frame.decisions()) {
      auto* choice = reply.add_choices();
      choice->set_match(decision.match());
      choice->set_decision(decision.decision());
      choice->set_action(bots_.at(decision.match())->choose(decision, legal(decision)));
      if (const auto now = Clock::now(); now - began >= piece_) {
        say_(reply);
        reply.clear_choices();
        began = now;
      }
    }
    if (reply.choices_size() > 0) say_(reply);
    for (const auto& end : frame.ends()) bots_.erase(end.match());
  }

 private:
  // The actions, which travel as a range where they are one.
  std::span<const std::uint32_t> legal(const v1::Decision& decision) {
    if (decision.legal_count() == 0) return {decision.legal().data(), static_cast<std::size_t>(decision.legal_size())};
    range_.resize(decision.legal_count());
    std::iota(range_.begin(), range_.end(), decision.legal_first());
    return range_;
  }

  const NewBot& new_bot_;
  const Say say_;
  // How long a choice may be kept back, by the smallest limit of any match so far.
  Clock::duration piece_ = Clock::duration::max();
  std::unordered_map<std::uint32_t, std::unique_ptr<Bot>> bots_;
  std::vector<std::uint32_t> range_;
};

std::shared_ptr<grpc::Channel> dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

v1::PlayRequest hello() {
  v1::PlayRequest request;
  request.mutable_hello()->set_protocol(kProtocol);
  request.mutable_hello()->set_token(variable("ARENA_TOKEN"));
  request.mutable_hello()->set_matches(kMatches);
  request.mutable_hello()->set_sdk("C++, gRPC " + grpc::Version());
  return request;
}

// Answers every frame of decisions with one frame of choices, or more if they take long; a stream that is over says why in the end.
grpc::Status play(const std::string& address, const NewBot& new_bot) {
  auto stub = v1::RefereeService::NewStub(dial(address));
  grpc::ClientContext context;
  auto stream = stub->Play(&context);
  stream->Write(hello());
  Table table(new_bot, [&](const v1::PlayRequest& reply) { stream->Write(reply); });
  v1::PlayResponse frame;
  while (stream->Read(&frame)) {
    table.answer(frame);
    if (frame.has_goodbye()) {
      context.TryCancel();
      stream->Finish();
      return grpc::Status::OK;
    }
  }
  return stream->Finish();
}

// A process has many matches in play, so a tag before each line says to which it belongs.
void print(const std::string& where, std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const std::string tag = '\x1e' + where + ' ';
  std::string lines = tag;
  for (const char letter : text) {
    lines += letter;
    if (letter == '\n') lines += tag;
  }
  std::cerr << lines + '\n';
}

}  // namespace

void log(const v1::MatchStart& start, std::string_view text) { print(std::to_string(start.match()), text); }

void log(const v1::Decision& decision, std::string_view text) {
  print(std::to_string(decision.match()) + ':' + std::to_string(decision.decision()), text);
}

int run(const NewBot& new_bot) {
  setenv("GRPC_VERBOSITY", "NONE", 0);  // else gRPC logs a closing arena
  const std::string address = variable("ARENA_ADDR");
  if (address.empty()) {
    std::cerr << "the arena starts this bot: try `arena match . random --game buttons`\n";
    return 2;
  }
  const grpc::Status status = play(address, new_bot);
  if (status.ok()) return 0;
  std::cerr << "the arena at " << address << " broke the stream off: " << status.error_message() << '\n';
  return 1;
}

}  // namespace arena
