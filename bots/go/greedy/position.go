package main

import "slices"

// worthTable says what a piece is worth to a seat, by the empty land spaces around it (4 or more are one row) and by
// the seat's lead, from -6 to 6.
var worthTable = [5][13]int{
	{-600, -600, -600, -600, -600, -600, 0, 600, 600, 600, 600, 600, 600},
	{-420, -360, -330, -300, -270, -240, -180, -60, 0, 60, 150, 300, 420},
	{-300, -260, -220, -180, -130, -60, 0, 70, 140, 200, 250, 290, 320},
	{-250, -210, -170, -130, -90, -45, 0, 50, 100, 150, 190, 230, 260},
	{-210, -175, -140, -105, -70, -35, 0, 40, 80, 115, 150, 180, 210},
}

// Position is what lies on the board, and each settlement's balance of influence as one seat sees it.
type Position struct {
	board  *Board
	pieces [][castes]bool // which castes have a piece on a space
	tiles  []Tile         // the tile on a space, or noTile
	seats  []int          // whose it is
	empty  []int          // how many land spaces around a settlement with pieces hold no tile
	lead   [][castes]int  // this seat's influence there minus that of its strongest rival
}

func newPosition(board *Board, view *View) *Position {
	spaces := len(board.isLand)
	p := &Position{
		board:  board,
		pieces: make([][castes]bool, spaces),
		tiles:  make([]Tile, spaces),
		seats:  make([]int, spaces),
		empty:  make([]int, spaces),
		lead:   make([][castes]int, spaces),
	}
	for space := range p.tiles {
		p.tiles[space] = noTile
	}
	for caste, at := range view.Pieces {
		for _, space := range at {
			p.pieces[space][caste] = true
		}
	}
	for _, placed := range view.Tiles {
		p.put(placed.Tile, placed.Seat, placed.Space)
	}
	p.weigh()
	return p
}

func (p *Position) put(tile Tile, seat, space int) {
	p.tiles[space], p.seats[space] = tile, seat
}

// hasPieces says whether a space is a settlement with pieces.
func (p *Position) hasPieces(space int) bool {
	return p.pieces[space] != [castes]bool{}
}

// weigh works out the balance of influence.
func (p *Position) weigh() {
	for space := range p.pieces {
		if !p.hasPieces(space) {
			continue
		}
		p.empty[space] = 0
		totals := make([][castes]int, p.board.seats)
		for _, near := range p.board.around[space] {
			if p.tiles[near] != noTile {
				for caste, value := range tileTable[p.tiles[near]].value {
					totals[p.seats[near]][caste] += value
				}
			} else if p.board.isLand[near] {
				p.empty[space]++
			}
		}
		for caste := range p.lead[space] {
			rival := 0
			for seat, total := range totals {
				if seat != p.board.seat {
					rival = max(rival, total[caste])
				}
			}
			p.lead[space][caste] = totals[p.board.seat][caste] - rival
		}
	}
}

// worth returns what a piece is worth where the lead grows by more and so many land spaces are filled.
func (p *Position) worth(settlement int, caste Caste, more, filled int) int {
	lead := p.lead[settlement][caste] + more
	return worthTable[min(p.empty[settlement]-filled, 4)][max(-6, min(6, lead))+6]
}

// change returns the gain at a settlement where a tile's influence is added (1), stays (0) or goes (-1).
func (p *Position) change(settlement int, tile Tile, added, filled int) int {
	gain := 0
	for caste, value := range tileTable[tile].value {
		if p.pieces[settlement][caste] {
			gain += p.worth(settlement, Caste(caste), added*value, filled) - p.worth(settlement, Caste(caste), 0, 0)
		}
	}
	return gain
}

// score returns what a play gains, less what its tile costs.
func (p *Position) score(play *Play) int {
	cost := tileTable[play.tile].cost
	switch play.tile {
	case switchTile:
		return p.worth(play.space, play.withCaste, 0, 0) - p.worth(play.space, play.caste, 0, 0) +
			p.worth(play.with, play.caste, 0, 0) - p.worth(play.with, play.withCaste, 0, 0) - cost
	case moveTile:
		return p.gain(p.tiles[play.from], play.space, p.board.beside[play.from]) - cost
	}
	return p.gain(play.tile, play.space, nil) - cost
}

// gain returns what a tile gains that is put on a space, and no longer counts at the settlements that it left.
func (p *Position) gain(tile Tile, space int, left []int) int {
	reached := p.board.beside[space]
	filled := 0
	if p.board.isLand[space] {
		filled = 1
	}
	gain := 0
	for _, settlement := range reached {
		added := 1
		if slices.Contains(left, settlement) {
			added = 0
		}
		gain += p.change(settlement, tile, added, filled)
	}
	for _, settlement := range left {
		if !slices.Contains(reached, settlement) {
			gain += p.change(settlement, tile, -1, 0)
		}
	}
	return gain
}

// make changes the position as a play of this seat does.
func (p *Position) make(play Play) {
	switch play.tile {
	case switchTile:
		here, there := &p.pieces[play.space], &p.pieces[play.with]
		here[play.caste], there[play.withCaste] = false, false
		here[play.withCaste], there[play.caste] = true, true
	case moveTile:
		p.put(p.tiles[play.from], p.board.seat, play.space)
		p.put(moveTile, p.board.seat, play.from)
	default:
		p.put(play.tile, p.board.seat, play.space)
	}
	p.weigh()
}

// captures says whether a settlement with pieces is surrounded.
func (p *Position) captures() bool {
	for space, empty := range p.empty {
		if empty == 0 && p.hasPieces(space) {
			return true
		}
	}
	return false
}
