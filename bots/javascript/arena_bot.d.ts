// The types of arena_bot.js: for TypeScript, and for editors that complete names.

/** What a game puts into a message: plain data, as the page of its rules in the protocol says. */
export type Payload = { [key: string]: any };

/**
 * The values that a key of a play may have: an array to choose one from, or a map to choose so many from, at different
 * places of `of`.
 */
export type Values = any[] | { choose: number; of: any[] };

/** Some legal plays: all that have, for each key, a chosen value. */
export type Product = { [key: string]: Values };

/** A play: for each key of one product, what was chosen. */
export type Play = { [key: string]: any };

/** The time for one decision, in whole milliseconds. */
export interface Clock {
  /** Time for this decision: after it the bot forfeits. */
  limit_ms: number;
  /** What is left of the bank before this decision, or null where there is none. */
  bank_ms: number | null;
}

/** The time control of a game, in whole milliseconds; at least one of `bank_ms` and `limit_ms` is a number. */
export interface TimeControl {
  /** Time for the whole game. */
  bank_ms: number | null;
  /** Added to the bank after each decision, once however many requests it took. */
  increment_ms: number;
  /** Time for one decision, over all its requests. */
  limit_ms: number | null;
  /** Added to every deadline for the journey of messages. */
  margin_ms: number;
  /** How far apart, in microseconds, the times of a race may be and still be tied; null if the rules have no race. */
  window_us: number | null;
  /** CPU time of all the bot's processes for the whole game; missing if there is no such limit. */
  cpu_ms?: number | null;
  /** True if the clock is off, and `limit_ms` a guide; missing if it is on. */
  off?: boolean | null;
}

/** A game begins. */
export interface GameStart {
  type: "game_start";
  /** The number of the game in this session, counted from 1. */
  game: number;
  /** The name of the game's rules, such as "samurai". */
  rules: string;
  rules_version: number;
  /** The named set of options, or "custom". */
  ruleset: string;
  /** Every option with its value. */
  options: { [option: string]: string };
  /** The bot's seat, counted from 0. */
  seat: number;
  /** How many seats there are. */
  seats: number;
  board: Payload;
  time: TimeControl;
  /** SHA-256 (hex) of a salt, which no other game has, and the deal's secret. */
  commitment: string;
  /** For the bot's own chance: the same whenever this deal is played again, another for each seat. */
  bot_seed: number;
  /** The bot's own parameters, each with its value as text; missing if it has none. */
  parameters?: { [name: string]: string };
}

/** The referee asks for a decision. */
export interface Request {
  type: "request";
  /** The number of the request in this session, counted from 1. */
  id: number;
  /** Which decision is due, as the page of the game's rules says. */
  kind: string;
  clock: Clock;
  /** Everything the seat may know now, if `want` names it. */
  view?: any;
  /** What the seat has learnt since its last request in this game, if `want` names it. */
  events?: any;
  /** The legal plays, if `want` names it. */
  legal?: Product[];
}

/** The answer to a request. */
export interface Answer {
  /** The plays, one or more. The page of the game's rules says where more than one is allowed. */
  action: { plays: Play[]; [key: string]: any };
  /** What the bot was thinking; cut to what the referee allows. */
  note?: string | null;
}

/** A game has ended. */
export interface GameOver {
  type: "game_over";
  /** The number of the game. */
  game: number;
  /** "finished", the code of the forfeit that ended it, or "interrupted". */
  termination: string;
  /** The rank of each seat, 1 is best; equal ranks share. Empty if interrupted. */
  ranks: number[];
  /** The seats that forfeited, in order. */
  forfeits: { seat: number; code: string }[];
  /** What the seat has learnt since its last request, if `want` names it. */
  events?: any;
  /** The score of each seat, if the game has scores. */
  scores?: number[] | null;
  /** What the seat saw and did, as the log must have it. */
  receipt?: { digest: string; notes: string | null; used_ns: number[] } | null;
}

/** What is kept of a game that is over. */
export interface Kept {
  /** The version of the form of these lines. */
  format: 1;
  bot_seed: number;
  seat: number;
  /** The digest that the bot computed itself; null without "events". */
  own: string | null;
  /** The digest that it was told. */
  told: string | null;
  /** The digest of its notes; null if it had none. */
  notes: string | null;
  termination: string;
  ranks: number[];
}

/** What a bot does. Override `decide`; the rest as you need it. Each method may be async. */
export class Bot {
  name: string;
  version: string;
  /** What each request shall carry: any of "view", "events", "legal". The less, the faster. */
  want: string[];
  /** A file to which a line is added for each game that is over, for `arena verify --receipts`. Empty: none. */
  receipts: string;
  /** Begins a game. */
  start(game: GameStart): void | Promise<void>;
  /** Answers a request. */
  decide(request: Request): Answer | Promise<Answer>;
  /** Ends a game. */
  over(result: GameOver): void | Promise<void>;
}

/** What the bot saw and did in one game. */
export class Receipt {
  constructor(game: GameStart);
  /** Takes a request, and the `action` message that answers it. */
  add(request: Request, answer: Answer): void;
  /** Returns what to keep. */
  line(over: GameOver): Kept;
}

/**
 * Plays games with `bot` until the referee says goodbye. If the referee complains, cannot be understood, or did not
 * start this program, `run` writes that to stderr, and the exit status will be 1. What a method of the bot throws
 * rejects the promise: Node then writes it to stderr and ends the process with status 1.
 */
export function run(bot: Bot): Promise<void>;

/** Returns the frame of a message. Fields that are undefined are left out. */
export function encode(message: Payload): Uint8Array;

/** Returns the message in a frame. Throws an Error if it is not one msgpack map with a type. */
export function decode(frame: Uint8Array): Payload & { type: string };
