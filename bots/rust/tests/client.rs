//! The client against the vectors of protocol/vectors, and a session without a socket.

use std::fs;
use std::path::Path;

use arena_bot::{
    Answer, Bot, Next, Result, Session, Value, action, decode, encode, list, map, text,
};
use serde_json::Value as Json;

/// The vectors of the files in a folder that come from `sender`.
fn vectors(folder: &str, sender: &str) -> Vec<Json> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocol/vectors");
    let files = fs::read_dir(home.join(folder)).expect("the vectors lie beside the bots");
    let mut found = Vec::new();
    for file in files {
        let page = fs::read(file.unwrap().path()).unwrap();
        let page: Json = serde_json::from_slice(&page).unwrap();
        let vectors = page["vectors"].as_array().unwrap().iter();
        found.extend(vectors.filter(|vector| vector["from"] == sender).cloned());
    }
    assert!(!found.is_empty());
    found
}

/// The bytes of `hex`: parts separated by blanks, each of which may be repeated by `*count`.
fn bytes(hex: &Json) -> Vec<u8> {
    let parts = hex.as_str().unwrap().split_whitespace().flat_map(|part| {
        let (digits, count) = part.split_once('*').unwrap_or((part, "1"));
        let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        bytes.repeat(count.parse().unwrap())
    });
    parts.collect()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => number.as_i64().expect("an integer").into(),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(fields) => map(fields.iter().map(|(key, part)| (key.as_str(), value(part)))),
    }
}

/// Whether `whole` is `part`, but for fields of maps that `part` does not have.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Map(_), Value::Map(fields)) => fields
            .iter()
            .all(|(key, part)| contains(&whole[text(key).unwrap()], part)),
        (Value::Array(whole), Value::Array(part)) => {
            let mut pairs = whole.iter().zip(part);
            whole.len() == part.len() && pairs.all(|(whole, part)| contains(whole, part))
        }
        _ => whole == part,
    }
}

/// Answers with its note; or, without one, finds no answer.
struct Talker(Option<String>);

impl Bot for Talker {
    const NAME: &'static str = "talker";
    const VERSION: &'static str = "0.3";
    const WANT: &'static [&'static str] = &["view", "legal"];

    fn decide(&mut self, _request: &Value) -> Result<Answer> {
        let note = self.0.clone().ok_or("nothing to say")?;
        Ok((action([]), note).into())
    }
}

fn session(note: &str) -> Session<Talker> {
    Session::new(Talker(Some(note.to_owned())))
}

fn message<'a>(kind: &str, fields: impl IntoIterator<Item = (&'a str, Value)>) -> Vec<u8> {
    encode(&map([("type", kind.into())].into_iter().chain(fields)))
}

/// What the session sends in answer to a message.
fn reply(session: &mut Session<Talker>, frame: &[u8]) -> Value {
    match session.receive(frame).unwrap() {
        Next::Send(frame) => decode(&frame).unwrap(),
        next => panic!("expected a reply, got: {next:?}"),
    }
}

#[test]
fn what_the_referee_sends_is_read() {
    for vector in vectors("valid", "referee") {
        let read = decode(&bytes(&vector["hex"])).unwrap();
        let expected = &vector["decoded"];
        assert!(
            expected.is_null() || contains(&read, &value(expected)),
            "{vector}"
        );
    }
}

#[test]
fn a_session_takes_what_the_referee_sends_and_ignores_what_is_unknown() {
    for vector in vectors("valid", "referee") {
        let next = session("").receive(&bytes(&vector["hex"])).unwrap();
        assert!(
            !vector["decoded"].is_null() || next == Next::Wait,
            "{vector}"
        );
    }
}

#[test]
fn what_a_bot_sends_can_be_read() {
    for vector in vectors("valid", "bot") {
        let expected = value(&vector["decoded"]);
        if !expected.is_nil() {
            assert_eq!(decode(&encode(&expected)).unwrap(), expected, "{vector}");
        }
    }
}

