//! The client of an arena bot, in one file. It needs the crates `zeromq` (with `tokio`, on which
//! that runs) and `rmpv`, and nothing else.
//!
//! Copy it beside your bot, implement [`Bot`], and call [`run`]:
//!
//! ```no_run
//! use arena_bot::{Answer, Bot, Result, Value, action, list, number, run};
//!
//! struct First; // takes the first legal play of every request, in any game
//!
//! impl Bot for First {
//!     const WANT: &'static [&'static str] = &["legal"];
//!
//!     fn decide(&mut self, request: &Value) -> Result<Answer> {
//!         let product = request["legal"][0].as_map().ok_or("expected a legal play")?;
//!         let entries = product.iter().map(|(key, values)| Ok((key.clone(), first(values)?)));
//!         let play = Value::Map(entries.collect::<Result<_>>()?);
//!         Ok(action([play]).into())
//!     }
//! }
//!
//! fn first(values: &Value) -> Result<Value> {
//!     if values.is_array() {
//!         return Ok(values[0].clone()); // choose one
//!     }
//!     let choose = number(&values["choose"])?.try_into()?;
//!     Ok(list(&values["of"])?.iter().take(choose).cloned().collect())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     run(First)
//! }
//! ```
//!
//! The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and
//! ARENA_TOKEN. Then:
//!
//! ```text
//! bot       hello                                       action    ready   (one answer to each)
//! referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
//! ```
//!
//! Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves
//! many games.
//!
//! In every game `request["legal"]` is an array of products: maps that give, for each key of a
//! play, the values it may have. They are an array to choose one from, or a map
//! `{"choose": n, "of": [...]}` to choose n from. The action is always a map `{"plays": [...]}`,
//! which [`action`] makes; each play has a chosen value for each key of one product. One play is
//! always enough.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use zeromq::{DealerSocket, Socket, SocketRecv, SocketSend};

/// A message or a part of one. `value["key"]` and `value[0]` read a part; a missing one is nil.
pub use rmpv::Value;

pub const PROTOCOL: &str = "1.0";

/// The error is for people: [`run`] writes it to stderr.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What a bot does. Implement `decide`; the rest as you need it. The process ends with status 1
/// after an error.
pub trait Bot {
    const NAME: &'static str = "";
    const VERSION: &'static str = "";
    /// What each request shall carry: any of "view", "events", "legal". The less, the faster.
    const WANT: &'static [&'static str] = &["view", "legal"];

    /// Begins a game. `game` is the `game_start` message: rules, options, seat, seats, board,
    /// bot_seed, ...
    fn start(&mut self, _game: &Value) -> Result<()> {
        Ok(())
    }

    /// Answers a request, which has the `kind` of decision, the `clock`, and what `WANT` asks for.
    fn decide(&mut self, request: &Value) -> Result<Answer>;

    /// Ends a game. `result` is the `game_over` message: termination, ranks, forfeits.
    fn over(&mut self, _result: &Value) {}
}

/// An action, and a note or none. `action.into()` and `(action, note).into()` make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// A map `{"plays": [...]}`.
    pub action: Value,
    /// What the bot was thinking, in a few words. It is kept in the log; no opponent sees it
    /// during the game.
    pub note: Option<String>,
}

impl From<Value> for Answer {
    fn from(action: Value) -> Self {
        Self { action, note: None }
    }
}

impl From<(Value, String)> for Answer {
    fn from((action, note): (Value, String)) -> Self {
        Self {
            action,
            note: Some(note),
        }
    }
}

/// Plays games with `bot` until the referee says goodbye. Returns the status to exit with.
pub fn run(bot: impl Bot) -> ExitCode {
    match play(bot) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play(bot: impl Bot) -> Result<()> {
    let (Ok(endpoint), Ok(token)) = (env::var("ARENA_ENDPOINT"), env::var("ARENA_TOKEN")) else {
        let expected = "expected ARENA_ENDPOINT and ARENA_TOKEN in the environment";
        return Err(format!("{expected}: arena's referee starts this program").into());
    };
    let mut session = Session::new(bot);
    // Neither the runtime nor the socket is ever dropped: the connection stays open until the
    // process ends. So the referee finds that a bot that fails or panics has ended, and not that
    // it lost the connection.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let runtime = Box::leak(Box::new(runtime));
    let socket = Box::leak(Box::new(DealerSocket::new()));
    runtime.block_on(async {
        let connected = socket.connect(&endpoint).await;
        connected.map_err(|error| format!("cannot connect to {endpoint}: {error}"))?;
        socket.send(session.hello(&token).into()).await?;
        loop {
            let frame: Vec<u8> = socket.recv().await?.try_into()?;
            match session.receive(&frame)? {
                Next::Send(frame) => socket.send(frame.into()).await?,
                Next::Fail(reason) => return Err(reason.into()),
                Next::Wait => {}
                Next::End => return Ok(()),
            }
        }
    })
}

/// A session without its socket: which message follows which.
pub struct Session<B> {
    bot: B,
    /// Bytes that a note may have.
    max_note: usize,
}

/// What there is to do after a message from the referee.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Send this frame.
    Send(Vec<u8>),
    Wait,
    End,
    /// End for this reason: the referee complains.
    Fail(String),
}

