// The dice: a key opens a stream of bytes, block i of which is HMAC-SHA256(seed, key + "/" + i).

import { createHash, createHmac } from "node:crypto";

function* bytes(seed, key) {
  for (let block = 0; ; block++) {
    yield* createHmac("sha256", seed).update(`${key}/${block}`).digest();
  }
}

// The next byte modulo bound, bytes that would favour the low numbers skipped.
function below(stream, bound) {
  const limit = 256 - (256 % bound);
  for (;;) {
    const byte = stream.next().value;
    if (byte < limit) {
      return byte % bound;
    }
  }
}

// What the seats were shown of the seed before the first decision.
export function commitment(seed) {
  return createHash("sha256").update(seed).digest("hex");
}

export class Dice {
  keys = [];

  constructor(seed) {
    this.seed = seed;
  }

  // One number below each bound, all from the one key.
  draws(key, bounds) {
    this.keys.push(key);
    const stream = bytes(this.seed, key);
    return bounds.map((bound) => below(stream, bound));
  }

  // Faces of six-sided dice.
  roll(key, count) {
    return this.draws(key, Array(count).fill(6)).map((number) => number + 1);
  }
}
