package arena;

import arena.v1.Referee.Decision;
import arena.v1.Referee.MatchEnd;

/** One seat of one match: every match has a bot of its own, so matches never mix. */
public interface Bot {
  /** One of {@code Arena.legal(decision)}; any other forfeits the match. */
  int choose(Decision decision);

  /** The match is over. */
  default void end(MatchEnd end) {}
}
