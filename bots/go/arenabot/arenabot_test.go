package arenabot

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

// A script is a link whose referee sends what was written before.
type script struct {
	frames [][]byte
	sent   []map[string]any
}

var errEndOfScript = errors.New("the script has ended")

func (s *script) Recv() (zmq4.Msg, error) {
	if len(s.frames) == 0 {
		return zmq4.Msg{}, errEndOfScript
	}
	frame := s.frames[0]
	s.frames = s.frames[1:]
	return zmq4.NewMsg(frame), nil
}

func (s *script) SendMulti(message zmq4.Msg) error {
	var sent map[string]any
	if err := read(message.Bytes(), &sent); err != nil {
		return err
	}
	s.sent = append(s.sent, plain(sent).(map[string]any))
	return nil
}

// play lets a bot serve a session in which the referee sends these messages; it returns what the bot sent.
func play(t *testing.T, bot Bot, messages ...map[string]any) ([]map[string]any, error) {
	t.Helper()
	var script script
	for _, message := range messages {
		frame, err := msgpack.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		script.frames = append(script.frames, frame)
	}
	err := newSession(bot, &script).serve("3c0ffee")
	return script.sent, err
}

var (
	welcomeMessage = map[string]any{"type": "welcome", "protocol": "1.0", "max_frame": 65536, "max_note": 1024}
	startMessage   = map[string]any{"type": "game_start", "game": 1, "seat": 1, "seats": 2, "bot_seed": 1<<53 - 1}
	requestMessage = map[string]any{"type": "request", "id": 7, "kind": "turn", "legal": map[string]any{"plays": 3}}
	goodbyeMessage = map[string]any{"type": "goodbye", "reason": "done"}
)

// pass is a decision without content.
func pass(*Request) (any, string, error) { return map[string]any{}, "", nil }

func TestWholeSession(t *testing.T) {
	var started, over, seen []any
	bot := Bot{
		Name: "ronin",
		Want: []string{"legal"},
		Start: func(game *GameStart) error {
			started = append(started, game.Seat, game.Seats, game.BotSeed)
			return nil
		},
		Decide: func(request *Request) (any, string, error) {
			var legal map[string]int
			err := msgpack.Unmarshal(request.Legal, &legal)
			seen = append(seen, request.Kind, legal["plays"])
			return map[string]any{"plays": []any{}}, "why", err
		},
		Over: func(result *GameOver) { over = append(over, result.Termination, result.Ranks[1]) },
	}
	gameOver := map[string]any{"type": "game_over", "game": 1, "termination": "finished", "ranks": []int{2, 1}}
	later := map[string]any{"type": "from_a_later_version", "game": "one"}
	messages := []map[string]any{welcomeMessage, later, startMessage, requestMessage, gameOver, goodbyeMessage}
	sent, err := play(t, bot, messages...)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, sent, []map[string]any{
		{"type": "hello", "token": "3c0ffee", "protocol": "1.0", "name": "ronin", "want": []any{"legal"}},
		{"type": "ready", "game": int64(1)},
		{"type": "action", "id": int64(7), "action": map[string]any{"plays": []any{}}, "note": "why"},
	})
	mustEqual(t, started, []any{1, 2, int64(1<<53 - 1)})
	mustEqual(t, seen, []any{"turn", 3})
	mustEqual(t, over, []any{"finished", 1})
}

