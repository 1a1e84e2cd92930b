// Plays Samurai by chance: one play a request, and every legal one is equally likely.
package main

import (
	"fmt"
	"math/rand"
	"sort"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// Product maps keys to lists of values: it has a combination for each choice of one value for each key.
type Product map[string][]any

func (p Product) size() int {
	size := 1
	for _, values := range p {
		size *= len(values)
	}
	return size
}

// Player is the player in one game.
type Player struct {
	random *rand.Rand
}

func (p *Player) start(game *arenabot.GameStart) error {
	p.random = rand.New(rand.NewSource(game.BotSeed))
	return nil
}

func (p *Player) decide(request *arenabot.Request) (action any, note string, err error) {
	var legal struct {
		Choose int       `msgpack:"choose"`
		Hand   []string  `msgpack:"hand"`
		Setup  []Product `msgpack:"setup"`
		Plays  []Product `msgpack:"plays"`
	}
	if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
		return nil, "", fmt.Errorf("legal: %w", err)
	}
	switch request.Kind {
	case "hand":
		return map[string]any{"hand": p.sample(legal.Hand, legal.Choose)}, "", nil
	case "setup":
		return p.pick(legal.Setup), "", nil
	case "turn":
		return map[string]any{"plays": []any{p.pick(legal.Plays)}}, "", nil
	}
	return nil, "", fmt.Errorf("expected a request of kind hand, setup or turn, got: %q", request.Kind)
}

func (p *Player) sample(values []string, count int) []string {
	p.random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	return values[:count]
}

// pick takes one of the combinations of all products, each as likely as any other: first a product, the likelier the
// more combinations it has, then a value for each key.
func (p *Player) pick(products []Product) map[string]any {
	total := 0
	for _, product := range products {
		total += product.size()
	}
	index, chosen := p.random.Intn(total), 0
	for index >= products[chosen].size() {
		index -= products[chosen].size()
		chosen++
	}
	keys := make([]string, 0, len(products[chosen]))
	for key := range products[chosen] {
		keys = append(keys, key)
	}
	sort.Strings(keys) // a map's keys have no order, and the same seed must bring the same play
	play := map[string]any{}
	for _, key := range keys {
		values := products[chosen][key]
		play[key] = values[p.random.Intn(len(values))]
	}
	return play
}

func main() {
	var player Player
	arenabot.Run(arenabot.Bot{
		Name:    "random-go",
		Version: "1.0",
		Want:    []string{"legal"},
		Start:   player.start,
		Decide:  player.decide,
	})
}
