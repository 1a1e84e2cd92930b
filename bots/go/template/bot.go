// A bot for Samurai and Samurai Gardener: it takes the first legal play of each request.
package main

import (
	"fmt"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// Product lists the values that each key of a play may have.
type Product map[string][]any

// Legal lists the legal plays. Each request has those of its kind.
type Legal struct {
	Choose int       `msgpack:"choose"`
	Hand   []string  `msgpack:"hand"`
	Setup  []Product `msgpack:"setup"`
	Plays  []Product `msgpack:"plays"`
	Seize  []Product `msgpack:"seize"`
	Plant  []Product `msgpack:"plant"`
	Score  []Product `msgpack:"score"`
}

// first returns the first play of some products.
func first(products []Product) map[string]any {
	play := map[string]any{}
	for key, values := range products[0] {
		play[key] = values[0]
	}
	return play
}

// start is told that a game begins: what stays the same in it, such as the board, is told now.
func start(game *arenabot.GameStart) error {
	return nil
}

// decide answers a request. Here is the place for your own idea.
func decide(request *arenabot.Request) (action any, note string, err error) {
	var legal Legal
	if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
		return nil, "", fmt.Errorf("legal: %w", err)
	}
	switch request.Kind {
	// Samurai: choose a hand, put a piece on the board, play a tile or more.
	case "hand":
		return map[string]any{"hand": legal.Hand[:legal.Choose]}, "", nil
	case "setup":
		return first(legal.Setup), "", nil
	case "turn":
		// A note is kept in the log; no opponent sees it during the game.
		return map[string]any{"plays": []any{first(legal.Plays)}}, "the first will do", nil

	// Gardener: take a card, plant it, score rows.
	case "seize":
		return first(legal.Seize), "", nil
	case "plant":
		return first(legal.Plant), "", nil
	case "score":
		return map[string]any{"rows": []any{first(legal.Score)}}, "", nil
	}
	return nil, "", fmt.Errorf("expected a kind of request that this bot knows, got: %q", request.Kind)
}

func main() {
	arenabot.Run(arenabot.Bot{
		// "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened.
		Want:   []string{"legal"},
		Start:  start,
		Decide: decide,
	})
}
