//! Plays what gains most at once, by a count of influence. `bots/README.md` specifies it number by
//! number.

mod play;
mod samurai;

use std::cmp::Reverse;
use std::process::ExitCode;

use arena_bot::{Answer, Bot, Result, Value, action, list, map, number, run, text};
use play::Play;
use samurai::{Board, CASTES, MOVE, Position, SWITCH, TILES, caste, tile_named};

/// The first hand.
const HAND: [&str; 5] = ["samurai3", "samurai2", "samurai2", "ship2", "ronin1"];

/// What a piece is worth to a seat, by empty land spaces around (4 or more are one row) and by
/// lead, from -6 to 6.
const WORTH: [[i32; 13]; 5] = [
    [
        -600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600,
    ],
    [
        -420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420,
    ],
    [
        -300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320,
    ],
    [
        -250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260,
    ],
    [
        -210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210,
    ],
];

/// What it costs to give a tile away.
const COST: [i32; TILES.len()] = [
    30, 60, 100, 30, 60, 100, 30, 60, 100, 15, 60, 120, 30, 60, 45, 150, 150,
];

/// What a piece at a settlement is worth with so much more lead, and so many spaces filled.
fn worth(position: &Position, settlement: usize, caste: usize, more: i32, filled: usize) -> i32 {
    let empty = position.empty[settlement].saturating_sub(filled).min(4);
    let lead = (position.lead[settlement][caste] + more).clamp(-6, 6);
    WORTH[empty][(lead + 6) as usize]
}

/// The gain at a settlement where a tile's influence is added (1), stays (0) or goes (-1).
fn change(position: &Position, settlement: usize, tile: usize, added: i32, filled: usize) -> i32 {
    let castes = (0..CASTES.len()).filter(|caste| position.pieces[settlement][*caste]);
    castes
        .map(|caste| {
            let more = added * TILES[tile].value[caste];
            worth(position, settlement, caste, more, filled)
                - worth(position, settlement, caste, 0, 0)
        })
        .sum()
}

/// What a play gains, before what its tile costs.
fn gain(board: &Board, position: &Position, play: &Play) -> i32 {
    let (tile, left, to) = match (play.tile, play.at) {
        (SWITCH, [space, caste, with, with_caste]) => {
            let worth = |settlement, caste| worth(position, settlement, caste, 0, 0);
            return worth(space, with_caste) - worth(space, caste) + worth(with, caste)
                - worth(with, with_caste);
        }
        (MOVE, [from, to, ..]) => match position.tiles[from] {
            Some((_, tile)) => (tile, board.beside[from].as_slice(), to),
            None => return 0,
        },
        (tile, [space, ..]) => (tile, [].as_slice(), space),
    };
    let reached = &board.beside[to];
    let filled = usize::from(board.is_land[to]);
    let gained = reached.iter().map(|settlement| {
        let added = i32::from(!left.contains(settlement));
        change(position, *settlement, tile, added, filled)
    });
    let lost = left
        .iter()
        .filter(|settlement| !reached.contains(settlement));
    gained
        .chain(lost.map(|settlement| change(position, *settlement, tile, -1, 0)))
        .sum()
}

#[derive(Default)]
struct Greedy {
    board: Board,
}

impl Greedy {
    fn hand(&self) -> Answer {
        let hand = HAND.into_iter().collect();
        (
            action([map([("hand", hand)])]),
            "strength for every caste".to_owned(),
        )
            .into()
    }

    /// Put a caste near pieces of its own, so that one tile serves two; else keep the supply even.
    fn setup(&self, view: &Value, legal: &Value) -> Result<Answer> {
        let position = Position::new(&self.board, view)?;
        let mut best = None;
        for product in list(legal)? {
            for name in list(&product["caste"])? {
                let caste = caste(name)?;
                let supply = number(&view["supply"][CASTES[caste]])?;
                for space in list(&product["space"])? {
                    let space = self.board.space(space)?;
                    let near = &self.board.near[space];
                    let kin = near.iter().flat_map(|near| &self.board.beside[*near]);
                    let kin = kin.filter(|kin| **kin != space && position.pieces[**kin][caste]);
                    let score = supply + 2 * kin.count() as i64;
                    best = best.max(Some((score, Reverse((caste, space)))));
                }
            }
        }
        let (score, Reverse((caste, space))) = best.ok_or("expected a legal piece, got: none")?;
        let play = map([("caste", CASTES[caste].into()), ("space", space.into())]);
        Ok((action([play]), format!("score {score}")).into())
    }

    /// Take the play with the highest score, then others as long as they gain.
    fn turn(&self, view: &Value, legal: &Value) -> Result<Answer> {
        let board = &self.board;
        let mut position = Position::new(board, view)?;
        let mut hand = [0; TILES.len()];
        for tile in list(&view["hand"])? {
            hand[tile_named(tile)?] += 1;
        }
        let mut plays = Play::all(board, legal)?;
        let (mut made, mut notes) = (Vec::new(), Vec::new());
        loop {
            let score = |play: &Play| gain(board, &position, play) - COST[play.tile];
            let best = plays.iter().map(|play| (score(play), Reverse(*play))).max();
            let Some((score, Reverse(play))) = best else {
                break;
            };
            if score <= 0 && !made.is_empty() {
                break;
            }
            made.push(play.value());
            notes.push(format!("{play} {score:+}"));
            position.make(&play);
            if board.instant && position.captures() {
                break;
            }
            hand[play.tile] -= 1;
            plays.retain(|next| {
                hand[next.tile] > 0
                    && board.follows(next.tile, play.tile)
                    && (play.filled().is_none() || next.filled() != play.filled())
            });
        }
        if made.is_empty() {
            return Err("expected a legal play, got: none".into());
        }
        Ok((action(made), notes.join("; ")).into())
    }
}

impl Bot for Greedy {
    const NAME: &'static str = "greedy-rust";
    const VERSION: &'static str = "1.0";

    fn start(&mut self, game: &Value) -> Result<()> {
        self.board = Board::new(game)?;
        Ok(())
    }

    fn decide(&mut self, request: &Value) -> Result<Answer> {
        let (view, legal) = (&request["view"], &request["legal"]);
        match text(&request["kind"])? {
            "hand" => Ok(self.hand()),
            "setup" => self.setup(view, legal),
            "turn" => self.turn(view, legal),
            kind => {
                Err(format!("expected a request of kind hand, setup or turn, got: {kind}").into())
            }
        }
    }
}

fn main() -> ExitCode {
    run(Greedy::default())
}
