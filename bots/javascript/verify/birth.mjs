// BIRTH by its rules, as docs/games.md has them: seats take turns, a step is one choice.

import { Difference, forfeitStep, places } from "./match.mjs";

const SPACES = 15;
const HAND = 11;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

// Where a pawn ends that goes `face` spaces, and again as long as it would land on an opponent.
function landing(pawns, mover, face) {
  let space = (pawns[mover] + face) % SPACES;
  while (pawns.includes(space) && space !== pawns[mover]) {
    space = (space + face) % SPACES;
  }
  return space;
}

// A die comes into an area. If there are others of its face, all of them are thrown again, those of seat 0 first.
function place(area, mover, face, dice, key) {
  area.push({ owner: mover, face });
  const equal = area.filter((die) => die.face === face).sort((one, other) => one.owner - other.owner);
  if (equal.length > 1) {
    dice.roll(key, equal.length).forEach((thrown, index) => (equal[index].face = thrown));
  }
}

// A die scores the number of its area; and in each area the largest sum of pips scores itself.
function scores(areas, seats) {
  return seats.map((seat) =>
    sum(
      [...areas].map(([number, dice]) => {
        const pips = seats.map((owner) => sum(dice.filter((die) => die.owner === owner).map((die) => die.face)));
        const relative = pips[seat] === Math.max(...pips) ? pips[seat] : 0;
        return number * dice.filter((die) => die.owner === seat).length + relative;
      }),
    ),
  );
}

export function birth(match, dice) {
  const { areas: ring, start } = match.options;
  const seats = match.bots.map((_, seat) => seat);
  const pawns = seats.map((seat) => (start + seat) % SPACES);
  const hands = seats.map((seat) => dice.roll(`setup/seat/${seat}`, HAND));
  const areas = new Map(ring.map((number) => [number, []]));

  match.choices.forEach(([seat, action], turn) => {
    const [mover, face] = [turn % seats.length, action + 1];
    const due = turn >= forfeitStep(match, mover) ? Math.min(...hands[mover]) : face;
    if (seat !== mover || !hands[mover].includes(face) || face !== due) {
      throw new Difference(`choice ${turn + 1}: seat ${seat} plays a ${face}; seat ${mover} has ${hands[mover]}`);
    }
    const space = landing(pawns, mover, face);
    place(areas.get(ring[space]), mover, face, dice, `turn/${turn}/birth`);
    hands[mover].splice(hands[mover].indexOf(face), 1);
    pawns[mover] = space;
    if (space === start && hands[mover].length) {
      hands[mover] = dice.roll(`turn/${turn}/break`, hands[mover].length);
    }
  });

  const played = match.choices.length;
  if (hands[played % seats.length].length && match.forfeits.length < seats.length - 1) {
    throw new Difference(`choice ${played + 1} is missing: seat ${played % seats.length} has dice left`);
  }
  const totals = scores(areas, seats);
  const gone = pawns.map((pawn) => (pawn - start + SPACES) % SPACES);
  return { scores: totals, ranks: places(seats.map((seat) => [totals[seat], gone[seat]])), keys: dice.keys };
}
