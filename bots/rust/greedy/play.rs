//! Plays of a turn, as a request has them, as a bot ranks them, and as an action holds them.

use std::fmt;

use arena_bot::{Result, Value, list, map};

use crate::samurai::{Board, CASTES, MOVE, SWITCH, TILES, caste, tile_named};

/// A play of a turn. Their order is that of the keys in bots/README.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Play {
    pub tile: usize,
    /// The value of each of the tile's keys, in order; the rest is 0.
    pub at: [usize; 4],
}

/// What a play of a tile names beside the tile.
fn keys(tile: usize) -> &'static [&'static str] {
    match tile {
        SWITCH => &["space", "caste", "with", "with_caste"],
        MOVE => &["from", "to"],
        _ => &["space"],
    }
}

fn is_caste(key: &str) -> bool {
    key.ends_with("caste")
}

/// The values that a product has for a key.
fn values(board: &Board, product: &Value, key: &str) -> Result<Vec<usize>> {
    let values = list(&product[key])?.iter();
    if is_caste(key) {
        values.map(caste).collect()
    } else {
        values.map(|space| board.space(space)).collect()
    }
}

impl Play {
    /// The legal first plays of a turn: of each product, every combination of one value a key.
    pub fn all(board: &Board, products: &Value) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for product in list(products)? {
            for tile in list(&product["tile"])? {
                let tile = tile_named(tile)?;
                let mut plays = vec![Self { tile, at: [0; 4] }];
                for (index, key) in keys(tile).iter().enumerate() {
                    let values = values(board, product, key)?;
                    let with = |play: &Self, value| {
                        let mut at = play.at;
                        at[index] = value;
                        Self { tile, at }
                    };
                    let longer = |play| values.iter().map(move |value| with(play, *value));
                    plays = plays.iter().flat_map(longer).collect();
                }
                all.extend(plays);
            }
        }
        Ok(all)
    }

    /// The space that it fills.
    pub fn filled(&self) -> Option<usize> {
        match self.tile {
            SWITCH => None,
            MOVE => Some(self.at[1]),
            _ => Some(self.at[0]),
        }
    }

    /// The play as an action holds it.
    pub fn value(&self) -> Value {
        let at = keys(self.tile).iter().zip(self.at);
        let parts = at.map(|(key, at)| match is_caste(key) {
            true => (*key, CASTES[at].into()),
            false => (*key, at.into()),
        });
        map([("tile", TILES[self.tile].name.into())]
            .into_iter()
            .chain(parts))
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(TILES[self.tile].name)?;
        keys(self.tile)
            .iter()
            .zip(self.at)
            .try_for_each(|(key, at)| match is_caste(key) {
                true => write!(f, " {}", CASTES[at]),
                false => write!(f, " {at}"),
            })
    }
}
