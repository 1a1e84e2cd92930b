package arenabot

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example returns the bot in the client's opening comment.
func example(t *testing.T, client string) string {
	t.Helper()
	_, text, begins := strings.Cut(client, "//\tpackage main\n")
	text, _, ends := strings.Cut(text, "\n//\n// The referee starts the bot")
	if !begins || !ends {
		t.Fatal("expected an example in the opening comment, got: none")
	}
	lines := strings.Split("//\tpackage main\n"+text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(line, "//"), "\t")
	}
	return strings.Join(lines, "\n")
}

func TestTheExampleCompilesBesideACopyOfTheClient(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "arenabot"), 0o755); err != nil {
		t.Fatal(err)
	}
	for source, target := range map[string]string{
		"arenabot.go": "arenabot/arenabot.go", "../go.mod": "go.mod", "../go.sum": "go.sum",
	} {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, target), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if source == "arenabot.go" {
			bot := []byte(example(t, string(text)))
			if err := os.WriteFile(filepath.Join(folder, "bot.go"), bot, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = folder
	if output, err := vet.CombinedOutput(); err != nil {
		t.Errorf("expected the example to be sound, got: %v\n%s", err, output)
	}
}
