// Checks a match that `arena replay MATCH --json` wrote, with nothing of the arena but docs/replays.md:
//
//     node verify.mjs match.json
//
// The commitment and every roll of the dice are checked for all games; a match of BIRTH is played again by its rules
// as well, in birth.mjs. Exit code 0 if all is right, 3 at the first difference, which is named.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { birth } from "./birth.mjs";
import { commitment, Dice } from "./dice.mjs";
import { Difference, finalRanks } from "./match.mjs";

const GAMES = { birth };

function expect(what, stored, computed) {
  if (!isDeepStrictEqual(stored, computed)) {
    throw new Difference(`${what}: stored ${JSON.stringify(stored)}, computed ${JSON.stringify(computed)}`);
  }
}

function verify(match) {
  const seed = Buffer.from(match.seed, "hex");
  expect("commitment", match.commitment, commitment(seed));
  const dice = new Dice(seed);
  for (const { key, numbers, bounds } of match.dice) {
    expect(`dice ${key}`, numbers, bounds ? dice.draws(key, bounds) : dice.roll(key, numbers.length));
  }
  const checked = [`commitment and ${match.dice.length} rolls`];
  if (match.game in GAMES) {
    const outcome = GAMES[match.game](match, new Dice(seed));
    expect("dice keys", match.dice.map((roll) => roll.key), outcome.keys);
    expect("scores", match.scores, outcome.scores.map(String));
    expect("ranks", match.ranks, finalRanks(outcome.ranks, match.forfeits));
    checked.push(`${match.choices.length} choices by the rules, scores and ranks`);
  }
  return checked;
}

try {
  const match = JSON.parse(readFileSync(process.argv[2], "utf8"));
  if (match.format !== 1) {
    throw new Difference(`format ${match.format}, this program knows 1`);
  }
  console.log(`match ${match.match} of ${match.game}: ${verify(match).join("; ")}: right`);
} catch (error) {
  if (!(error instanceof Difference)) {
    throw error;
  }
  console.error(error.message);
  process.exitCode = 3;
}
