package arena

import (
	"fmt"
	"os"

	"bot/arenav1"
)

// table has the matches that this process holds, each with a bot of its own.
type table struct {
	newBot func(*arenav1.MatchStart) Bot
	bots   map[uint32]Bot
}

// answer takes a frame in and gives the choices it asks for, or nil if it asks for none.
func (t *table) answer(frame *arenav1.PlayResponse) *arenav1.PlayRequest {
	for _, start := range frame.Starts {
		t.bots[start.Match] = t.newBot(start)
	}
	for _, rejected := range frame.Rejections {
		fmt.Fprintf(os.Stderr, "match %d, decision %d: %s\n", rejected.Match, rejected.Decision, rejected.Reason)
	}
	var reply *arenav1.PlayRequest
	if len(frame.Decisions) > 0 {
		reply = &arenav1.PlayRequest{Choices: t.choices(frame.Decisions)}
	}
	for _, end := range frame.Ends {
		delete(t.bots, end.Match)
	}
	return reply
}

func (t *table) choices(decisions []*arenav1.Decision) []*arenav1.Choice {
	choices := make([]*arenav1.Choice, len(decisions))
	for i, decision := range decisions {
		choices[i] = &arenav1.Choice{
			Match:    decision.Match,
			Decision: decision.Decision,
			Action:   t.bots[decision.Match].Choose(decision, legal(decision)),
		}
	}
	return choices
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
