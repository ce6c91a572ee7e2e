package bot;

import arena.Arena;
import arena.Bot;
import arena.v1.BirthView;
import arena.v1.BurningDesireView;
import arena.v1.ButtonsSeat;
import arena.v1.ButtonsView;
import arena.v1.Decision;
import arena.v1.MatchStart;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** A bot that plays every game by a few rules of thumb: replace them with better ones. */
final class Example implements Bot {
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
  public int choose(Decision decision, int[] legal) {
    return switch (decision.getViewCase()) {
      case BIRTH -> birth(decision.getBirth(), legal);
      case BURNING_DESIRE -> burningDesire(decision.getBurningDesire());
      case BUTTONS -> buttons(decision.getButtons(), legal);
      default -> legal[random.nextInt(legal.length)];
    };
  }

  /** The die whose move lands in the dearest area, of equal ones the lowest. */
  private int birth(BirthView view, int[] legal) {
    return firstOfBest(legal, action -> view.getAreas(landing(view, action + 1)));
  }

  /** The space where a move ends; it goes on as long as somebody else's pawn is in the way. */
  private int landing(BirthView view, int face) {
    int space = view.getSeats(seat).getPawn();
    do {
      space = (space + face) % view.getAreasCount();
    } while (isTaken(view, space));
    return space;
  }

  private boolean isTaken(BirthView view, int space) {
    return IntStream.range(0, view.getSeatsCount())
        .anyMatch(other -> other != seat && view.getSeats(other).getPawn() == space);
  }

  private static final int FIRST_ROLE = 128;
  private static final int BANK = 131;

  /** The role of each face, and the points of each role for so many dice. */
  private static final int[] ROLE = {-1, 0, 1, 1, 2, 2, 2};

  private static final int[][] POINTS = {
    {0, 10, 25, 60, 120, 250, 500}, {0, 0, 10, 20, 30, 100, 180}, {0, 0, 5, 10, 20, 30, 80}
  };

  /** Rolls for ones, takes the role that makes most, and never multiplies. */
  private static int burningDesire(BurningDesireView view) {
    return switch (view.getPhase()) {
      case BURNING_DESIRE_PHASE_ROLL -> ones(view);
      case BURNING_DESIRE_PHASE_ROLE ->
          FIRST_ROLE + firstOfBest(new int[] {0, 1, 2}, role -> points(view, role));
      default -> BANK;
    };
  }

  /** Keeps the dice that show a one; die i is worth 2 to the i. */
  private static int ones(BurningDesireView view) {
    return IntStream.range(0, view.getDiceCount())
        .filter(die -> view.getDice(die) == 1)
        .map(die -> 1 << die)
        .sum();
  }

  private static int points(BurningDesireView view, int role) {
    var counted = view.getDiceList().stream().filter(face -> ROLE[face] == role);
    return POINTS[role][(int) counted.count()];
  }

  /** Actions of Buttons; those below {@code CELLS} are the cells. */
  private static final int CELLS = 36;

  private static final int ROLL = 36;
  private static final int QUIT = 37;
  private static final int PASS = 38;
  private static final int FRONT = 39;

  /** Leaves the round with three buttons, and puts them where stars are in line. */
  private int buttons(ButtonsView view, int[] legal) {
    ButtonsSeat own = view.getSeats(seat);
    return switch (view.getPhase()) {
      case BUTTONS_PHASE_SIDE -> FRONT;
      case BUTTONS_PHASE_TURN -> own.getButtonsCount() >= 3 && mayQuit(legal) ? QUIT : ROLL;
      default -> {
        int[] cells = Arrays.stream(legal).filter(action -> action < CELLS).toArray();
        yield cells.length == 0 ? PASS : firstOfBest(cells, cell -> starsInLine(own, cell));
      }
    };
  }

  private static boolean mayQuit(int[] legal) {
    return Arrays.binarySearch(legal, QUIT) >= 0;
  }

  /** The stars in a cell's row or in its column, whichever has more. */
  private static int starsInLine(ButtonsSeat own, int cell) {
    long row = own.getStarsList().stream().filter(star -> star / 6 == cell / 6).count();
    long column = own.getStarsList().stream().filter(star -> star % 6 == cell % 6).count();
    return (int) Math.max(row, column);
  }

  /** The action that is worth most, of equal ones the first. */
  private static int firstOfBest(int[] actions, IntUnaryOperator worth) {
    int best = actions[0];
    for (int action : actions) {
      if (worth.applyAsInt(action) > worth.applyAsInt(best)) {
        best = action;
      }
    }
    return best;
  }
}
