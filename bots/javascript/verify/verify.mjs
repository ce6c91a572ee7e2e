// Checks a match that `arena replay MATCH --json` wrote, with nothing of the arena but docs/replays.md:
//
//     node verify.mjs match.json
//
// The commitment and every roll of the dice are checked for all games; a match of BIRTH is played again by its rules
// as well, in birth.mjs. Exit code 0 if all that it names is right, 3 at the first difference, which is named, and 1 if
// the file is no replay.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { birth } from "./birth.mjs";
import { commitment, Dice } from "./dice.mjs";
import { Difference, finalRanks } from "./match.mjs";

const GAMES = { birth };
const PARTS = ["match", "game", "bots", "options", "seed", "commitment", "dice", "choices", "forfeits", "ranks", "scores"];

class Unreadable extends Error {}

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
  const right = `right: dice (commitment and ${match.dice.length} rolls)`;
  if (Object.hasOwn(GAMES, match.game)) {
    const outcome = GAMES[match.game](match, new Dice(seed));
    expect("dice keys", match.dice.map((roll) => roll.key), outcome.keys);
    expect("scores", match.scores, outcome.scores.map(String));
    expect("ranks", match.ranks, finalRanks(outcome.ranks, match.forfeits));
    return `${right}, rules (${match.choices.length} choices), ranks and scores`;
  }
  return `${right}; not checked: rules, ranks and scores, as the rules of ${match.game} are not in this program`;
}

function read(file) {
  if (file === undefined) {
    throw new Unreadable("name the file that `arena replay MATCH --json` wrote");
  }
  let text, match;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Unreadable(`cannot read ${file}: ${error.code}`);
  }
  if (text.trim() === "") {
    throw new Unreadable(`${file} is empty`);
  }
  try {
    match = JSON.parse(text);
  } catch {
    throw new Unreadable(`${file} is no JSON, or not all of it`);
  }
  if (typeof match !== "object" || match === null || !("format" in match)) {
    throw new Unreadable(`${file} is no replay`);
  }
  if (match.format !== 1) {
    throw new Difference(`format ${match.format}, this program knows 1`);
  }
  const missing = PARTS.filter((part) => !(part in match));
  if (missing.length > 0) {
    throw new Unreadable(`${file} is no replay: it has no ${missing.join(", ")}`);
  }
  return match;
}

try {
  const match = read(process.argv[2]);
  console.log(`match ${match.match} of ${match.game}: ${verify(match)}`);
} catch (error) {
  console.error(error.message.replaceAll("\n", " "));
  process.exitCode = error instanceof Difference ? 3 : 1;
}
