package arenabot

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

const vectorsFolder = "../../../protocol/vectors"

// A vector is one of protocol/vectors, as section 13.1 of the specification describes it.
type vector struct {
	ID      string
	From    string
	Hex     string
	Decoded any
}

func (v *vector) frame(t *testing.T) []byte {
	t.Helper()
	var frame []byte
	for _, part := range strings.Fields(v.Hex) {
		digits, times, repeated := strings.Cut(part, "*")
		count := 1
		var err error
		if repeated {
			if count, err = strconv.Atoi(times); err != nil {
				t.Fatal(err)
			}
		}
		piece, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		frame = append(frame, bytes.Repeat(piece, count)...)
	}
	return frame
}

// eachVector runs a test for every vector of a folder that one party sends.
func eachVector(t *testing.T, folder, from string, test func(t *testing.T, v vector)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(vectorsFolder, folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Vectors []vector }
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&file); err != nil {
			t.Fatal(err)
		}
		for _, vector := range file.Vectors {
			vector := vector
			if vector.From == from {
				count++
				vector.Decoded = plain(vector.Decoded)
				t.Run(vector.ID, func(t *testing.T) { test(t, vector) })
			}
		}
	}
	if count == 0 {
		t.Fatalf("expected vectors in %s, got: none", vectorsFolder)
	}
}

// plain returns a value out of JSON or msgpack with all its integers as int64.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = plain(value[key])
		}
	case []any:
		for i := range value {
			value[i] = plain(value[i])
		}
	case json.Number:
		number, err := value.Int64()
		if err != nil {
			panic(err)
		}
		return number
	}
	if number := reflect.ValueOf(value); number.CanInt() {
		return number.Int()
	} else if number.CanUint() {
		return int64(number.Uint())
	}
	return value
}

// reread returns a value as a receiver finds it in msgpack.
func reread(t *testing.T, value any) any {
	t.Helper()
	frame, err := msgpack.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var found any
	if err := read(frame, &found); err != nil {
		t.Fatal(err)
	}
	return plain(found)
}

func mustEqual[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("expected %#v, got: %#v", want, got)
	}
}

// mustHold checks that all of want is in got: its maps may have more keys.
func mustHold(t *testing.T, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		found, isMap := got.(map[string]any)
		if !isMap {
			t.Fatalf("expected a map, got: %#v", got)
		}
		for key, value := range want {
			if _, isThere := found[key]; !isThere && value != nil {
				t.Errorf("expected the key %q", key)
			}
			mustHold(t, found[key], value)
		}
	case []any:
		found, isArray := got.([]any)
		if !isArray || len(found) != len(want) {
			t.Fatalf("expected %#v, got: %#v", want, got)
		}
		for i := range want {
			mustHold(t, found[i], want[i])
		}
	default:
		mustEqual(t, got, any(want))
	}
}

// received returns an empty message of a type that the referee sends, or nil.
func received(kind string) any {
	switch kind {
	case "welcome":
		return new(welcome)
	case "game_start":
		return new(GameStart)
	case "request":
		return new(Request)
	case "game_over":
		return new(GameOver)
	case "error":
		return new(complaint)
	}
	return nil
}

func TestValidVectorsFromTheRefereeAreRead(t *testing.T) {
	eachVector(t, "valid", "referee", func(t *testing.T, v vector) {
		frame := v.frame(t)
		kind, err := typeOf(frame)
		if err != nil {
			t.Fatal(err)
		}
		var whole any
		if err := read(frame, &whole); err != nil {
			t.Fatal(err)
		}
		message := received(kind)
		if v.Decoded == nil {
			mustEqual(t, message, nil)
			if over, err := newSession(Bot{}, nil).handle(frame); over || err != nil {
				t.Errorf("expected it to be ignored, got: %v, %v", over, err)
			}
			return
		}
		decoded := v.Decoded.(map[string]any)
		mustEqual(t, any(kind), decoded["type"])
		mustHold(t, plain(whole), decoded)
		if message == nil {
			mustEqual(t, kind, "goodbye")
			return
		}
		if err := read(frame, message); err != nil {
			t.Fatal(err)
		}
		// What the client does not look at has no place in its types.
		for _, key := range []string{"type", "protocol", "max_frame", "id", "scores", "receipt", "capabilities"} {
			if _, isRequest := message.(*Request); key != "id" || !isRequest {
				delete(decoded, key)
			}
		}
		mustHold(t, reread(t, message), decoded)
	})
}

func TestValidVectorsFromABotAreWritten(t *testing.T) {
	eachVector(t, "valid", "bot", func(t *testing.T, v vector) {
		if v.Decoded == nil {
			t.Skip("a message that no bot sends")
		}
		decoded := v.Decoded.(map[string]any)
		var message any = decoded
		switch text := func(key string) string { text, _ := decoded[key].(string); return text }; decoded["type"] {
		case "hello":
			sent := hello{"hello", text("token"), text("protocol"), text("name"), text("version"), nil, nil, text("entropy")}
			wants, _ := decoded["want"].([]any)
			for _, name := range wants {
				sent.Want = append(sent.Want, name.(string))
			}
			if len(wants) == 0 {
				delete(decoded, "want") // left out, which means the same (§5.3-3)
			}
			rules, _ := decoded["rules"].([]any)
			for _, entry := range rules {
				played := Played{entry.(map[string]any)["name"].(string), []int{}}
				for _, version := range entry.(map[string]any)["versions"].([]any) {
					played.Versions = append(played.Versions, int(version.(int64)))
				}
				sent.Rules = append(sent.Rules, played)
			}
			delete(decoded, "capabilities") // this client has none
			message = sent
		case "ready":
			message = ready{"ready", decoded["game"].(int64)}
		case "action":
			message = answer{"action", decoded["id"].(int64), decoded["action"], text("note")}
			if text("note") == "" {
				delete(decoded, "note")
			}
		}
		mustEqual(t, reread(t, message), any(decoded))
	})
}

// A client may refuse or ignore what no referee should send: it must not break or wait for ever.
func TestInvalidVectorsDoNoHarm(t *testing.T) {
	for _, from := range []string{"referee", "bot"} {
		eachVector(t, "invalid", from, func(t *testing.T, v vector) {
			script := &script{frames: [][]byte{v.frame(t)}}
			err := newSession(Bot{Decide: pass}, script).serve("3c0ffee")
			mustEqual(t, len(script.frames), 0)
			t.Log(err)
		})
	}
}
