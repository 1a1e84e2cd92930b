// A bot in TypeScript, which the compiler must take, and mistakes that it must find.

import { Bot, decode, encode, run, type Answer, type GameOver, type GameStart, type Request, type Values } from "../arena_bot.js";

class Typed extends Bot {
  name = "typed";
  want = ["legal"];
  seed = 0;

  start({ bot_seed, time, seats, board }: GameStart): void {
    this.seed = (bot_seed + board.spaces.length + (time.limit_ms ?? 0)) % seats;
  }

  decide({ legal, clock }: Request): Answer {
    if (legal === undefined) return { action: { plays: [] }, note: `${clock.limit_ms - (clock.bank_ms ?? 0)} ms` };
    const first = (values: Values) => (Array.isArray(values) ? values[0] : values.of.slice(0, values.choose));
    return { action: { plays: [{ tile: first(legal[0].tile) }] } };
  }

  over({ ranks, forfeits }: GameOver): void {
    console.error(ranks[forfeits[0]?.seat ?? 0]);
  }
}

class Patient extends Bot {
  async start(): Promise<void> {}

  async decide(): Promise<Answer> {
    return { action: { plays: [] } };
  }

  async over(): Promise<void> {}
}

const played: Promise<void> = run(new Typed());
const type: string = decode(encode({ type: "ready", game: 1 })).type;

class Wrong extends Bot {
  // @ts-expect-error: an array is expected
  want = "legal";

  // @ts-expect-error: an answer has an action
  decide(request: Request) {
    // @ts-expect-error: a request has no seat
    return { plays: request.seat };
  }

  start(game: GameStart): void {
    // @ts-expect-error: the limit may be null
    game.time.limit_ms + 1;
  }
}

// @ts-expect-error: a bot is expected
run({ played, type, Patient, Wrong });
