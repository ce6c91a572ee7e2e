package arena

import (
	"fmt"
	"os"
	"strings"

	"bot/arenav1"
)

// Log prints text for yourself; the arena keeps it with the match that about, a message of the arena's, belongs to.
//
// A process has many matches in play, so a tag before each line says which one it is and, of a decision, its number.
func Log(about interface{ GetMatch() uint32 }, text string) {
	tag := fmt.Sprintf("\x1e%d", about.GetMatch())
	if decision, ok := about.(*arenav1.Decision); ok {
		tag += fmt.Sprintf(":%d", decision.Decision)
	}
	var lines strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&lines, "%s %s\n", tag, line)
	}
	fmt.Fprint(os.Stderr, lines.String())
}
