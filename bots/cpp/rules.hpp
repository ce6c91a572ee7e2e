// Rules of thumb for each game.
#pragma once

#include <cstdint>
#include <span>

#include "arena/v1/referee.pb.h"

// Plays the die whose move lands in the dearest area, of equal ones the lowest.
std::uint32_t birth(const arena::v1::BirthView& view, std::uint32_t seat, std::span<const std::uint32_t> legal);

// Rolls for ones, takes the role that makes most, and never multiplies.
std::uint32_t burning_desire(const arena::v1::BurningDesireView& view);

// Leaves the round with three buttons, and puts them where stars are in line.
std::uint32_t buttons(const arena::v1::ButtonsView& view, std::uint32_t seat, std::span<const std::uint32_t> legal);
