package bot;

import arena.Arena;
import arena.Bot;
import arena.v1.Birth.BirthView;
import arena.v1.BurningDesire.BurningDesireView;
import arena.v1.Buttons.ButtonsView;
import arena.v1.Referee.Decision;
import arena.v1.Referee.MatchStart;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** The bot: this file is the one to change. */
public final class Example implements Bot {
  private static final int CELLS = 36;
  private static final int ROLL = 36;
  private static final int QUIT = 37;
  private static final int PASS = 38;
  private static final int FRONT = 39;
  private static final int ROLES = 128;
  private static final int BANK = 131;

  /** The points of each role by the number of its dice, and the role of each face. */
  private static final int[][] POINTS = {
    {0, 10, 25, 60, 120, 250, 500}, {0, 0, 10, 20, 30, 100, 180}, {0, 0, 5, 10, 20, 30, 80}
  };

  private static final int[] ROLE_OF_FACE = {-1, 0, 1, 1, 2, 2, 2};

  private final int seat;
  private final RandomGenerator random;

  private Example(MatchStart start) {
    seat = start.getSeat();
    random = Arena.random(start);
  }

  public static void main(String[] arguments) {
    Arena.run(Example::new);
  }

  @Override
  public int choose(Decision decision) {
    return switch (decision.getViewCase()) {
      case BIRTH -> birth(decision, decision.getBirth());
      case BURNING_DESIRE -> burningDesire(decision.getBurningDesire());
      case BUTTONS -> buttons(decision, decision.getButtons());
      default -> anything(Arena.legal(decision).toArray());
    };
  }

  private int anything(int[] legal) {
    return legal[random.nextInt(legal.length)];
  }

  /** The die that lands the pawn in the highest area, of equal ones the lowest. */
  private int birth(Decision decision, BirthView view) {
    return best(Arena.legal(decision).toArray(), action -> view.getAreas(landing(view, action + 1)));
  }

  /** Where the pawn stops that goes {@code face} spaces, and again while somebody stands there. */
  private int landing(BirthView view, int face) {
    int ring = view.getAreasCount();
    int space = (view.getSeats(seat).getPawn() + face) % ring;
    while (isTaken(view, space)) {
      space = (space + face) % ring;
    }
    return space;
  }

  private boolean isTaken(BirthView view, int space) {
    return IntStream.range(0, view.getSeatsCount())
        .anyMatch(other -> other != seat && view.getSeats(other).getPawn() == space);
  }

  private int buttons(Decision decision, ButtonsView view) {
    var own = view.getSeats(seat);
    return switch (view.getPhase()) {
      case BUTTONS_PHASE_SIDE -> FRONT;
      case BUTTONS_PHASE_TURN -> own.getButtonsCount() >= 3 && mayQuit(decision) ? QUIT : ROLL;
      default -> cell(decision, own.getStarsList());
    };
  }

  private static boolean mayQuit(Decision decision) {
    return Arena.legal(decision).anyMatch(action -> action == QUIT);
  }

  /** The cell with most stars in its row or its column, of equal ones the lowest. */
  private static int cell(Decision decision, List<Integer> stars) {
    int[] cells = Arena.legal(decision).filter(action -> action < CELLS).toArray();
    return cells.length == 0 ? PASS : best(cells, cell -> inLine(stars, cell));
  }

  private static int inLine(List<Integer> stars, int cell) {
    long inRow = stars.stream().filter(star -> star / 6 == cell / 6).count();
    long inColumn = stars.stream().filter(star -> star % 6 == cell % 6).count();
    return (int) Math.max(inRow, inColumn);
  }

  private static int burningDesire(BurningDesireView view) {
    return switch (view.getPhase()) {
      case BURNING_DESIRE_PHASE_ROLL -> ones(view);
      case BURNING_DESIRE_PHASE_ROLE -> ROLES + best(new int[] {0, 1, 2}, role -> points(view, role));
      default -> BANK;
    };
  }

  /** Keeps just the dice that show 1. */
  private static int ones(BurningDesireView view) {
    return IntStream.range(0, view.getDiceCount())
        .filter(die -> view.getDice(die) == 1)
        .map(die -> 1 << die)
        .sum();
  }

  private static int points(BurningDesireView view, int role) {
    var dice = view.getDiceList().stream().filter(face -> ROLE_OF_FACE[face] == role);
    return POINTS[role][(int) dice.count()];
  }

  /** The first of those that are worth most. */
  private static int best(int[] actions, IntUnaryOperator worth) {
    int best = actions[0];
    for (int action : actions) {
      if (worth.applyAsInt(action) > worth.applyAsInt(best)) {
        best = action;
      }
    }
    return best;
  }
}
