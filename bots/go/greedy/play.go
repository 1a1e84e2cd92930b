package main

import (
	"fmt"
	"slices"
)

// Play is a play of a turn. What it does not need is 0.
type Play struct {
	tile      Tile
	from      int // where the tile lies that moves
	space     int // where a tile is put, or one of the settlements that exchange pieces
	caste     Caste
	with      int
	withCaste Caste
}

// key orders plays: of equal scores the play with the smallest key is taken.
func (p *Play) key() [6]int {
	return [6]int{int(p.tile), p.from, p.space, int(p.caste), p.with, int(p.withCaste)}
}

func (p *Play) before(other *Play) bool {
	key, otherKey := p.key(), other.key()
	return slices.Compare(key[:], otherKey[:]) < 0
}

// wire returns the play as an action holds it.
func (p *Play) wire() map[string]any {
	switch p.tile {
	case switchTile:
		return map[string]any{
			"tile": p.tile, "space": p.space, "caste": p.caste, "with": p.with, "with_caste": p.withCaste,
		}
	case moveTile:
		return map[string]any{"tile": p.tile, "from": p.from, "to": p.space}
	}
	return map[string]any{"tile": p.tile, "space": p.space}
}

// String returns the play as a note names it.
func (p *Play) String() string {
	switch p.tile {
	case switchTile:
		return fmt.Sprint(p.tile, " ", p.space, " ", p.caste, " ", p.with, " ", p.withCaste)
	case moveTile:
		return fmt.Sprint(p.tile, " ", p.from, " ", p.space)
	}
	return fmt.Sprint(p.tile, " ", p.space)
}

// firstPlays returns all combinations of some products.
func firstPlays(products []Product) []Play {
	var plays []Play
	for _, product := range products {
		for _, tile := range product.Tile {
			switch tile {
			case switchTile:
				for _, space := range product.Space {
					for _, caste := range product.Caste {
						for _, with := range product.With {
							for _, withCaste := range product.WithCaste {
								plays = append(plays, Play{tile, 0, space, caste, with, withCaste})
							}
						}
					}
				}
			case moveTile:
				for _, from := range product.From {
					for _, to := range product.To {
						plays = append(plays, Play{tile: tile, from: from, space: to})
					}
				}
			default:
				for _, space := range product.Space {
					plays = append(plays, Play{tile: tile, space: space})
				}
			}
		}
	}
	return plays
}

// follows returns whether a tile may follow another in a turn.
func (b *Board) follows(tile, made Tile) bool {
	return b.fast[made] || (b.fast[tile] && !b.isLast)
}

// remaining returns those of the plays before `made` that are still legal after it; left counts the tiles that are left
// of the hand. Nothing can be said of the plays after one that captures pieces within the turn.
func remaining(plays []Play, board *Board, made Play, left *[tiles]int) []Play {
	kept := plays[:0]
	for _, next := range plays {
		isFilled := made.tile != switchTile && next.tile != switchTile && next.space == made.space
		if left[next.tile] > 0 && board.follows(next.tile, made.tile) && !isFilled {
			kept = append(kept, next)
		}
	}
	return kept
}
