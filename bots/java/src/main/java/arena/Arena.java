package arena;

import arena.v1.Referee.Choice;
import arena.v1.Referee.Decision;
import arena.v1.Referee.Hello;
import arena.v1.Referee.MatchStart;
import arena.v1.Referee.PlayRequest;
import arena.v1.Referee.PlayResponse;
import arena.v1.RefereeServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.StatusException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.IntStream;

/** The arena as a bot sees it: one stream of frames, which carries every match of the process. */
public final class Arena {
  private static final int PROTOCOL = 1;
  private static final RandomGeneratorFactory<?> RANDOM =
      RandomGeneratorFactory.of("L64X256MixRandom");

  private final Function<MatchStart, Bot> bots;
  private final Map<Integer, Bot> matches = new HashMap<>();

  private Arena(Function<MatchStart, Bot> bots) {
    this.bots = bots;
  }

  /** Plays every match that the arena sends this process, then ends the process. */
  public static void run(Function<MatchStart, Bot> bots) {
    run(256, bots);
  }

  /** The same, holding so many matches at once; 1 for a bot that needs the whole machine. */
  public static void run(int matches, Function<MatchStart, Bot> bots) {
    String address = System.getenv("ARENA_ADDR");
    if (address == null) {
      System.err.println("the arena starts this bot: try `arena match . random --game buttons`");
      System.exit(2);
    }
    try {
      new Arena(bots).play(address, matches);
    } catch (StatusException | InterruptedException broken) {
      System.err.printf("the arena at %s: %s%n", address, broken.getMessage());
      System.exit(1);
    }
    System.exit(0); // gRPC's threads would linger for a second
  }

  /** The actions to choose from, ascending. */
  public static IntStream legal(Decision decision) {
    int first = decision.getLegalFirst();
    int count = decision.getLegalCount5();
    return count > 0
        ? IntStream.range(first, first + count)
        : decision.getLegal3List().stream().mapToInt(Integer::intValue);
  }

  /** A generator seeded by the arena: with no other luck, a repeated match is played the same. */
  public static RandomGenerator random(MatchStart start) {
    return RANDOM.create(start.getBotSeed().toByteArray());
  }

  private void play(String address, int matches) throws StatusException, InterruptedException {
    var channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create())
        .maxInboundMessageSize(Integer.MAX_VALUE)
        .build();
    var stream = RefereeServiceGrpc.newBlockingV2Stub(channel).play();
    stream.write(PlayRequest.newBuilder().setHello(hello(matches)).build());
    for (var frame = stream.read(); frame != null; frame = stream.read()) {
      PlayRequest reply = answer(frame);
      if (reply.getChoicesCount() > 0) {
        stream.write(reply);
      }
      if (frame.hasGoodbye()) {
        return;
      }
    }
  }

  private static Hello hello(int matches) {
    String token = System.getenv().getOrDefault("ARENA_TOKEN", "");
    return Hello.newBuilder()
        .setProtocol(PROTOCOL)
        .setToken(token)
        .setMatches(matches)
        .setSdk("java")
        .build();
  }

  /** One frame with every choice that a frame asks for. */
  private PlayRequest answer(PlayResponse frame) {
    frame.getStartsList().forEach(start -> matches.put(start.getMatch(), bots.apply(start)));
    frame
        .getRejectionsList()
        .forEach(it -> System.err.println("the referee rejected a choice: " + it.getReason()));
    var reply = PlayRequest.newBuilder();
    frame.getDecisionsList().forEach(decision -> reply.addChoices(choice(decision)));
    frame.getEndsList().forEach(end -> matches.remove(end.getMatch()).end(end));
    return reply.build();
  }

  private Choice choice(Decision decision) {
    int match = decision.getMatch();
    return Choice.newBuilder()
        .setMatch(match)
        .setDecision(decision.getDecision())
        .setAction(matches.get(match).choose(decision))
        .build();
  }
}