#[test]
fn an_invalid_frame_does_no_harm() {
    for vector in vectors("invalid", "referee") {
        // Whether it is refused is left to the client; no frame may make it panic.
        drop(session("").receive(&bytes(&vector["hex"])));
    }
}

#[test]
fn a_frame_that_is_no_message_is_refused() {
    let goodbye = message("goodbye", []);
    let beyond = [&goodbye[..], b"\xc0"].concat();
    let (cut, deep) = (&goodbye[..goodbye.len() - 1], [0x81; 4096]);
    let typeless = encode(&map([("type", 3.into())]));
    let frames = [
        &[],
        &b"\xc1"[..],
        b"\xc0",
        b"\x93\x01",
        b"\xdd\xff\xff\xff\xff",
        cut,
        &deep,
        &beyond,
        &typeless,
    ];
    for frame in frames {
        let error = session("").receive(frame).unwrap_err().to_string();
        let expected = "expected one msgpack map with a type in each frame";
        let got = format!("{} bytes that are none", frame.len());
        assert_eq!(error, format!("{expected}, got: {got}"));
    }
}

#[test]
fn hello_tells_who_the_bot_is_and_what_it_wants() {
    let hello = decode(&session("").hello("3c0ffee")).unwrap();
    let fields = [
        ("type", "hello".into()),
        ("token", "3c0ffee".into()),
        ("protocol", "1.0".into()),
        ("name", "talker".into()),
        ("version", "0.3".into()),
        ("want", ["view", "legal"].into_iter().collect()),
    ];
    assert_eq!(hello, map(fields));
}

#[test]
fn a_whole_session() {
    let mut session = session("done");
    let welcome = message("welcome", [("max_note", 1024.into())]);
    assert_eq!(session.receive(&welcome).unwrap(), Next::Wait);
    let ready = reply(&mut session, &message("game_start", [("game", 1.into())]));
    assert_eq!(ready, map([("type", "ready".into()), ("game", 1.into())]));
    let action = reply(&mut session, &message("request", [("id", 9.into())]));
    assert_eq!(
        (&action["type"], &action["id"]),
        (&"action".into(), &9.into())
    );
    assert!(list(&action["action"]["plays"]).unwrap().is_empty());
    assert_eq!(action["note"], "done".into());
    assert_eq!(session.receive(&message("pause", [])).unwrap(), Next::Wait);
    assert_eq!(
        session.receive(&message("game_over", [])).unwrap(),
        Next::Wait
    );
    assert_eq!(session.receive(&message("goodbye", [])).unwrap(), Next::End);
}

#[test]
fn an_answer_without_a_note_has_none() {
    struct Silent;
    impl Bot for Silent {
        fn decide(&mut self, _request: &Value) -> Result<Answer> {
            Ok(map([]).into())
        }
    }
    let Next::Send(frame) = Session::new(Silent)
        .receive(&message("request", []))
        .unwrap()
    else {
        panic!("expected an action");
    };
    assert_eq!(decode(&frame).unwrap().as_map().unwrap().len(), 3);
}

#[test]
fn a_long_note_is_cut_between_characters() {
    let mut session = session(&"€".repeat(2000));
    let request = message("request", [("id", 1.into())]);
    assert_eq!(
        reply(&mut session, &request)["note"],
        "€".repeat(341).into()
    );
    session
        .receive(&message("welcome", [("max_note", 100.into())]))
        .unwrap();
    assert_eq!(reply(&mut session, &request)["note"], "€".repeat(33).into());
}

#[test]
fn a_complaint_of_the_referee_ends_the_session() {
    let fields = [
        ("code", "timeout".into()),
        ("message", "too late by 240 ms".into()),
    ];
    let next = session("").receive(&message("error", fields)).unwrap();
    assert_eq!(
        next,
        Next::Fail("referee: timeout: too late by 240 ms".into())
    );
}

#[test]
fn a_bot_that_has_no_answer_ends_the_session() {
    let mut session = Session::new(Talker(None));
    let error = session
        .receive(&message("request", [("id", 1.into())]))
        .unwrap_err();
    assert_eq!(error.to_string(), "request: nothing to say");
}
