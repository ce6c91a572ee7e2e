package arena;

import arena.v1.Decision;
import arena.v1.MatchEnd;

/** One seat of one match: every match has a bot of its own, so matches never mix. */
public interface Bot {
  /** One of the legal actions, which are ascending; any other forfeits the match. */
  int choose(Decision decision, int[] legal);

  /** The match is over. */
  default void end(MatchEnd end) {}
}
