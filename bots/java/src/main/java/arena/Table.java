package arena;

import arena.v1.Referee.Choice;
import arena.v1.Referee.Decision;
import arena.v1.Referee.MatchStart;
import arena.v1.Referee.PlayRequest;
import arena.v1.Referee.PlayResponse;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The matches that this process holds, each with a bot of its own. */
final class Table {
  private final Function<MatchStart, Bot> newBot;
  private final Map<Integer, Bot> bots = new HashMap<>();

  Table(Function<MatchStart, Bot> newBot) {
    this.newBot = newBot;
  }

  /** One frame with every choice that a frame asks for. */
  PlayRequest answer(PlayResponse frame) {
    for (var start : frame.getStartsList()) {
      bots.put(start.getMatch(), newBot.apply(start));
    }
    for (var rejected : frame.getRejectionsList()) {
      System.err.println("the referee rejected a choice: " + rejected.getReason());
    }
    var reply = PlayRequest.newBuilder();
    for (var decision : frame.getDecisionsList()) {
      reply.addChoices(choice(decision));
    }
    for (var end : frame.getEndsList()) {
      bots.remove(end.getMatch()).end(end);
    }
    return reply.build();
  }

  private Choice choice(Decision decision) {
    Bot bot = bots.get(decision.getMatch());
    return Choice.newBuilder()
        .setMatch(decision.getMatch())
        .setDecision(decision.getDecision())
        .setAction(bot.choose(decision, legal(decision)))
        .build();
  }

  /** The actions, which travel as a range where they are one. */
  private static int[] legal(Decision decision) {
    int first = decision.getLegalFirst();
    int count = decision.getLegalCount5(); // protoc numbers fields whose Java names would clash
    return count == 0
        ? decision.getLegal3List().stream().mapToInt(Integer::intValue).toArray()
        : IntStream.range(first, first + count).toArray();
  }
}
