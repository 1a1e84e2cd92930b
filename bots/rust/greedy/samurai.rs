//! What a bot for Samurai must know: the tiles, the board, and who influences what.

use arena_bot::{Result, Value, list, number, text};

use crate::play::Play;

/// A caste is its index here.
pub const CASTES: [&str; 3] = ["buddha", "rice", "castle"];

pub struct Tile {
    pub name: &'static str,
    /// What it adds to its owner's influence, by caste.
    pub value: [i32; CASTES.len()],
    /// By the table of tiles: see `Board::is_fast`.
    fast: bool,
}

const fn tile(name: &'static str, value: [i32; CASTES.len()], fast: bool) -> Tile {
    Tile { name, value, fast }
}

/// A tile is its index here.
pub const TILES: [Tile; 17] = [
    tile("buddha2", [2, 0, 0], false),
    tile("buddha3", [3, 0, 0], false),
    tile("buddha4", [4, 0, 0], false),
    tile("rice2", [0, 2, 0], false),
    tile("rice3", [0, 3, 0], false),
    tile("rice4", [0, 4, 0], false),
    tile("castle2", [0, 0, 2], false),
    tile("castle3", [0, 0, 3], false),
    tile("castle4", [0, 0, 4], false),
    tile("samurai1", [1, 1, 1], false),
    tile("samurai2", [2, 2, 2], false),
    tile("samurai3", [3, 3, 3], false),
    tile("ship1", [1, 1, 1], true),
    tile("ship2", [2, 2, 2], true),
    tile("ronin1", [1, 1, 1], true),
    tile("switch", [0, 0, 0], true),
    tile("move", [0, 0, 0], false),
];
pub const SWITCH: usize = 15;
pub const MOVE: usize = 16;

/// The caste of this name.
pub fn caste(name: &Value) -> Result<usize> {
    let name = text(name)?;
    let caste = CASTES.iter().position(|caste| *caste == name);
    caste.ok_or_else(|| format!("expected a caste, got: {name}").into())
}

/// The tile of this name.
pub fn tile_named(name: &Value) -> Result<usize> {
    let name = text(name)?;
    let tile = TILES.iter().position(|tile| tile.name == name);
    tile.ok_or_else(|| format!("expected a tile, got: {name}").into())
}

/// The board of a game, and those of its options that matter here. A space is its number.
#[derive(Default)]
pub struct Board {
    seat: usize,
    seats: usize,
    /// Only switch and move are fast, and nothing follows another tile.
    only_specials: bool,
    move_is_fast: bool,
    /// Whether pieces are captured within a turn, which changes what else can be played.
    pub instant: bool,
    pub is_land: Vec<bool>,
    /// The spaces next to each space.
    pub near: Vec<Vec<usize>>,
    /// The settlements next to each space that takes tiles; none for a settlement.
    pub beside: Vec<Vec<usize>>,
}

impl Board {
    /// The board that the message `game_start` describes.
    pub fn new(game: &Value) -> Result<Self> {
        let spaces = list(&game["board"]["spaces"])?;
        let kinds = spaces
            .iter()
            .map(|space| text(&space["kind"]))
            .collect::<Result<Vec<_>>>()?;
        let mut board = Self {
            seats: number(&game["seats"])?.try_into()?,
            only_specials: text(&game["options"]["fast"])? == "specials",
            move_is_fast: text(&game["options"]["move_is_fast"])? == "yes",
            instant: text(&game["options"]["captures"])? == "instant",
            is_land: kinds.iter().map(|kind| *kind == "land").collect(),
            ..Self::default()
        };
        board.seat = board.seat(&game["seat"])?;
        for space in spaces {
            let near = list(&space["neighbours"])?
                .iter()
                .map(|space| board.space(space));
            board.near.push(near.collect::<Result<_>>()?);
        }
        let is_settlement = |space: usize| matches!(kinds[space], "village" | "city" | "edo");
        let beside = board.near.iter().enumerate().map(|(space, near)| {
            let settlements = near.iter().copied().filter(|near| is_settlement(*near));
            if is_settlement(space) {
                Vec::new()
            } else {
                settlements.collect()
            }
        });
        board.beside = beside.collect();
        Ok(board)
    }

