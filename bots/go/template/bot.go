// A bot for any game: it takes the first legal play of each request.
package main

import (
	"fmt"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// start begins a game. The message has what stays the same in it, such as the rules, the board and the own seat.
func start(game *arenabot.GameStart) error {
	return nil
}

// decide answers a request. Here is the place for your own idea.
func decide(request *arenabot.Request) (action any, note string, err error) {
	var legal []map[string]arenabot.Values
	if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
		return nil, "", fmt.Errorf("legal: %w", err)
	}
	// A note is kept in the log; no opponent sees it during the game.
	return arenabot.Plays(firstPlay(legal)), "the first will do", nil
}

// firstPlay returns the first legal play. Each product of the legal plays has, for each key, the values to choose from.
func firstPlay(legal []map[string]arenabot.Values) map[string]any {
	play := map[string]any{}
	for key, values := range legal[0] {
		if values.IsSeveral {
			play[key] = values.Of[:values.Choose]
		} else {
			play[key] = values.Of[0]
		}
	}
	return play
}

func main() {
	arenabot.Run(arenabot.Bot{
		// "legal" lists the legal plays, "view" shows all that the seat may know, "events" what has happened.
		Want:   []string{"legal"},
		Start:  start,
		Decide: decide,
	})
}
