package arena

import (
	"fmt"
	"os"
	"time"

	"bot/arenav1"
)

// table has the matches that this process holds, each with a bot of its own.
type table struct {
	newBot func(*arenav1.MatchStart) Bot
	say    func(*arenav1.PlayRequest) error
	bots   map[uint32]Bot
	// How long a choice may be kept back, by the smallest limit of any match so far.
	piece time.Duration
}

// answer takes a frame in and says the choices it asks for, if any.
func (t *table) answer(frame *arenav1.PlayResponse) error {
	began := time.Now()
	for _, start := range frame.Starts {
		if limit := start.Limits.GetDecisionMs(); limit > 0 {
			t.piece = min(t.piece, time.Duration(limit)*time.Millisecond/pieces)
		}
		t.bots[start.Match] = t.newBot(start)
	}
	for _, rejected := range frame.Rejections {
		fmt.Fprintf(os.Stderr, "match %d, decision %d: %s\n", rejected.Match, rejected.Decision, rejected.Reason)
	}
	if err := t.choose(frame.Decisions, began); err != nil {
		return err
	}
	for _, end := range frame.Ends {
		delete(t.bots, end.Match)
	}
	return nil
}

// choose says all choices in one frame, or, if they take long, in several.
func (t *table) choose(decisions []*arenav1.Decision, began time.Time) error {
	choices := make([]*arenav1.Choice, 0, len(decisions))
	for i, decision := range decisions {
		choices = append(choices, &arenav1.Choice{
			Match:    decision.Match,
			Decision: decision.Decision,
			Action:   t.bots[decision.Match].Choose(decision, legal(decision)),
		})
		if last := i == len(decisions)-1; last || time.Since(began) >= t.piece {
			if err := t.say(&arenav1.PlayRequest{Choices: choices}); err != nil {
				return err
			}
			choices, began = choices[len(choices):], time.Now()
		}
	}
	return nil
}

// legal lists the actions, which travel as a range where they are one.
func legal(decision *arenav1.Decision) []uint32 {
	if decision.LegalCount == 0 {
		return decision.Legal
	}
	actions := make([]uint32, decision.LegalCount)
	for i := range actions {
		actions[i] = decision.LegalFirst + uint32(i)
	}
	return actions
}
