// The client's session with a referee, over a real socket: the bot runs in a process of its own.

"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { test } = require("node:test");

const { Router } = require("zeromq");
const { decode, encode } = require("../arena_bot.js");

const CLIENT = path.join(__dirname, "../arena_bot.js");

// Starts a bot whose class has these methods; `play` gets the referee's side. Returns how the process ended.
async function session(methods, play) {
  const folder = mkdtempSync(path.join(tmpdir(), "arena-"));
  const socket = new Router({ linger: 0, receiveTimeout: 20_000 });
  await socket.bind(`ipc://${folder}/referee`);
  const source = `const { Bot, run } = require(${JSON.stringify(CLIENT)}); run(new (class extends Bot { ${methods} })());`;
  const env = { ...process.env, ARENA_ENDPOINT: `ipc://${folder}/referee`, ARENA_TOKEN: "token-of-this-test" };
  const bot = spawn(process.execPath, ["--eval", source], { cwd: path.dirname(CLIENT), env });
  let stderr = "";
  bot.stderr.on("data", (text) => (stderr += text));
  const ended = new Promise((resolve) => bot.on("close", (status) => resolve({ status, stderr })));
  let identity;
  try {
    await play({
      receive: async () => {
        const [sender, frame] = await socket.receive();
        identity = sender;
        return decode(frame);
      },
      send: (type, fields) => socket.send([identity, encode({ type, ...fields })]),
    });
    return await ended;
  } finally {
    bot.kill("SIGKILL");
    socket.close();
    rmSync(folder, { recursive: true });
  }
}

const LATER = "const later = (value) => new Promise((resolve) => setTimeout(() => resolve(value), 20));";

test("a bot may take its time in any method: each is awaited", async () => {
  const methods = `
    async start() { ${LATER} this.seen = [await later("started")]; }
    async decide() { ${LATER} return { action: { plays: [{ seen: await later(this.seen) }] }, note: "slept" }; }
    async over() { ${LATER} this.seen.push(await later("over")); }`;
  const { status, stderr } = await session(methods, async ({ receive, send }) => {
    assert.strictEqual((await receive()).type, "hello");
    await send("welcome", { max_note: 1024 });
    await send("game_start", { game: 1 });
    assert.deepStrictEqual(await receive(), { type: "ready", game: 1 });
    await send("request", { id: 1 });
    const action = { plays: [{ seen: ["started"] }] };
    assert.deepStrictEqual(await receive(), { type: "action", id: 1, action, note: "slept" });
    await send("game_over", { game: 1 });
    await send("request", { id: 2 });
    assert.deepStrictEqual((await receive()).action, { plays: [{ seen: ["started", "over"] }] });
    await send("goodbye", {});
  });
  assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" });
});

test("a bot that decides at once need not be async, and a note of null is no note", async () => {
  const { status } = await session("decide() { return { action: { plays: [] }, note: null }; }", async (referee) => {
    await referee.receive();
    await referee.send("request", { id: 1 });
    assert.deepStrictEqual(await referee.receive(), { type: "action", id: 1, action: { plays: [] } });
    await referee.send("goodbye", {});
  });
  assert.strictEqual(status, 0);
});

for (const way of ["throw new Error('no idea')", "return Promise.reject(new Error('no idea'))"])
  test(`what a bot does not catch ends it with a trace: ${way}`, async () => {
    const { status, stderr } = await session(`decide() { ${way}; }`, async ({ receive, send }) => {
      await receive();
      await send("request", { id: 1 });
    });
    assert.strictEqual(status, 1);
    assert.match(stderr, /Error: no idea\n +at /);
  });