impl<B: Bot> Session<B> {
    pub fn new(bot: B) -> Self {
        Self {
            bot,
            max_note: 1024,
        }
    }

    /// The frame that opens the session.
    pub fn hello(&self, token: &str) -> Vec<u8> {
        encode(&map([
            ("type", "hello".into()),
            ("token", token.into()),
            ("protocol", PROTOCOL.into()),
            ("name", B::NAME.into()),
            ("version", B::VERSION.into()),
            ("want", B::WANT.iter().copied().collect()),
        ]))
    }

    /// Takes a frame from the referee. After an error the session cannot go on: the frame was no
    /// message, or the bot has no answer.
    pub fn receive(&mut self, frame: &[u8]) -> Result<Next> {
        let message = decode(frame)?;
        let kind = text(&message["type"])?;
        let next = self.handle(kind, &message);
        next.map_err(|error| format!("{kind}: {error}").into())
    }

    fn handle(&mut self, kind: &str, message: &Value) -> Result<Next> {
        match kind {
            "request" => {
                let answer = self.bot.decide(message)?;
                let note = answer
                    .note
                    .map(|note| ("note", cut(&note, self.max_note).into()));
                let fields = [
                    ("type", "action".into()),
                    ("id", message["id"].clone()),
                    ("action", answer.action),
                ];
                Ok(Next::Send(encode(&map(fields.into_iter().chain(note)))))
            }
            "game_start" => {
                self.bot.start(message)?;
                let fields = [("type", "ready".into()), ("game", message["game"].clone())];
                Ok(Next::Send(encode(&map(fields))))
            }
            "game_over" => {
                self.bot.over(message);
                Ok(Next::Wait)
            }
            "welcome" => {
                self.max_note = number(&message["max_note"])?.try_into()?;
                Ok(Next::Wait)
            }
            "error" => {
                let (code, reason) = (text(&message["code"])?, message["message"].as_str());
                Ok(Next::Fail(format!(
                    "referee: {code}: {}",
                    reason.unwrap_or("")
                )))
            }
            "goodbye" => Ok(Next::End),
            // Any other type belongs to a later version of the protocol, and is ignored.
            _ => Ok(Next::Wait),
        }
    }
}

/// The message in a frame.
pub fn decode(mut frame: &[u8]) -> Result<Value> {
    let size = frame.len();
    match rmpv::decode::read_value(&mut frame) {
        Ok(message) if frame.is_empty() && text(&message["type"]).is_ok() => Ok(message),
        _ => {
            let expected = "expected one msgpack map with a type in each frame";
            Err(format!("{expected}, got: {size} bytes that are none").into())
        }
    }
}

/// The frame of a message.
pub fn encode(message: &Value) -> Vec<u8> {
    let mut frame = Vec::new();
    rmpv::encode::write_value(&mut frame, message).expect("a vector takes all that is written");
    frame
}

/// An action that makes some plays, each a map.
pub fn action(plays: impl IntoIterator<Item = Value>) -> Value {
    map([("plays", plays.into_iter().collect())])
}

/// A map with these keys and values.
pub fn map<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Map(
        fields
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect(),
    )
}

/// The string that a value must be.
pub fn text(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(|| unlike("a string", value))
}

/// The integer that a value must be.
pub fn number(value: &Value) -> Result<i64> {
    value.as_i64().ok_or_else(|| unlike("an integer", value))
}

/// The elements of the array that a value must be.
pub fn list(value: &Value) -> Result<&[Value]> {
    value
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| unlike("an array", value))
}

fn unlike(expected: &str, got: &Value) -> Box<dyn Error> {
    format!("expected {expected}, got: {}", cut(&got.to_string(), 60)).into()
}

/// The beginning of a text, of at most `size` bytes, cut between characters.
fn cut(text: &str, size: usize) -> &str {
    let end = (0..=size.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
