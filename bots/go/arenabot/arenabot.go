// Package arenabot is the client of an arena bot, in one file. It needs zmq4 and msgpack, and nothing else.
//
// Copy it into a folder arenabot beside your bot, with go.mod and go.sum, fill in a [Bot], and call [Run]:
//
//	package main
//
//	import (
//		"bot/arenabot"
//
//		"github.com/vmihailenco/msgpack/v5"
//	)
//
//	// decide takes the first legal play of every request, in any game.
//	func decide(request *arenabot.Request) (action any, note string, err error) {
//		var legal []map[string]arenabot.Values
//		if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
//			return nil, "", err
//		}
//		play := map[string]any{}
//		for key, values := range legal[0] {
//			play[key] = values.Of[0]
//			if values.IsSeveral {
//				play[key] = values.Of[:values.Choose]
//			}
//		}
//		return arenabot.Plays(play), "the first play will do", nil
//	}
//
//	func main() {
//		arenabot.Run(arenabot.Bot{Want: []string{"legal"}, Decide: decide})
//	}
//
// The referee starts the bot as a process with two environment variables, ARENA_ENDPOINT and ARENA_TOKEN. Then:
//
//	bot       hello                                       action    ready   (one answer to each)
//	referee          welcome   game_start   request ...          ...       game_over   ...   goodbye
//
// Each message is one msgpack map in one ZeroMQ frame, with the key "type". One session serves many games.
//
// In every game the legal plays are an array of products: maps that give, for each key of a play, the [Values] it may
// have. The action is always a map {"plays": [...]}, which [Plays] makes; each play has a chosen value for each key of
// one product. One play is always enough.
package arenabot

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/go-zeromq/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

const protocol = "1.0"

// Bot is what a bot does. Only Decide must be there.
type Bot struct {
	Name    string
	Version string

	// Want is what each request shall carry: any of "view", "events", "legal". The less, the faster.
	Want []string

	// Rules are the rules that the bot plays; none: whatever it is asked to play.
	Rules []Played

	// Entropy says whether the bot contributes to the deals; its manifest must say entropy = true.
	Entropy bool

	// Start begins a game.
	Start func(game *GameStart) error

	// Decide answers a request with an action, such as Plays returns, and a note: a short text of what the bot was
	// thinking, or "". The note is kept in the log; no opponent sees it during the game.
	Decide func(request *Request) (action any, note string, err error)

	// Over ends a game.
	Over func(result *GameOver)
}

// Played names rules, and the versions of them that a bot plays.
type Played struct {
	Name     string `msgpack:"name"`
	Versions []int  `msgpack:"versions"`
}

// GameStart is the message with which a game begins.
type GameStart struct {
	Game         int64              `msgpack:"game"`
	Rules        string             `msgpack:"rules"`
	RulesVersion int                `msgpack:"rules_version"`
	Ruleset      string             `msgpack:"ruleset"`
	Options      map[string]string  `msgpack:"options"`
	Seat         int                `msgpack:"seat"`
	Seats        int                `msgpack:"seats"`
	Board        msgpack.RawMessage `msgpack:"board"` // as the game's protocol page says: msgpack.Unmarshal reads it
	Time         TimeControl        `msgpack:"time"`
	Commitment   string             `msgpack:"commitment"`
	BotSeed      int64              `msgpack:"bot_seed"` // for the bot's own randomness
	// The bot's own parameters, each with its value as text; nil if it has none.
	Parameters map[string]string `msgpack:"parameters"`
}

// TimeControl is the time that a game allows, in milliseconds but for the window; nil means that there is no such
// limit, or no race. A decision has one limit and one increment, however many requests it takes.
type TimeControl struct {
	BankMS      *int64 `msgpack:"bank_ms"`
	IncrementMS int64  `msgpack:"increment_ms"`
	LimitMS     *int64 `msgpack:"limit_ms"`
	MarginMS    int64  `msgpack:"margin_ms"` // added to every deadline for the journey of messages
	WindowUS    *int64 `msgpack:"window_us"` // how far apart the times of a race are tied, in microseconds
	CPUMS       *int64 `msgpack:"cpu_ms"`    // CPU time of all the bot's processes for the whole game
	Off         bool   `msgpack:"off"`       // no clock runs: nobody loses by time
}

