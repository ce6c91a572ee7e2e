package arena;

import static java.nio.charset.StandardCharsets.UTF_8;

import arena.v1.Decision;
import arena.v1.Hello;
import arena.v1.MatchEnd;
import arena.v1.MatchStart;
import arena.v1.PlayRequest;
import arena.v1.RefereeServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.StatusException;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Plays the matches that an arena sends to this process. */
public final class Arena {
  private static final int PROTOCOL = 1;
  private static final RandomGeneratorFactory<?> RANDOM =
      RandomGeneratorFactory.of("L64X256MixRandom");
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private Arena() {}

  /** Plays until the arena says goodbye, up to 768 matches at once, then ends the process. */
  public static void run(Function<MatchStart, Bot> newBot) {
    run(768, newBot);
  }

  /** The same with up to so many matches at once; 1 for a bot that needs the whole machine. */
  public static void run(int matches, Function<MatchStart, Bot> newBot) {
    String address = System.getenv("ARENA_ADDR");
    if (address == null) {
      System.err.println("the arena starts this bot: try `arena match . random --game buttons`");
      System.exit(2);
    }
    GRPC.setLevel(Level.SEVERE); // it warns of what a sandbox lacks
    try {
      play(address, hello(matches), new Table(newBot));
    } catch (StatusException | InterruptedException broken) {
      System.err.printf("the arena at %s: %s%n", address, broken.getMessage());
      System.exit(1);
    }
    System.exit(0); // gRPC's threads would linger for a second
  }

  /** A generator made from the bot seed: with no other luck, a repeated match is played alike. */
  public static RandomGenerator random(MatchStart start) {
    return RANDOM.create(start.getBotSeed().toByteArray());
  }

  /** Prints text for yourself; the arena keeps it with the match, at this decision. */
  public static void log(Decision decision, String text) {
    print(decision.getMatch() + ":" + decision.getDecision(), text);
  }

  /** Prints text for yourself; the arena keeps it with the match. */
  public static void log(MatchStart start, String text) {
    print("" + start.getMatch(), text);
  }

  /** Prints text for yourself; the arena keeps it with the match. */
  public static void log(MatchEnd end, String text) {
    print("" + end.getMatch(), text);
  }

  /** A process has many matches in play, so a tag before each line says to which it belongs. */
  private static void print(String where, String text) {
    String tag = "\u001e" + where + " ";
    String lines = text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    System.err.writeBytes((tag + lines.replace("\n", "\n" + tag) + "\n").getBytes(UTF_8));
  }

  private static void play(String address, Hello hello, Table table)
      throws StatusException, InterruptedException {
    var channel =
        Grpc.newChannelBuilder(address, InsecureChannelCredentials.create())
            .maxInboundMessageSize(Integer.MAX_VALUE)
            .build();
    // The arena hangs up on whoever is slow to say hello, as on a busy machine: then dial again.
    var stream = RefereeServiceGrpc.newBlockingV2Stub(channel).withWaitForReady().play();
    stream.write(PlayRequest.newBuilder().setHello(hello).build());
    for (var frame = stream.read(); frame != null; frame = stream.read()) {
      table.answer(frame, stream::write);
      if (frame.hasGoodbye()) {
        return;
      }
    }
  }

  private static Hello hello(int matches) {
    return Hello.newBuilder()
        .setProtocol(PROTOCOL)
        .setToken(System.getenv().getOrDefault("ARENA_TOKEN", ""))
        .setMatches(matches)
        .setSdk("grpc-java")
        .build();
  }
}