    /// The space of this number.
    pub fn space(&self, space: &Value) -> Result<usize> {
        below(self.is_land.len(), space)
    }

    fn seat(&self, seat: &Value) -> Result<usize> {
        below(self.seats, seat)
    }

    pub fn is_fast(&self, tile: usize) -> bool {
        if self.only_specials {
            return tile == SWITCH || tile == MOVE;
        }
        TILES[tile].fast || (tile == MOVE && self.move_is_fast)
    }

    /// Whether a tile may follow another in a turn.
    pub fn follows(&self, tile: usize, made: usize) -> bool {
        self.is_fast(made) || (self.is_fast(tile) && !self.only_specials)
    }
}

fn below(limit: usize, value: &Value) -> Result<usize> {
    let index = usize::try_from(number(value)?)
        .ok()
        .filter(|index| *index < limit);
    index.ok_or_else(|| format!("expected a number below {limit}, got: {value}").into())
}

/// What lies on the board, and each settlement's balance of influence as this seat sees it.
pub struct Position<'a> {
    board: &'a Board,
    /// By space: which castes have a piece there.
    pub pieces: Vec<[bool; CASTES.len()]>,
    /// By space: the seat and the tile there.
    pub tiles: Vec<Option<(usize, usize)>>,
    /// By space: how many land spaces next to it hold no tile.
    pub empty: Vec<usize>,
    /// By space and caste: this seat's influence there less that of its strongest rival.
    pub lead: Vec<[i32; CASTES.len()]>,
}

impl<'a> Position<'a> {
    /// The position that a request's view shows.
    pub fn new(board: &'a Board, view: &Value) -> Result<Self> {
        let spaces = board.is_land.len();
        let mut position = Self {
            board,
            pieces: vec![[false; CASTES.len()]; spaces],
            tiles: vec![None; spaces],
            empty: vec![0; spaces],
            lead: vec![[0; CASTES.len()]; spaces],
        };
        for (caste, name) in CASTES.iter().enumerate() {
            for space in list(&view["pieces"][*name])? {
                position.pieces[board.space(space)?][caste] = true;
            }
        }
        for entry in list(&view["tiles"])? {
            let tile = (board.seat(&entry[1])?, tile_named(&entry[2])?);
            position.tiles[board.space(&entry[0])?] = Some(tile);
        }
        position.weigh();
        Ok(position)
    }

    /// Whether a settlement with pieces is surrounded.
    pub fn captures(&self) -> bool {
        let mut settlements = self.pieces.iter().zip(&self.empty);
        settlements.any(|(pieces, empty)| *empty == 0 && pieces.contains(&true))
    }

    /// Go on to the position after a play of this seat.
    pub fn make(&mut self, play: &Play) {
        match (play.tile, play.at) {
            (SWITCH, [space, caste, with, with_caste]) => {
                self.pieces[space][caste] = false;
                self.pieces[with][with_caste] = false;
                self.pieces[space][with_caste] = true;
                self.pieces[with][caste] = true;
            }
            (tile, [space, to, ..]) => {
                if tile == MOVE {
                    self.tiles[to] = self.tiles[space];
                }
                self.tiles[space] = Some((self.board.seat, tile));
            }
        }
        self.weigh();
    }

    /// Work out `empty` and `lead` of every settlement with pieces.
    fn weigh(&mut self) {
        for (space, pieces) in self.pieces.iter().enumerate() {
            if !pieces.contains(&true) {
                continue;
            }
            let near = &self.board.near[space];
            let is_empty =
                |near: &&usize| self.board.is_land[**near] && self.tiles[**near].is_none();
            self.empty[space] = near.iter().filter(is_empty).count();
            let mut totals = vec![[0; CASTES.len()]; self.board.seats];
            for (seat, tile) in near.iter().filter_map(|near| self.tiles[*near]) {
                for (total, value) in totals[seat].iter_mut().zip(TILES[tile].value) {
                    *total += value;
                }
            }
            let own = totals.swap_remove(self.board.seat);
            self.lead[space] = std::array::from_fn(|caste| {
                own[caste] - totals.iter().map(|rival| rival[caste]).max().unwrap_or(0)
            });
        }
    }
}
