// Plays by chance, any game: one play a request, and every legal one is equally likely.
package main

import (
	"errors"
	"fmt"
	"math/rand"
	"sort"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// Product maps the keys of a play to the values that it may have.
type Product map[string]arenabot.Values

// plays returns how many plays the product makes.
func (p Product) plays() float64 {
	count := 1.0
	for _, values := range p {
		count *= ways(values)
	}
	return count
}

// ways returns how many choices the values of a key offer.
func ways(values arenabot.Values) float64 {
	if !values.IsSeveral {
		return float64(len(values.Of))
	}
	count := 1.0
	for i := 0; i < values.Choose; i++ {
		count = count * float64(len(values.Of)-i) / float64(i+1)
	}
	return count
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
	var legal []Product
	if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
		return nil, "", fmt.Errorf("legal: %w", err)
	}
	play := p.pick(legal)
	if play == nil {
		return nil, "", errors.New("expected a request with a legal play, got: none")
	}
	return arenabot.Plays(play), "", nil
}

// pick takes one of the plays that can be made of some products, each as likely as any other: first a product, the
// likelier the more plays it makes, then a value for each key. It returns nil if there is no play.
func (p *Player) pick(products []Product) map[string]any {
	total := 0.0
	for _, product := range products {
		total += product.plays()
	}
	left := p.random.Float64() * total
	var chosen Product
	for i := 0; i < len(products) && left >= 0; i++ {
		count := products[i].plays()
		if count > 0 {
			chosen = products[i]
		}
		left -= count
	}
	if chosen == nil {
		return nil
	}
	keys := make([]string, 0, len(chosen))
	for key := range chosen {
		keys = append(keys, key)
	}
	sort.Strings(keys) // a map's keys have no order, and the same seed must bring the same play
	play := map[string]any{}
	for _, key := range keys {
		play[key] = p.choose(chosen[key])
	}
	return play
}

// choose takes one of the values of a key, or several where the product says so.
func (p *Player) choose(values arenabot.Values) any {
	if !values.IsSeveral {
		return values.Of[p.random.Intn(len(values.Of))]
	}
	several := append([]any{}, values.Of...)
	p.random.Shuffle(len(several), func(i, j int) { several[i], several[j] = several[j], several[i] })
	return several[:values.Choose]
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
