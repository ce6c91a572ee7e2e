// Plays the matches that an arena sends to this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "arena/v1/referee.pb.h"

namespace arena {

// Sits at one seat of one match.
class Bot {
 public:
  virtual ~Bot() = default;

  // Answers a decision with one of the legal actions, which are ascending.
  virtual std::uint32_t choose(const v1::Decision& decision, std::span<const std::uint32_t> legal) = 0;
};

using NewBot = std::function<std::unique_ptr<Bot>(const v1::MatchStart&)>;

// Prints text for yourself; the arena keeps it with the match, and what is said of a decision at that decision.
void log(const v1::MatchStart& start, std::string_view text);
void log(const v1::Decision& decision, std::string_view text);

// Plays until the arena says goodbye, with a new bot for each match; gives the exit code of the process.
int run(const NewBot& new_bot);

}  // namespace arena
