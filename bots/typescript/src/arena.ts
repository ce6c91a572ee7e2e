/** Plays the matches that an arena sends to this process. */

import { setImmediate as sent } from "node:timers/promises";

import { type ClientDuplexStream, credentials, Metadata } from "@grpc/grpc-js";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

import {
  type Choice,
  type Decision,
  type MatchEnd,
  type MatchStart,
  PlayRequest,
  type PlayResponse,
  RefereeServiceClient,
} from "./generated/arena/v1/referee.js";

const PROTOCOL = 1;
/** So many times in a decision's limit the referee is told what has been decided: it takes who is silent for stopped. */
const PIECES = 4;

/** One seat of one match: every match has a bot of its own, so matches never mix. */
export interface Bot {
  /** One of the legal actions, which are ascending; any other forfeits the match. */
  choose(decision: Decision, legal: number[]): number;

  /** The match is over. */
  end?(end: MatchEnd): void;
}

/** A generator made from the bot seed: with no other luck, a repeated match is played the same way again. */
export function random({ botSeed }: MatchStart): RandomGenerator {
  return xoroshiro128plusFromState([0, 4, 8, 12].map((at) => botSeed.readInt32LE(at)));
}

/**
 * Prints text for yourself; the arena keeps it with the match that a message belongs to, and at its decision.
 *
 * A process has many matches in play, so a tag before each line says which one it is.
 */
export function log(about: MatchStart | Decision | MatchEnd, text: string): void {
  const tag = "decision" in about ? `\x1e${about.match}:${about.decision}` : `\x1e${about.match}`;
  const lines = text.replace(/\n$/, "").split("\n");
  process.stderr.write(lines.map((line) => `${tag} ${line}\n`).join(""));
}

/** Plays until the arena says goodbye, up to `matches` at once; 1 for a bot that needs the whole machine. */
export function run(newBot: (start: MatchStart) => Bot, matches = 768): void {
  const { ARENA_ADDR: address, ARENA_TOKEN: token = "" } = process.env;
  if (address === undefined) {
    console.error("the arena starts this bot: try `arena match . random --game buttons`");
    process.exitCode = 2;
    return;
  }
  const client = new RefereeServiceClient(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
  });
  // The arena hangs up on whoever is slow to say hello, as on a busy machine: then dial again.
  const stream = client.play(new Metadata({ waitForReady: true }));
  stream.write(PlayRequest.fromPartial({ hello: { protocol: PROTOCOL, token, matches, sdk: "grpc-js" } }));
  play(stream, new Table(newBot))
    .catch((error: Error) => {
      console.error(`the arena at ${address}: ${error.message}`);
      process.exitCode = 1;
    })
    .finally(() => client.close());
}

/** Answers every frame, one after the other. */
async function play(stream: ClientDuplexStream<PlayRequest, PlayResponse>, table: Table): Promise<void> {
  for await (const frame of stream as AsyncIterable<PlayResponse>) {
    for (const choices of table.answer(frame)) {
      stream.write({ hello: undefined, choices });
      await sent(); // nothing leaves while this thread thinks
    }
    if (frame.goodbye !== undefined) {
      stream.end();
    }
  }
}

/** The matches that this process holds, each with a bot of its own. */
class Table {
  private readonly bots = new Map<number, Bot>();
  /** Milliseconds that a choice may be kept back, by the smallest limit of any match so far. */
  private piece = Infinity;

  constructor(private readonly newBot: (start: MatchStart) => Bot) {}

  /** Every choice that a frame asks for: all together, or, if they take long, in pieces that are to be sent at once. */
  *answer(frame: PlayResponse): Generator<Choice[]> {
    let began = performance.now();
    for (const start of frame.starts) {
      this.piece = Math.min(this.piece, (start.limits?.decisionMs || Infinity) / PIECES);
      this.bots.set(start.match, this.newBot(start));
    }
    for (const { reason } of frame.rejections) {
      console.error(`the referee rejected a choice: ${reason}`);
    }
    let choices: Choice[] = [];
    for (const decision of frame.decisions) {
      choices.push(this.choice(decision));
      if (performance.now() - began >= this.piece) {
        yield choices;
        choices = [];
        began = performance.now();
      }
    }
    if (choices.length > 0) {
      yield choices;
    }
    for (const end of frame.ends) {
      this.bots.get(end.match)?.end?.(end);
      this.bots.delete(end.match);
    }
  }

  private choice(decision: Decision): Choice {
    const { match, decision: number } = decision;
    return { match, decision: number, action: this.bots.get(match)!.choose(decision, legal(decision)) };
  }
}

/** The actions, which travel as a range where they are one. */
function legal({ legal, legalFirst, legalCount }: Decision): number[] {
  return legalCount === 0 ? legal : Array.from({ length: legalCount }, (_, i) => legalFirst + i);
}
