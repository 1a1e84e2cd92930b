//! A bot for any game: it takes the first legal play of each request.

use std::process::ExitCode;

use arena_bot::{Answer, Bot, Result, Value, action, list, number, run};

struct First;

impl Bot for First {
    const WANT: &'static [&'static str] = &["legal"]; // "view" shows what your seat may know

    /// Answers a request. Your own idea goes here: which of the legal plays?
    fn decide(&mut self, request: &Value) -> Result<Answer> {
        let play = first_play(&request["legal"])?;
        // The note is kept in the log; no opponent sees it during the game.
        Ok((action([play]), "the first will do".to_owned()).into())
    }
}

/// The first legal play. The legal plays are an array of products; a product has, for each key of
/// a play, the values to choose from.
fn first_play(legal: &Value) -> Result<Value> {
    let product = legal[0].as_map().ok_or("expected a legal play")?;
    let entries = product
        .iter()
        .map(|(key, values)| Ok((key.clone(), first(values)?)));
    Ok(Value::Map(entries.collect::<Result<_>>()?))
}

/// The first of some values; several where the product says `{"choose": n, "of": [...]}`.
fn first(values: &Value) -> Result<Value> {
    if values.is_array() {
        return Ok(values[0].clone());
    }
    let choose = number(&values["choose"])?.try_into()?;
    Ok(list(&values["of"])?.iter().take(choose).cloned().collect())
}

fn main() -> ExitCode {
    run(First)
}
