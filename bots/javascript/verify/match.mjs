// What holds for matches of every game.

export class Difference extends Error {}

// Ranks from sort keys, compared item by item, larger is better, equal keys tie: 0 is best.
export function places(keys) {
  const isAbove = (one, other) => {
    const at = one.findIndex((item, index) => item !== other[index]);
    return at >= 0 && one[at] > other[at];
  };
  return keys.map((own) => keys.filter((other) => isAbove(other, own)).length);
}

// The game's ranks with forfeited seats below all others, a later forfeit above an earlier one.
export function finalRanks(ranks, forfeits) {
  const step = new Map(forfeits.map(([seat, , step]) => [seat, step]));
  return places(ranks.map((rank, seat) => (step.has(seat) ? [0, step.get(seat)] : [1, -rank])));
}

// The step of a seat's forfeit; Infinity if it had none.
export function forfeitStep(match, seat) {
  const forfeit = match.forfeits.find(([own]) => own === seat);
  return forfeit ? forfeit[2] : Infinity;
}
