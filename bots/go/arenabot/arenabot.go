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
//	// A product lists the values that each key of a play may have.
//	type product map[string][]any
//
//	func first(products []product) map[string]any {
//		play := map[string]any{}
//		for key, values := range products[0] {
//			play[key] = values[0]
//		}
//		return play
//	}
//
//	// decide takes the first legal play of every turn.
//	func decide(request *arenabot.Request) (action any, note string, err error) {
//		var legal struct {
//			Choose int       `msgpack:"choose"`
//			Hand   []string  `msgpack:"hand"`
//			Setup  []product `msgpack:"setup"`
//			Plays  []product `msgpack:"plays"`
//		}
//		if err := msgpack.Unmarshal(request.Legal, &legal); err != nil {
//			return nil, "", err
//		}
//		switch request.Kind {
//		case "hand":
//			return map[string]any{"hand": legal.Hand[:legal.Choose]}, "", nil
//		case "setup":
//			return first(legal.Setup), "", nil
//		}
//		return map[string]any{"plays": []any{first(legal.Plays)}}, "the first play will do", nil
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
package arenabot

import (
	"bytes"
	"context"
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

	// Start is told that a game begins.
	Start func(game *GameStart) error

	// Decide answers a request with an action, which must be written in msgpack as the map that the game's protocol
	// page asks for, and a note: a short text of what the bot was thinking, or "". The note is kept in the log and
	// shown to no opponent during the game.
	Decide func(request *Request) (action any, note string, err error)

	// Over is told that a game has ended.
	Over func(result *GameOver)
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
}

// TimeControl is the time that a game allows, in milliseconds; nil means that there is no such limit.
type TimeControl struct {
	BankMS      *int64 `msgpack:"bank_ms"`
	IncrementMS int64  `msgpack:"increment_ms"`
	LimitMS     *int64 `msgpack:"limit_ms"`
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
// ends the process with status 1.
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
	defer socket.Close()
	if err := socket.Dial(endpoint); err != nil {
		return fmt.Errorf("cannot connect to %s: %w", endpoint, err)
	}
	return newSession(bot, socket).serve(os.Getenv("ARENA_TOKEN"))
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

// serve says hello and answers messages until the referee says goodbye.
func (s *session) serve(token string) error {
	err := s.send(hello{"hello", token, protocol, s.bot.Name, s.bot.Version, s.bot.Want})
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
