#include "rules.hpp"

#include <algorithm>
#include <array>

namespace v1 = arena::v1;
using Actions = std::span<const std::uint32_t>;

namespace {

// The space where a move ends; it goes on as long as somebody else's pawn is in the way.
std::uint32_t landing(const v1::BirthView& view, std::uint32_t seat, std::uint32_t face) {
  const auto taken = [&](std::uint32_t space) {
    for (std::uint32_t other = 0; other < static_cast<std::uint32_t>(view.seats_size()); ++other) {
      if (other != seat && view.seats(other).pawn() == space) return true;
    }
    return false;
  };
  const std::uint32_t spaces = view.areas_size();
  std::uint32_t space = (view.seats(seat).pawn() + face) % spaces;
  while (taken(space)) space = (space + face) % spaces;
  return space;
}

// The lowest and the highest face that count for a role of Burning Desire, and the points for so many dice.
struct Role {
  std::uint32_t low, high;
  std::array<int, 7> points;
};
constexpr std::array<Role, 3> kRoles{{
    {1, 1, {0, 10, 25, 60, 120, 250, 500}},
    {2, 3, {0, 0, 10, 20, 30, 100, 180}},
    {4, 6, {0, 0, 5, 10, 20, 30, 80}},
}};
constexpr std::uint32_t kFirstRole = 128, kBank = 131;

// Die i is worth 2 to the i.
std::uint32_t ones(const v1::BurningDesireView& view) {
  std::uint32_t kept = 0;
  for (int die = 0; die < view.dice_size(); ++die) {
    if (view.dice(die) == 1) kept |= 1u << die;
  }
  return kept;
}

std::uint32_t best_role(const v1::BurningDesireView& view) {
  const auto points = [&](const Role& role) {
    const auto counts = [&](std::uint32_t face) { return role.low <= face && face <= role.high; };
    return role.points[std::count_if(view.dice().begin(), view.dice().end(), counts)];
  };
  return kFirstRole + (std::ranges::max_element(kRoles, {}, points) - kRoles.begin());
}

// Actions of Buttons; those below kCells are the cells.
constexpr std::uint32_t kCells = 36, kRoll = 36, kQuit = 37, kPass = 38, kFront = 39;

// The stars in a cell's row or in its column, whichever has more.
std::ptrdiff_t stars_in_line(const v1::ButtonsSeat& own, std::uint32_t cell) {
  return std::max(std::ranges::count_if(own.stars(), [&](std::uint32_t star) { return star / 6 == cell / 6; }),
                  std::ranges::count_if(own.stars(), [&](std::uint32_t star) { return star % 6 == cell % 6; }));
}

}  // namespace

std::uint32_t birth(const v1::BirthView& view, std::uint32_t seat, Actions legal) {
  return *std::ranges::max_element(
      legal, {}, [&](std::uint32_t action) { return view.areas(landing(view, seat, action + 1)); });
}

std::uint32_t burning_desire(const v1::BurningDesireView& view) {
  switch (view.phase()) {
    case v1::BURNING_DESIRE_PHASE_ROLL:
      return ones(view);
    case v1::BURNING_DESIRE_PHASE_ROLE:
      return best_role(view);
    default:
      return kBank;
  }
}

std::uint32_t buttons(const v1::ButtonsView& view, std::uint32_t seat, Actions legal) {
  const auto& own = view.seats(seat);
  if (view.phase() == v1::BUTTONS_PHASE_SIDE) return kFront;
  if (view.phase() == v1::BUTTONS_PHASE_TURN) {
    return own.buttons_size() >= 3 && std::ranges::binary_search(legal, kQuit) ? kQuit : kRoll;
  }
  const auto cells = legal.first(std::ranges::lower_bound(legal, kCells) - legal.begin());
  if (cells.empty()) return kPass;
  return *std::ranges::max_element(cells, {}, [&](std::uint32_t cell) { return stars_in_line(own, cell); });
}
