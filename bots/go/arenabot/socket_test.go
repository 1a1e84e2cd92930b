package arenabot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-zeromq/zmq4"
	"github.com/vmihailenco/msgpack/v5"
)

// A referee is the other end of a bot's connection.
type referee struct {
	t      *testing.T
	socket zmq4.Socket
	bot    []byte
}

func listen(t *testing.T, endpoint string) *referee {
	t.Helper()
	socket := zmq4.NewRouter(context.Background())
	t.Cleanup(func() { socket.Close() })
	if err := socket.Listen(endpoint); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(endpoint, "tcp://") {
		endpoint = "tcp://" + socket.Addr().String()
	}
	t.Setenv("ARENA_ENDPOINT", endpoint)
	t.Setenv("ARENA_TOKEN", "3c0ffee")
	return &referee{t: t, socket: socket}
}

func (r *referee) receive() any {
	r.t.Helper()
	message, err := r.socket.Recv()
	if err != nil {
		r.t.Fatal(err)
	}
	if len(message.Frames) != 2 {
		r.t.Fatalf("expected the bot's identity and one frame, got: %d frames", len(message.Frames))
	}
	r.bot = message.Frames[0]
	var found any
	if err := read(message.Frames[1], &found); err != nil {
		r.t.Fatal(err)
	}
	return plain(found)
}

func (r *referee) send(message map[string]any) {
	r.t.Helper()
	frame, err := msgpack.Marshal(message)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.socket.Send(zmq4.NewMsgFrom(r.bot, frame)); err != nil {
		r.t.Fatal(err)
	}
}

// shortFolder returns a folder for a socket, whose path has some hundred bytes at most.
func shortFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "arena-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

func TestASessionOverEitherTransport(t *testing.T) {
	for _, transport := range []string{"ipc", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			endpoint := "tcp://127.0.0.1:0"
			if transport == "ipc" {
				endpoint = "ipc://" + filepath.Join(shortFolder(t), "referee")
			}
			referee := listen(t, endpoint)
			ended := make(chan error, 1)
			go func() { ended <- run(Bot{Decide: pass}) }()
			mustHold(t, referee.receive(), map[string]any{"type": "hello", "token": "3c0ffee"})
			referee.send(welcomeMessage)
			referee.send(startMessage)
			mustHold(t, referee.receive(), map[string]any{"type": "ready", "game": int64(1)})
			referee.send(map[string]any{"type": "request", "id": 1, "padding": strings.Repeat("x", 1<<20-100)})
			mustHold(t, referee.receive(), map[string]any{"type": "action", "id": int64(1)})
			referee.send(goodbyeMessage)
			mustEqual(t, <-ended, nil)
		})
	}
}

func TestTheBotEndsWhenTheRefereeIsGone(t *testing.T) {
	referee := listen(t, "ipc://"+filepath.Join(shortFolder(t), "referee"))
	ended := make(chan error, 1)
	go func() { ended <- run(Bot{Decide: pass}) }()
	referee.receive()
	referee.socket.Close()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "cannot receive from the referee") {
		t.Errorf("expected the lost connection to be named, got: %v", err)
	}
}

func TestTheEnvironmentIsAskedFor(t *testing.T) {
	t.Setenv("ARENA_ENDPOINT", "")
	if err := run(Bot{Decide: pass}); err == nil || !strings.Contains(err.Error(), "expected ARENA_ENDPOINT") {
		t.Errorf("expected the variable to be named, got: %v", err)
	}
}
