//! A bot to begin with: it takes the first legal play of each request, in whichever game.

use std::process::ExitCode;

use arena_bot::{Answer, Bot, Result, Value, list, map, number, run, text};

struct First;

impl Bot for First {
    const WANT: &'static [&'static str] = &["legal"]; // "view" shows what your seat may know

    fn decide(&mut self, request: &Value) -> Result<Answer> {
        let legal = &request["legal"];
        // Your own idea goes here: which of the legal plays?
        let action = match text(&request["kind"])? {
            // Samurai: the first hand, some tiles of those that are offered.
            "hand" => {
                let count = number(&legal["choose"])? as usize;
                let tiles = list(&legal["hand"])?.iter().take(count);
                map([("hand", tiles.cloned().collect())])
            }
            // Samurai: the plays of a turn; one is always enough.
            "turn" => map([("plays", vec![first(&legal["plays"])?].into())]),
            // Gardener: the rows to score; one is always enough.
            "score" => map([("rows", vec![first(&legal["score"])?].into())]),
            // Samurai's "setup", Gardener's "seize" and "plant": the action is the play.
            kind => first(&legal[kind])?,
        };
        Ok((action, "the first play will do".to_owned()).into())
    }
}

/// The first legal play. Legal plays are an array of products; each is a map from keys to the
/// values they may have, and one value for each key makes a play.
fn first(products: &Value) -> Result<Value> {
    let product = products[0].as_map().ok_or("expected a legal play")?;
    let entries = product
        .iter()
        .map(|(key, values)| (key.clone(), values[0].clone()));
    Ok(Value::Map(entries.collect()))
}

fn main() -> ExitCode {
    run(First)
}
