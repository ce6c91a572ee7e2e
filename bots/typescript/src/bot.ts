/** A bot that plays every game by a few rules of thumb: replace them with better ones. */

import { uniformInt } from "pure-rand/distribution/uniformInt";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

import { type Bot, random, run } from "./arena.js";
import type { BirthView } from "./generated/arena/v1/birth.js";
import { BurningDesirePhase, type BurningDesireView } from "./generated/arena/v1/burning_desire.js";
import { ButtonsPhase, type ButtonsSeat, type ButtonsView } from "./generated/arena/v1/buttons.js";
import type { Decision, MatchStart } from "./generated/arena/v1/referee.js";

class Example implements Bot {
  private readonly seat: number;
  private readonly random: RandomGenerator;

  constructor(start: MatchStart) {
    this.seat = start.seat;
    this.random = random(start);
  }

  choose({ view }: Decision, legal: number[]): number {
    switch (view?.$case) {
      case "birth":
        return birth(view.value, this.seat, legal);
      case "burningDesire":
        return burningDesire(view.value);
      case "buttons":
        return buttons(view.value, this.seat, legal);
      default:
        return legal[uniformInt(this.random, 0, legal.length - 1)];
    }
  }
}

/** The die whose move lands in the dearest area, of equal ones the lowest. */
function birth(view: BirthView, seat: number, legal: number[]): number {
  return firstOfBest(legal, (action) => view.areas[landing(view, seat, action + 1)]);
}

/** The space where a move ends; it goes on as long as somebody else's pawn is in the way. */
function landing({ areas, seats }: BirthView, seat: number, face: number): number {
  const taken = seats.filter((_, other) => other !== seat).map(({ pawn }) => pawn);
  let space = seats[seat].pawn;
  do {
    space = (space + face) % areas.length;
  } while (taken.includes(space));
  return space;
}

const FIRST_ROLE = 128;
const BANK = 131;

/** The faces that count for each role, and the points for so many dice. */
const ROLES = [
  { faces: [1], points: [0, 10, 25, 60, 120, 250, 500] },
  { faces: [2, 3], points: [0, 0, 10, 20, 30, 100, 180] },
  { faces: [4, 5, 6], points: [0, 0, 5, 10, 20, 30, 80] },
];

/** Rolls for ones, takes the role that makes most, and never multiplies. */
function burningDesire({ phase, dice }: BurningDesireView): number {
  switch (phase) {
    case BurningDesirePhase.BURNING_DESIRE_PHASE_ROLL:
      return ones(dice);
    case BurningDesirePhase.BURNING_DESIRE_PHASE_ROLE:
      return FIRST_ROLE + firstOfBest([0, 1, 2], (role) => points(dice, role));
    default:
      return BANK;
  }
}

/** Keeps the dice that show a one; die i is worth 2 to the i. */
function ones(dice: number[]): number {
  return dice.reduce((kept, face, i) => (face === 1 ? kept + 2 ** i : kept), 0);
}

function points(dice: number[], role: number): number {
  const { faces, points } = ROLES[role];
  return points[dice.filter((face) => faces.includes(face)).length];
}

/** Actions of Buttons; those below `CELLS` are the cells. */
const CELLS = 36;
const ROLL = 36;
const QUIT = 37;
const PASS = 38;
const FRONT = 39;

/** Leaves the round with three buttons, and puts them where stars are in line. */
function buttons({ phase, seats }: ButtonsView, seat: number, legal: number[]): number {
  const own = seats[seat];
  switch (phase) {
    case ButtonsPhase.BUTTONS_PHASE_SIDE:
      return FRONT;
    case ButtonsPhase.BUTTONS_PHASE_TURN:
      return own.buttons.length >= 3 && legal.includes(QUIT) ? QUIT : ROLL;
    default: {
      const cells = legal.filter((action) => action < CELLS);
      return cells.length === 0 ? PASS : firstOfBest(cells, (cell) => starsInLine(own, cell));
    }
  }
}

/** The stars in a cell's row or in its column, whichever has more. */
function starsInLine({ stars }: ButtonsSeat, cell: number): number {
  const row = stars.filter((star) => Math.floor(star / 6) === Math.floor(cell / 6));
  const column = stars.filter((star) => star % 6 === cell % 6);
  return Math.max(row.length, column.length);
}

/** The action that is worth most, of equal ones the first. */
function firstOfBest(actions: number[], worth: (action: number) => number): number {
  return actions.reduce((best, action) => (worth(action) > worth(best) ? action : best));
}

run((start) => new Example(start));
