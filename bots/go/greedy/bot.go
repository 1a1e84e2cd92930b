// Plays Samurai, and what gains most at once. bots/README.md specifies it number by number.
package main

import (
	"fmt"
	"slices"
	"strings"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

var firstHand = []string{"samurai3", "samurai2", "samurai2", "ship2", "ronin1"}

// Greedy is the player in one game.
type Greedy struct {
	board *Board
}

func (g *Greedy) start(game *arenabot.GameStart) (err error) {
	g.board, err = newBoard(game)
	return err
}

func (g *Greedy) decide(request *arenabot.Request) (action any, note string, err error) {
	var view View
	if err := msgpack.Unmarshal(request.View, &view); err != nil {
		return nil, "", fmt.Errorf("view: %w", err)
	}
	var legal []Product
	if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
		return nil, "", fmt.Errorf("legal: %w", err)
	}
	var plays []any
	switch request.Kind {
	case "hand":
		plays, note = []any{map[string]any{"hand": firstHand}}, "strength for every caste"
	case "setup":
		plays, note = g.setup(&view, legal)
	case "turn":
		plays, note = g.turn(&view, legal)
	}
	if plays == nil {
		return nil, "", fmt.Errorf("expected a request of kind hand, setup or turn with a legal play, got: %q", request.Kind)
	}
	return arenabot.Plays(plays...), note, nil
}

// setup puts a caste near pieces of its own, so that one tile serves two; else it keeps the supply even.
func (g *Greedy) setup(view *View, products []Product) (plays []any, note string) {
	var best []int // the negated score, the caste and the space: the smallest is the best
	for _, product := range products {
		for _, caste := range product.Caste {
			for _, space := range product.Space {
				rank := []int{-view.Supply[caste] - 2*g.kin(view.Pieces[caste], space), int(caste), space}
				if best == nil || slices.Compare(rank, best) < 0 {
					best = rank
				}
			}
		}
	}
	if best == nil {
		return nil, ""
	}
	return []any{map[string]any{"caste": Caste(best[1]), "space": best[2]}}, fmt.Sprintf("score %d", -best[0])
}

// kin counts the ways to walk from a space over one neighbour to another settlement, of those that have a piece.
func (g *Greedy) kin(settlements []int, space int) int {
	ways := 0
	for _, around := range g.board.around[space] {
		for _, other := range g.board.beside[around] {
			if other != space && slices.Contains(settlements, other) {
				ways++
			}
		}
	}
	return ways
}

// turn takes the play with the highest score, then others as long as they gain.
func (g *Greedy) turn(view *View, products []Product) (plays []any, note string) {
	position := newPosition(g.board, view)
	var left [tiles]int
	for _, tile := range view.Hand {
		left[tile]++
	}
	var chosen []any
	var notes []string
	for candidates := firstPlays(products); len(candidates) > 0; {
		made, score := best(position, candidates)
		if len(chosen) > 0 && score <= 0 {
			break
		}
		chosen = append(chosen, made.wire())
		notes = append(notes, fmt.Sprintf("%v %+d", &made, score))
		left[made.tile]--
		position.make(made)
		if g.board.instant && position.captures() {
			break
		}
		candidates = remaining(candidates, g.board, made, &left)
	}
	if chosen == nil {
		return nil, ""
	}
	return chosen, strings.Join(notes, "; ")
}

// best returns the play with the highest score; of equals it is that with the smallest key.
func best(position *Position, plays []Play) (Play, int) {
	best, highest := &plays[0], position.score(&plays[0])
	for i := range plays[1:] {
		next := &plays[1+i]
		if score := position.score(next); score > highest || (score == highest && next.before(best)) {
			best, highest = next, score
		}
	}
	return *best, highest
}

func main() {
	var greedy Greedy
	arenabot.Run(arenabot.Bot{
		Name:    "greedy-go",
		Version: "1.0",
		Want:    []string{"view", "legal"},
		Start:   greedy.start,
		Decide:  greedy.decide,
	})
}
