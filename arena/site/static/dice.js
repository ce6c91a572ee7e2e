// The dice of a match, computed again from its seed. crypto.subtle would do the hashing, but browsers have it only on
// pages that came by https, and this page may come from anywhere.
"use strict";

const arenaDice = (() => {
  // SHA-256, FIPS 180-4.

  const WORDS = 64;

  // The first 32 bits of the fractional parts of the roots of primes: square roots for the state in which a hash
  // begins, cube roots for the constants of its rounds.
  function fractions(count, power) {
    const found = [];
    for (let number = 2; found.length < count; number++) {
      if (isPrime(number)) {
        found.push((number ** power % 1) * 2 ** 32 | 0);
      }
    }
    return found;
  }

  function isPrime(number) {
    for (let divisor = 2; divisor * divisor <= number; divisor++) {
      if (number % divisor === 0) {
        return false;
      }
    }
    return true;
  }

  const START = fractions(8, 1 / 2);
  const ROUND = fractions(WORDS, 1 / 3);

  const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));

  // The message, a 1 bit, zeros, and the number of its bits, in blocks of 64 bytes.
  function padded(message) {
    const bytes = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
    bytes.set(message);
    bytes[message.length] = 0x80;
    new DataView(bytes.buffer).setUint32(bytes.length - 4, message.length * 8);
    return bytes;
  }

  function schedule(view, offset) {
    const words = new Int32Array(WORDS);
    for (let t = 0; t < 16; t++) {
      words[t] = view.getInt32(offset + 4 * t);
    }
    for (let t = 16; t < WORDS; t++) {
      const [early, late] = [words[t - 15], words[t - 2]];
      const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[t] = words[t - 16] + first + words[t - 7] + second;
    }
    return words;
  }

  function compressed(state, words) {
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < WORDS; t++) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + ROUND[t] + words[t];
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    return [a, b, c, d, e, f, g, h].map((word, index) => (word + state[index]) | 0);
  }

  function sha256(message) {
    const view = new DataView(padded(message).buffer);
    let state = START;
    for (let offset = 0; offset < view.byteLength; offset += 64) {
      state = compressed(state, schedule(view, offset));
    }
    const digest = new DataView(new ArrayBuffer(32));
    state.forEach((word, index) => digest.setInt32(4 * index, word));
    return new Uint8Array(digest.buffer);
  }

  // HMAC-SHA256, RFC 2104.
  function hmac(key, message) {
    const block = new Uint8Array(64);
    block.set(key.length > 64 ? sha256(key) : key);
    const inner = sha256(joined(block.map((byte) => byte ^ 0x36), message));
    return sha256(joined(block.map((byte) => byte ^ 0x5c), inner));
  }

  const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]));

  // The dice, as docs/protocol.md describes them.

  function* bytes(seed, key) {
    for (let block = 0; ; block++) {
      yield* hmac(seed, new TextEncoder().encode(`${key}/${block}`));
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

  function rolled(seed, roll) {
    const stream = bytes(seed, roll.key);
    return roll.bounds
      ? roll.bounds.map((bound) => below(stream, bound))
      : roll.numbers.map(() => below(stream, 6) + 1);
  }

  const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const toHex = (some) => [...some].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  // What is wrong with the commitment, the rolls and the outcome of a match, the first of it; empty if nothing is.
  function difference(match) {
    const seed = fromHex(match.seed);
    const rolls = match.steps.flatMap((step) => step.rolls);
    const end = match.steps.at(-1);
    const pairs = [
      ["the commitment", match.commitment, () => toHex(sha256(seed))],
      ...rolls.map((roll) => [`the dice ${roll.key}`, roll.numbers.join(" "), () => rolled(seed, roll).join(" ")]),
      ["the scores", match.scores.join(" "), () => end.scores.join(" ")],
      ["the ranks", match.ranks.join(" "), () => end.ranks.join(" ")],
    ];
    for (const [what, shown, computed] of pairs) {
      if (shown !== computed()) {
        return `${what} should be ${computed()}, and the page has ${shown}`;
      }
    }
    return "";
  }

  return { sha256, hmac, rolled, difference };
})();
