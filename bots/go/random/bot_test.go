package main

import (
	"fmt"
	"slices"
	"testing"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// products has twelve combinations.
var products = []Product{
	{"tile": {"rice2", "rice3"}, "space": {1, 2, 3, 4}},
	{"tile": {"ship1"}, "space": {7}},
	{"tile": {"move"}, "from": {1}, "to": {5, 6, 7}},
}

func seeded(t *testing.T, seed int64) *Player {
	t.Helper()
	var player Player
	if err := player.start(&arenabot.GameStart{BotSeed: seed}); err != nil {
		t.Fatal(err)
	}
	return &player
}

func TestEveryPlayIsEquallyLikely(t *testing.T) {
	const each = 1000
	player := seeded(t, 1)
	counts := map[string]int{}
	for i := 0; i < 12*each; i++ {
		counts[fmt.Sprint(player.pick(products))]++
	}
	if len(counts) != 12 {
		t.Fatalf("expected 12 different plays, got: %v", counts)
	}
	for play, count := range counts {
		if count < each*9/10 || count > each*11/10 { // more than three standard deviations
			t.Errorf("expected %s about %d times, got: %d", play, each, count)
		}
	}
}

func TestTheSameSeedBringsTheSameActions(t *testing.T) {
	legal := map[string]any{
		"choose": 2, "hand": []string{"rice2", "rice3", "rice4", "ship1"}, "setup": products, "plays": products,
	}
	raw, err := msgpack.Marshal(legal)
	if err != nil {
		t.Fatal(err)
	}
	actions := func(seed int64) string {
		player := seeded(t, seed)
		var all []any
		for _, kind := range []string{"hand", "setup", "turn", "turn", "turn"} {
			action, _, err := player.decide(&arenabot.Request{Kind: kind, Legal: raw})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, action)
		}
		return fmt.Sprint(all...)
	}
	var different []string
	for _, seed := range []int64{0, 1, 7, 1<<53 - 1} {
		if actions(seed) != actions(seed) {
			t.Errorf("expected the same actions of seed %d", seed)
		}
		different = append(different, actions(seed))
	}
	slices.Sort(different)
	if len(slices.Compact(different)) != 4 {
		t.Errorf("expected four seeds to bring different actions")
	}
}

func TestWhatItCannotAnswerIsAnError(t *testing.T) {
	legal, err := msgpack.Marshal(map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range []arenabot.Request{{Kind: "seize", Legal: legal}, {Kind: "turn"}} {
		if action, _, err := seeded(t, 1).decide(&request); err == nil {
			t.Errorf("expected an error, got: %v", action)
		}
	}
}
