/** The arena as a bot sees it: one stream of frames, which carries every match of the process. */

import { credentials, type ServiceError } from "@grpc/grpc-js";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";

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

/** One seat of one match: every match has a bot of its own, so matches never mix. */
export interface Bot {
  /** One of `legal(decision)`; any other forfeits the match. */
  choose(decision: Decision): number;

  /** The match is over. */
  end?(end: MatchEnd): void;
}

/** The actions to choose from, ascending. */
export function legal({ legal, legalFirst, legalCount }: Decision): number[] {
  return legalCount > 0 ? Array.from({ length: legalCount }, (_, i) => legalFirst + i) : legal;
}

/** Draws one of some items. Seeded by the arena: with no other luck, a repeated match is played the same. */
export function drawing({ botSeed }: MatchStart): <Item>(items: readonly Item[]) => Item {
  const random = xoroshiro128plusFromState([0, 4, 8, 12].map((at) => botSeed.readInt32LE(at)));
  return (items) => items[uniformInt(random, 0, items.length - 1)]!;
}

/** Plays every match that the arena sends this process; `matches` is how many it may hold at once. */
export function run(bots: (start: MatchStart) => Bot, matches = 256): void {
  const { ARENA_ADDR: address, ARENA_TOKEN: token = "" } = process.env;
  if (address === undefined) {
    console.error("the arena starts this bot: try `arena match . random --game buttons`");
    process.exitCode = 2;
    return;
  }
  const client = new RefereeServiceClient(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
  });
  const stream = client.play();
  const table = new Table(bots);
  stream.on("data", (frame: PlayResponse) => {
    const choices = table.answer(frame);
    if (choices.length > 0) {
      stream.write({ hello: undefined, choices });
    }
    if (frame.goodbye !== undefined) {
      stream.end();
    }
  });
  stream.on("end", () => client.close());
  stream.on("error", (error: ServiceError) => {
    console.error(`the arena at ${address}: ${error.message}`);
    process.exitCode = 1;
    client.close();
  });
  stream.write(PlayRequest.fromPartial({ hello: { protocol: PROTOCOL, token, matches, sdk: "typescript" } }));
}

/** The matches that this process holds, each with a bot of its own. */
class Table {
  private readonly matches = new Map<number, Bot>();

  constructor(private readonly bots: (start: MatchStart) => Bot) {}

  /** Every choice that a frame asks for. */
  answer(frame: PlayResponse): Choice[] {
    for (const start of frame.starts) {
      this.matches.set(start.match, this.bots(start));
    }
    for (const { reason } of frame.rejections) {
      console.error(`the referee rejected a choice: ${reason}`);
    }
    const choices = frame.decisions.map((decision) => this.choice(decision));
    for (const end of frame.ends) {
      this.matches.get(end.match)?.end?.(end);
      this.matches.delete(end.match);
    }
    return choices;
  }

  private choice(decision: Decision): Choice {
    const action = this.matches.get(decision.match)!.choose(decision);
    return { match: decision.match, decision: decision.decision, action };
  }
}
