package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bot/arenabot"

	"github.com/vmihailenco/msgpack/v5"
)

// one are values to choose one from, some are values to choose several from.
func one(values ...any) arenabot.Values { return arenabot.Values{Choose: 1, Of: values} }

func some(choose int, values ...any) arenabot.Values {
	return arenabot.Values{IsSeveral: true, Choose: choose, Of: values}
}

// products make 18 plays.
var products = []Product{
	{"tile": one("rice2", "rice3"), "space": one(1, 2, 3, 4)},
	{"tile": one("ship1"), "space": one(7)},
	{"tile": one("move"), "from": one(1), "to": one(5, 6, 7)},
	{"hand": some(2, "a", "b", "c")},
	{"hand": some(0, "a")},
	{"hand": some(2, "a", "b"), "at": one(1, 2)},
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
	for i := 0; i < 18*each; i++ {
		play := player.pick(products)
		if several, ok := play["hand"].([]any); ok {
			slices.SortFunc(several, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		counts[fmt.Sprint(play)]++
	}
	if len(counts) != 18 {
		t.Fatalf("expected 18 different plays, got: %v", counts)
	}
	for play, count := range counts {
		if count < each*9/10 || count > each*11/10 { // more than three standard deviations
			t.Errorf("expected %s about %d times, got: %d", play, each, count)
		}
	}
}

func TestTheSameSeedBringsTheSameActions(t *testing.T) {
	legal := []map[string]any{
		{"tile": []string{"rice2", "rice3"}, "space": []int{1, 2, 3, 4}},
		{"hand": map[string]any{"choose": 2, "of": []string{"rice2", "rice3", "rice4", "ship1"}}},
	}
	raw, err := msgpack.Marshal(legal)
	if err != nil {
		t.Fatal(err)
	}
	actions := func(seed int64) string {
		player := seeded(t, seed)
		var all []any
		for i := 0; i < 20; i++ {
			action, _, err := player.decide(&arenabot.Request{Kind: "of a game that nobody knows", Legal: raw})
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
	empty := []map[string]any{{"tile": []string{}}}
	tooMany := []map[string]any{{"hand": map[string]any{"choose": 2, "of": []string{"rice2"}}}}
	for _, legal := range []any{nil, []any{}, empty, tooMany, map[string]any{"plays": 3}, "none"} {
		raw, err := msgpack.Marshal(legal)
		if err != nil {
			t.Fatal(err)
		}
		if action, _, err := seeded(t, 1).decide(&arenabot.Request{Kind: "turn", Legal: raw}); err == nil {
			t.Errorf("expected an error of %v, got: %v", legal, action)
		}
	}
}
