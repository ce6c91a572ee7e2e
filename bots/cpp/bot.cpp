// Plays every game by a few rules of thumb: replace them with better ones.
#include <random>
#include <string>

#include "arena.hpp"
#include "rules.hpp"

namespace {

class Example : public arena::Bot {
 public:
  explicit Example(const arena::v1::MatchStart& start) : seat_(start.seat()), random_(seeded(start.bot_seed())) {}

  std::uint32_t choose(const arena::v1::Decision& decision, std::span<const std::uint32_t> legal) override {
    switch (decision.view_case()) {
      case arena::v1::Decision::kBirth:
        return birth(decision.birth(), seat_, legal);
      case arena::v1::Decision::kBurningDesire:
        return burning_desire(decision.burning_desire());
      case arena::v1::Decision::kButtons:
        return buttons(decision.buttons(), seat_, legal);
      default:
        return legal[std::uniform_int_distribution<std::size_t>(0, legal.size() - 1)(random_)];
    }
  }

 private:
  // With this as its only luck, a bot plays a repeated match the same way again.
  static std::mt19937_64 seeded(const std::string& bot_seed) {
    std::seed_seq seed(bot_seed.begin(), bot_seed.end());
    return std::mt19937_64(seed);
  }

  std::uint32_t seat_;
  std::mt19937_64 random_;
};

}  // namespace

int main() {
  return arena::run([](const auto& start) { return std::make_unique<Example>(start); });
}