// Request asks for a decision. View, Events and Legal are there if the bot wants them, as the game's protocol page
// says: msgpack.Unmarshal reads them into a type of yours.
type Request struct {
	ID     int64              `msgpack:"id"`
	Kind   string             `msgpack:"kind"` // which decision
	Clock  Clock              `msgpack:"clock"`
	View   msgpack.RawMessage `msgpack:"view,omitempty"`
	Events msgpack.RawMessage `msgpack:"events,omitempty"`
	Legal  msgpack.RawMessage `msgpack:"legal,omitempty"`
}

// Values are what a product of the legal plays offers for a key: a play has one of them; or, where IsSeveral is true,
// the array of Choose of them, taken from different places.
type Values struct {
	IsSeveral bool
	Choose    int
	Of        []any
}

// DecodeMsgpack reads an array of values to choose one from, or a map {"choose": n, "of": [...]}.
func (v *Values) DecodeMsgpack(decoder *msgpack.Decoder) error {
	raw, err := decoder.DecodeRaw()
	if err != nil {
		return err
	}
	*v = Values{Choose: 1}
	if err = msgpack.Unmarshal(raw, &v.Of); err == nil {
		return nil
	}
	var several struct {
		Choose int   `msgpack:"choose"`
		Of     []any `msgpack:"of"`
	}
	if err = msgpack.Unmarshal(raw, &several); err == nil && (several.Choose < 0 || several.Choose > len(several.Of)) {
		err = fmt.Errorf("expected a choice of at most %d values, got: %d", len(several.Of), several.Choose)
	}
	*v = Values{IsSeveral: true, Choose: several.Choose, Of: several.Of}
	return err
}

// Plays returns the action that makes some plays. Each is written in msgpack as a map.
func Plays(plays ...any) map[string]any {
	return map[string]any{"plays": append([]any{}, plays...)}
}

// Clock is the time for a decision, in milliseconds.
type Clock struct {
	LimitMS int64  `msgpack:"limit_ms"` // after it the bot forfeits
	BankMS  *int64 `msgpack:"bank_ms"`  // what is left of the bank, or nil where there is none
}

// GameOver is the message with which a game ends.
type GameOver struct {
	Game        int64              `msgpack:"game"`
	Termination string             `msgpack:"termination"`
	Ranks       []int              `msgpack:"ranks"` // by seat, 1 is best; empty if the game was interrupted
	Forfeits    []Forfeit          `msgpack:"forfeits"`
	Events      msgpack.RawMessage `msgpack:"events,omitempty"`
}

// Forfeit says that a seat forfeited, and why.
type Forfeit struct {
	Seat int    `msgpack:"seat"`
	Code string `msgpack:"code"`
}

type hello struct {
	Type     string   `msgpack:"type"`
	Token    string   `msgpack:"token"`
	Protocol string   `msgpack:"protocol"`
	Name     string   `msgpack:"name,omitempty"`
	Version  string   `msgpack:"version,omitempty"`
	Want     []string `msgpack:"want,omitempty"`
	Rules    []Played `msgpack:"rules,omitempty"`
	Entropy  string   `msgpack:"entropy,omitempty"`
}

type welcome struct {
	MaxNote int `msgpack:"max_note"` // bytes
}

type ready struct {
	Type string `msgpack:"type"`
	Game int64  `msgpack:"game"`
}

type answer struct {
	Type   string `msgpack:"type"`
	ID     int64  `msgpack:"id"`
	Action any    `msgpack:"action"`
	Note   string `msgpack:"note,omitempty"`
}

type complaint struct {
	Code    string `msgpack:"code"`
	Message string `msgpack:"message"`
}

