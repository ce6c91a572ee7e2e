package arena;

import arena.v1.Choice;
import arena.v1.Decision;
import arena.v1.MatchStart;
import arena.v1.PlayRequest;
import arena.v1.PlayResponse;
import io.grpc.StatusException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;

/** The matches that this process holds, each with a bot of its own. */
final class Table {
  /** So many times in a decision's limit the referee is told what has been decided: it takes who is silent for stopped. */
  private static final int PIECES = 4;

  /** Says choices to the referee. */
  interface Say {
    void say(PlayRequest choices) throws StatusException, InterruptedException;
  }

  private final Function<MatchStart, Bot> newBot;
  private final Map<Integer, Bot> bots = new HashMap<>();

  /** Nanoseconds that a choice may be kept back, by the smallest limit of any match so far. */
  private long piece = Long.MAX_VALUE;

  Table(Function<MatchStart, Bot> newBot) {
    this.newBot = newBot;
  }

  /** Says every choice that a frame asks for: in one frame, or, if they take long, in several. */
  void answer(PlayResponse frame, Say referee) throws StatusException, InterruptedException {
    long began = System.nanoTime();
    for (var start : frame.getStartsList()) {
      start(start);
    }
    for (var rejected : frame.getRejectionsList()) {
      System.err.println("the referee rejected a choice: " + rejected.getReason());
    }
    var reply = PlayRequest.newBuilder();
    for (var decision : frame.getDecisionsList()) {
      reply.addChoices(choice(decision));
      if (System.nanoTime() - began >= piece) {
        referee.say(reply.build());
        reply.clear();
        began = System.nanoTime();
      }
    }
    if (reply.getChoicesCount() > 0) {
      referee.say(reply.build());
    }
    for (var end : frame.getEndsList()) {
      bots.remove(end.getMatch()).end(end);
    }
  }

  private void start(MatchStart start) {
    long limit = Integer.toUnsignedLong(start.getLimits().getDecisionMs());
    if (limit > 0) {
      piece = Math.min(piece, TimeUnit.MILLISECONDS.toNanos(limit) / PIECES);
    }
    bots.put(start.getMatch(), newBot.apply(start));
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
