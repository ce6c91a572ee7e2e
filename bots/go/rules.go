package main

import (
	"slices"

	"bot/arenav1"
)

// birth plays the die whose move lands in the dearest area, of equal ones the lowest.
func birth(view *arenav1.BirthView, seat uint32, legal []uint32) uint32 {
	return first(legal, func(action uint32) int {
		return int(view.Areas[landing(view, seat, action+1)])
	})
}

// landing is the space where a move ends; it goes on as long as somebody else's pawn is in the way.
func landing(view *arenav1.BirthView, seat, face uint32) uint32 {
	spaces := uint32(len(view.Areas))
	space := (view.Seats[seat].Pawn + face) % spaces
	for taken(view, seat, space) {
		space = (space + face) % spaces
	}
	return space
}

func taken(view *arenav1.BirthView, seat, space uint32) bool {
	for i, other := range view.Seats {
		if uint32(i) != seat && other.Pawn == space {
			return true
		}
	}
	return false
}

// roles has the lowest and the highest face that count for each role, and the points for so many dice.
var roles = []struct {
	low, high uint32
	points    [7]int
}{
	{1, 1, [7]int{0, 10, 25, 60, 120, 250, 500}},
	{2, 3, [7]int{0, 0, 10, 20, 30, 100, 180}},
	{4, 6, [7]int{0, 0, 5, 10, 20, 30, 80}},
}

const (
	firstRole = 128
	bank      = 131
)

// burningDesire rolls for ones, takes the role that makes most, and never multiplies.
func burningDesire(view *arenav1.BurningDesireView) uint32 {
	switch view.Phase {
	case arenav1.BurningDesirePhase_BURNING_DESIRE_PHASE_ROLL:
		return ones(view.Dice)
	case arenav1.BurningDesirePhase_BURNING_DESIRE_PHASE_ROLE:
		return first([]uint32{firstRole, firstRole + 1, firstRole + 2}, func(action uint32) int {
			return points(view.Dice, action-firstRole)
		})
	}
	return bank
}

// ones keeps the dice that show a one; die i is worth 2 to the i.
func ones(dice []uint32) uint32 {
	var kept uint32
	for i, face := range dice {
		if face == 1 {
			kept |= 1 << i
		}
	}
	return kept
}

func points(dice []uint32, role uint32) int {
	count := 0
	for _, face := range dice {
		if roles[role].low <= face && face <= roles[role].high {
			count++
		}
	}
	return roles[role].points[count]
}

// The actions of Buttons; those below cells are the cells.
const (
	cells = 36
	roll  = 36
	quit  = 37
	pass  = 38
	front = 39
)

// buttons leaves the round with three buttons, and puts them where stars are in line.
func buttons(view *arenav1.ButtonsView, seat uint32, legal []uint32) uint32 {
	own := view.Seats[seat]
	switch view.Phase {
	case arenav1.ButtonsPhase_BUTTONS_PHASE_SIDE:
		return front
	case arenav1.ButtonsPhase_BUTTONS_PHASE_TURN:
		if len(own.Buttons) >= 3 && slices.Contains(legal, quit) {
			return quit
		}
		return roll
	}
	if legal[0] >= cells {
		return pass
	}
	return first(legal, func(action uint32) int {
		if action >= cells {
			return -1
		}
		return starsInLine(own, action)
	})
}

// starsInLine counts the stars in a cell's row or in its column, whichever has more.
func starsInLine(own *arenav1.ButtonsSeat, cell uint32) int {
	row, column := 0, 0
	for _, star := range own.Stars {
		if star/6 == cell/6 {
			row++
		}
		if star%6 == cell%6 {
			column++
		}
	}
	return max(row, column)
}

// first is the action that is worth most, of equal ones the first.
func first(actions []uint32, worth func(uint32) int) uint32 {
	best := actions[0]
	for _, action := range actions[1:] {
		if worth(action) > worth(best) {
			best = action
		}
	}
	return best
}