// Run plays games with a bot until the referee says goodbye. If it cannot go on, it says why on standard error and
// ends the process with status 1. The connection then stays open until the process ends, and also if the bot panics: so
// the referee finds that the bot has ended, and not that it lost the connection.
func Run(bot Bot) {
	if err := run(bot); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(bot Bot) error {
	endpoint := os.Getenv("ARENA_ENDPOINT")
	if endpoint == "" {
		return errors.New("expected ARENA_ENDPOINT and ARENA_TOKEN in the environment: arena's referee starts this program")
	}
	socket := zmq4.NewDealer(context.Background())
	if err := socket.Dial(endpoint); err != nil {
		return fmt.Errorf("cannot connect to %s: %w", endpoint, err)
	}
	if err := newSession(bot, socket).serve(os.Getenv("ARENA_TOKEN")); err != nil {
		return err
	}
	socket.Close()
	return nil
}

// A link carries frames: a socket of zmq4.
type link interface {
	Recv() (zmq4.Msg, error)
	SendMulti(zmq4.Msg) error
}

type session struct {
	bot     Bot
	link    link
	maxNote int
}

func newSession(bot Bot, link link) *session {
	return &session{bot: bot, link: link, maxNote: 1024}
}

// entropy returns 32 random bytes as hex.
func entropy() string {
	random := make([]byte, 32)
	rand.Read(random) // fails on no system that Go runs on
	return hex.EncodeToString(random)
}

// serve says hello and answers messages until the referee says goodbye.
func (s *session) serve(token string) error {
	greeting := hello{"hello", token, protocol, s.bot.Name, s.bot.Version, s.bot.Want, s.bot.Rules, ""}
	if s.bot.Entropy {
		greeting.Entropy = entropy()
	}
	err := s.send(greeting)
	for over := false; err == nil && !over; {
		var message zmq4.Msg
		if message, err = s.link.Recv(); err != nil {
			return fmt.Errorf("cannot receive from the referee: %w", err)
		}
		over, err = s.handle(message.Bytes())
	}
	return err
}

func (s *session) send(message any) error {
	frame, err := msgpack.Marshal(message)
	if err != nil {
		return err
	}
	// Send would write a frame's header and its body in two pieces, and wake the referee twice.
	if err := s.link.SendMulti(zmq4.NewMsg(frame)); err != nil {
		return fmt.Errorf("cannot send to the referee: %w", err)
	}
	return nil
}

// handle does what one message asks for. It says whether that was the last one.
func (s *session) handle(frame []byte) (over bool, err error) {
	kind, err := typeOf(frame)
	if err != nil {
		return false, err
	}
	switch kind {
	case "request":
		var request Request
		if err = read(frame, &request); err == nil {
			err = s.decide(&request)
		}
	case "game_start":
		var game GameStart
		if err = read(frame, &game); err == nil {
			err = s.start(&game)
		}
	case "game_over":
		var result GameOver
		if err = read(frame, &result); err == nil && s.bot.Over != nil {
			s.bot.Over(&result)
		}
	case "welcome":
		var limits welcome
		if err = read(frame, &limits); err == nil {
			s.maxNote = limits.MaxNote
		}
	case "error":
		var failure complaint
		if err = read(frame, &failure); err == nil {
			return true, fmt.Errorf("referee: %s: %s", failure.Code, failure.Message)
		}
	case "goodbye":
		over = true
	} // Any other type belongs to a later version of the protocol, and is ignored.
	if err != nil {
		err = fmt.Errorf("%s: %w", kind, err)
	}
	return over, err
}

func (s *session) start(game *GameStart) error {
	if s.bot.Start != nil {
		if err := s.bot.Start(game); err != nil {
			return err
		}
	}
	return s.send(ready{"ready", game.Game})
}

func (s *session) decide(request *Request) error {
	action, note, err := s.bot.Decide(request)
	if err != nil {
		return err
	}
	return s.send(answer{"action", request.ID, action, cut(note, s.maxNote)})
}

// typeOf returns the type of the message in a frame.
func typeOf(frame []byte) (string, error) {
	if found, err := msgpack.NewDecoder(bytes.NewReader(frame)).Query("type"); err == nil && len(found) == 1 {
		if kind, ok := found[0].(string); ok {
			return kind, nil
		}
	}
	return "", fmt.Errorf("expected one msgpack map with a type in each frame, got: %d bytes that are none", len(frame))
}

// read reads the message in a frame; fields that it does not know are ignored.
func read(frame []byte, message any) error {
	reader := bytes.NewReader(frame)
	if err := msgpack.NewDecoder(reader).Decode(message); err != nil {
		return fmt.Errorf("expected a message as the protocol describes it, got: %w", err)
	}
	if reader.Len() > 0 {
		return fmt.Errorf("expected one message in each frame, got: %d bytes after it", reader.Len())
	}
	return nil
}

// cut returns the beginning of a text, in at most so many bytes, without half a character.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
