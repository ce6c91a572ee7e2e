// Bot plays every game by a few rules of thumb: replace them with better ones.
package main

import (
	"math/rand/v2"

	"bot/arena"
	"bot/arenav1"
)

func main() {
	arena.Run(func(start *arenav1.MatchStart) arena.Bot {
		// With this as its only luck, a bot plays a repeated match the same way again.
		seed := [32]byte(start.BotSeed)
		return &bot{seat: start.Seat, random: rand.New(rand.NewChaCha8(seed))}
	})
}

// bot sits at one seat of one match.
type bot struct {
	seat   uint32
	random *rand.Rand
}

func (b *bot) Choose(decision *arenav1.Decision, legal []uint32) uint32 {
	switch view := decision.View.(type) {
	case *arenav1.Decision_Birth:
		return birth(view.Birth, b.seat, legal)
	case *arenav1.Decision_BurningDesire:
		return burningDesire(view.BurningDesire)
	case *arenav1.Decision_Buttons:
		return buttons(view.Buttons, b.seat, legal)
	}
	return legal[b.random.IntN(len(legal))]
}
