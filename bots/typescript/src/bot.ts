/** The bot: this file is the one to change. */

import { type Bot, drawing, legal, run } from "./arena.js";
import type { BirthView } from "./generated/arena/v1/birth.js";
import { BurningDesirePhase, type BurningDesireView } from "./generated/arena/v1/burning_desire.js";
import { ButtonsPhase, type ButtonsView } from "./generated/arena/v1/buttons.js";
import type { Decision, MatchStart } from "./generated/arena/v1/referee.js";

const [CELLS, ROLL, QUIT, PASS, FRONT] = [36, 36, 37, 38, 39];
const [ROLES, BANK] = [128, 131];

/** The roles: the faces that belong to each, and its points by the number of its dice. */
const POINTS: [faces: number[], points: number[]][] = [
  [[1], [0, 10, 25, 60, 120, 250, 500]],
  [[2, 3], [0, 0, 10, 20, 30, 100, 180]],
  [[4, 5, 6], [0, 0, 5, 10, 20, 30, 80]],
];

class Example implements Bot {
  private readonly seat: number;
  private readonly draw: <Item>(items: readonly Item[]) => Item;

  constructor(start: MatchStart) {
    this.seat = start.seat;
    this.draw = drawing(start);
  }

  choose(decision: Decision): number {
    const { view } = decision;
    switch (view?.$case) {
      case "birth":
        return this.birth(legal(decision), view.value);
      case "burningDesire":
        return burningDesire(view.value);
      case "buttons":
        return this.buttons(legal(decision), view.value);
      default:
        return this.draw(legal(decision));
    }
  }

  /** The die that lands the pawn in the highest area. */
  private birth(actions: number[], view: BirthView): number {
    return best(actions, (action) => view.areas[this.landing(view, action + 1)]);
  }

  /** Where the pawn stops that goes `face` spaces, and again as long as somebody stands there. */
  private landing({ areas, seats }: BirthView, face: number): number {
    const others = seats.filter((_, seat) => seat !== this.seat).map(({ pawn }) => pawn);
    let space = seats[this.seat].pawn;
    do {
      space = (space + face) % areas.length;
    } while (others.includes(space));
    return space;
  }

  /** Three buttons are enough; they go where own stars are in line. */
  private buttons(actions: number[], { phase, seats }: ButtonsView): number {
    const { buttons, stars } = seats[this.seat];
    switch (phase) {
      case ButtonsPhase.BUTTONS_PHASE_SIDE:
        return FRONT;
      case ButtonsPhase.BUTTONS_PHASE_TURN:
        return buttons.length >= 3 && actions.includes(QUIT) ? QUIT : ROLL;
      default:
        return cell(actions, stars);
    }
  }
}

/** The cell with most stars in its row or its column. */
function cell(actions: number[], stars: number[]): number {
  const row = (cell: number) => Math.floor(cell / 6);
  const column = (cell: number) => cell % 6;
  const sharing = (line: (cell: number) => number, cell: number) =>
    stars.filter((star) => line(star) === line(cell)).length;
  const cells = actions.filter((action) => action < CELLS);
  return cells.length === 0 ? PASS : best(cells, (cell) => Math.max(sharing(row, cell), sharing(column, cell)));
}

/** Ones are kept, the role that makes most is scored, and the points are banked. */
function burningDesire({ phase, dice }: BurningDesireView): number {
  switch (phase) {
    case BurningDesirePhase.BURNING_DESIRE_PHASE_ROLL:
      return dice.reduce((kept, face, die) => kept + (face === 1 ? 1 << die : 0), 0);
    case BurningDesirePhase.BURNING_DESIRE_PHASE_ROLE: {
      const points = POINTS.map(([faces, points]) => points[dice.filter((face) => faces.includes(face)).length]);
      return ROLES + points.indexOf(Math.max(...points));
    }
    default:
      return BANK;
  }
}

/** The first of those that are worth most. */
function best(actions: number[], worth: (action: number) => number): number {
  return actions.reduce((best, action) => (worth(action) > worth(best) ? action : best));
}

run((start) => new Example(start));
