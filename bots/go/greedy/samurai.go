package main

import (
	"fmt"
	"slices"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// Caste is a caste, as its place in caste order.
type Caste int

// Tile is a tile, as its place in tile order.
type Tile int

const (
	castes = 3
	tiles  = 17

	switchTile Tile = 15
	moveTile   Tile = 16
	noTile     Tile = -1
)

var casteNames = []string{"buddha", "rice", "castle"}

// tileTable says what the tiles are: their names, what they cost to give away, whether they are fast under every
// option, and how much they count for each caste.
var tileTable = [tiles]struct {
	name  string
	cost  int
	fast  bool
	value [castes]int
}{
	{name: "buddha2", cost: 30, value: [castes]int{2, 0, 0}},
	{name: "buddha3", cost: 60, value: [castes]int{3, 0, 0}},
	{name: "buddha4", cost: 100, value: [castes]int{4, 0, 0}},
	{name: "rice2", cost: 30, value: [castes]int{0, 2, 0}},
	{name: "rice3", cost: 60, value: [castes]int{0, 3, 0}},
	{name: "rice4", cost: 100, value: [castes]int{0, 4, 0}},
	{name: "castle2", cost: 30, value: [castes]int{0, 0, 2}},
	{name: "castle3", cost: 60, value: [castes]int{0, 0, 3}},
	{name: "castle4", cost: 100, value: [castes]int{0, 0, 4}},
	{name: "samurai1", cost: 15, value: [castes]int{1, 1, 1}},
	{name: "samurai2", cost: 60, value: [castes]int{2, 2, 2}},
	{name: "samurai3", cost: 120, value: [castes]int{3, 3, 3}},
	{name: "ship1", cost: 30, fast: true, value: [castes]int{1, 1, 1}},
	{name: "ship2", cost: 60, fast: true, value: [castes]int{2, 2, 2}},
	{name: "ronin1", cost: 45, fast: true, value: [castes]int{1, 1, 1}},
	{name: "switch", cost: 150, fast: true},
	{name: "move", cost: 150},
}

func (c Caste) String() string { return casteNames[c] }
func (t Tile) String() string  { return tileTable[t].name }

// EncodeMsgpack writes the caste's name.
func (c Caste) EncodeMsgpack(encoder *msgpack.Encoder) error { return encoder.EncodeString(c.String()) }

// EncodeMsgpack writes the tile's name.
func (t Tile) EncodeMsgpack(encoder *msgpack.Encoder) error { return encoder.EncodeString(t.String()) }

// DecodeMsgpack reads the caste's name.
func (c *Caste) DecodeMsgpack(decoder *msgpack.Decoder) error {
	name, err := decoder.DecodeString()
	if err != nil {
		return err
	}
	for i := Caste(0); i < castes; i++ {
		if i.String() == name {
			*c = i
			return nil
		}
	}
	return fmt.Errorf("expected a caste, got: %q", name)
}

// DecodeMsgpack reads the tile's name.
func (t *Tile) DecodeMsgpack(decoder *msgpack.Decoder) error {
	name, err := decoder.DecodeString()
	if err != nil {
		return err
	}
	for i := Tile(0); i < tiles; i++ {
		if i.String() == name {
			*t = i
			return nil
		}
	}
	return fmt.Errorf("expected a tile, got: %q", name)
}

// View is what a request shows, as far as greedy looks at it.
type View struct {
	Pieces map[Caste][]int `msgpack:"pieces"`
	Supply map[Caste]int   `msgpack:"supply"`
	Tiles  []OnBoard       `msgpack:"tiles"`
	Hand   []Tile          `msgpack:"hand"`
}

// OnBoard is a tile on the board.
type OnBoard struct {
	_msgpack struct{} `msgpack:",as_array"`

	Space int
	Seat  int
	Tile  Tile
}

// Product stands for all combinations of one value of each of its keys; it has the keys that its plays need.
type Product struct {
	Tile      []Tile  `msgpack:"tile"`
	Space     []int   `msgpack:"space"`
	Caste     []Caste `msgpack:"caste"`
	With      []int   `msgpack:"with"`
	WithCaste []Caste `msgpack:"with_caste"`
	From      []int   `msgpack:"from"`
	To        []int   `msgpack:"to"`
}

// Board is the board of a game, and those of its options that matter here.
type Board struct {
	seat    int
	seats   int
	instant bool        // pieces are captured within a turn, which changes what else can be played
	fast    [tiles]bool // which tiles are
	isLast  bool        // whether nothing follows a tile that is not fast
	isLand  []bool
	around  [][]int // the neighbours of a space
	beside  [][]int // the settlements next to a space that takes tiles; none for a settlement
}

func newBoard(game *arenabot.GameStart) (*Board, error) {
	var layout struct {
		Spaces []struct {
			Kind       string `msgpack:"kind"`
			Neighbours []int  `msgpack:"neighbours"`
		} `msgpack:"spaces"`
	}
	if err := msgpack.Unmarshal(game.Board, &layout); err != nil {
		return nil, err
	}
	b := &Board{seat: game.Seat, seats: game.Seats, instant: game.Options["captures"] == "instant"}
	for i, entry := range tileTable {
		b.fast[i] = entry.fast
	}
	b.fast[moveTile] = game.Options["move_is_fast"] == "yes"
	if game.Options["fast"] == "specials" {
		b.fast = [tiles]bool{switchTile: true, moveTile: true}
		b.isLast = true
	}
	isSettlement := func(space int) bool {
		return slices.Contains([]string{"village", "city", "edo"}, layout.Spaces[space].Kind)
	}
	for i, space := range layout.Spaces {
		var beside []int
		for _, near := range space.Neighbours {
			if !isSettlement(i) && isSettlement(near) {
				beside = append(beside, near)
			}
		}
		b.isLand = append(b.isLand, space.Kind == "land")
		b.around = append(b.around, space.Neighbours)
		b.beside = append(b.beside, beside)
	}
	return b, nil
}