func TestValuesAreOneOfAnArrayOrSeveral(t *testing.T) {
	for _, test := range []struct {
		written any
		want    Values
	}{
		{[]any{"a", "b"}, Values{Choose: 1, Of: []any{"a", "b"}}},
		{map[string]any{"choose": 2, "of": []any{"a", "b", "b"}}, Values{IsSeveral: true, Choose: 2, Of: []any{"a", "b", "b"}}},
		{map[string]any{"choose": 0, "of": []any{}}, Values{IsSeveral: true, Of: []any{}}},
	} {
		frame, err := msgpack.Marshal([]any{test.written, "what follows"})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			_msgpack struct{} `msgpack:",as_array"`
			Values   Values
			Rest     string
		}
		if err := msgpack.Unmarshal(frame, &got); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, got.Values, test.want)
		mustEqual(t, got.Rest, "what follows")
	}
	for _, written := range []any{3, "ab", map[string]any{"choose": 2, "of": []any{"a"}}} {
		frame, err := msgpack.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		var values Values
		if err := msgpack.Unmarshal(frame, &values); err == nil {
			t.Errorf("expected %v to be refused, got: %v", written, values)
		}
	}
}

func TestPlaysMakesAnAction(t *testing.T) {
	mustEqual(t, reread(t, Plays()), any(map[string]any{"plays": []any{}}))
	play := map[string]any{"space": int64(7)}
	mustEqual(t, reread(t, Plays(play, play)), any(map[string]any{"plays": []any{play, play}}))
}

func TestABotNeedsNoMoreThanDecide(t *testing.T) {
	gameOver := map[string]any{"type": "game_over", "game": 1, "termination": "finished", "ranks": []int{1, 2}}
	sent, err := play(t, Bot{Decide: pass}, welcomeMessage, startMessage, requestMessage, gameOver, goodbyeMessage)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, sent[0], map[string]any{"type": "hello", "token": "3c0ffee", "protocol": "1.0"})
	mustEqual(t, sent[2], map[string]any{"type": "action", "id": int64(7), "action": map[string]any{}})
}

func TestALongNoteIsCutBetweenCharacters(t *testing.T) {
	talk := func(*Request) (any, string, error) { return map[string]any{}, strings.Repeat("€", 2000), nil }
	limits := map[string]any{"type": "welcome", "max_note": 100}
	sent, err := play(t, Bot{Decide: talk}, limits, requestMessage, goodbyeMessage)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, sent[1]["note"], any(strings.Repeat("€", 33)))
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd", "aé侍": "aé", "侍侍": "侍"} {
		mustEqual(t, cut(text, 4), want)
	}
}

func TestAComplaintOfTheRefereeEndsTheSession(t *testing.T) {
	failure := map[string]any{"type": "error", "code": "timeout", "message": "240 ms too late"}
	_, err := play(t, Bot{Decide: pass}, failure, requestMessage)
	mustEqual(t, err.Error(), "referee: timeout: 240 ms too late")
}

func TestErrorsEndTheSession(t *testing.T) {
	broken := errors.New("the bot is broken")
	bot := Bot{
		Start:  func(*GameStart) error { return broken },
		Decide: func(*Request) (any, string, error) { return nil, "", broken },
	}
	for _, message := range []map[string]any{startMessage, requestMessage} {
		if _, err := play(t, bot, message, goodbyeMessage); !errors.Is(err, broken) {
			t.Errorf("expected the bot's error, got: %v", err)
		}
	}
	if _, err := play(t, bot, welcomeMessage); !errors.Is(err, errEndOfScript) {
		t.Errorf("expected the link's error, got: %v", err)
	}
}

func TestAFrameThatIsNoMessageIsRefused(t *testing.T) {
	frames := []string{
		"", "\xc0", "\xc1", "\x90", "\x93\x01", "\xdd\xff\xff\xff\xff", strings.Repeat("\x81", 4096), "\x80",
		"\x81\xa4type\x03", "\x81\xa1a" + strings.Repeat("\x91", 1<<20), "\x82\xa4type\xa7request",
		"\x82\xa4type\xa7request\xa2id\xa1x", "\x81\xa4type\xa7request\x00",
	}
	for _, frame := range frames {
		session := newSession(Bot{Decide: pass}, &script{})
		if _, err := session.handle([]byte(frame)); err == nil || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("expected %.40q to be refused with what was expected, got: %v", frame, err)
		}
	}
}
