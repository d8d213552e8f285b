package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/vici"
)

// told is what is said of an error, before the usage, whose words are each one's own.
func told(r result) result {
	var kept []string
	for line := range strings.Lines(r.Stderr) {
		if strings.HasPrefix(line, "swanctl of ipsecd") || strings.HasPrefix(line, "strongSwan ") {
			break
		}
		kept = append(kept, line)
	}
	return result{r.Status, r.Stdout, strings.Join(kept, "")}
}

// TestBadCommandLinesLikeStock: so is what is said of them.
func TestBadCommandLinesLikeStock(t *testing.T) {
	_, uri := serveScript(t, script{"list-sas": replying(nil), "list-conns": replying(nil), "stats": replying(nil)})
	nowhere := world{uri: "unix://" + filepath.Join(t.TempDir(), "none")}
	for _, command := range []string{
		"--nosuch", "nosuch", "-Q", "--list-", "--list-sas --nosuch", "--list-sas --ike", "--list-sas -i", "--list-sas -Z", "--list-sas --c x", "--list-sas --raw=x",
		"--list-conns --ike x", "--stats --version", "--list-sas --list-conns", "--uri x --list-sas", "-- --list-sas",
	} {
		args := strings.Fields(command)
		compare(t, command, told(world{}.stock(t, args...)), told(world{}.ours(t, args...)))
	}
	for _, command := range []string{"--list-s", "-l -r", "--list-sas extra --raw", "extra -l --pretty --raw", "--list-sas --ike=x -cfoo -nr", "-l -v 0 -P", "--list-conns --he=x"} {
		args := strings.Fields(command)
		compare(t, command, told(world{uri: uri}.stock(t, args...)), told(world{uri: uri}.ours(t, args...)))
	}
	for _, command := range []string{"--list-sas", "--load-all", "--version", "--initiate --child x"} {
		args := strings.Fields(command)
		compare(t, command+" without a daemon", told(nowhere.stock(t, args...)), told(nowhere.ours(t, args...)))
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil {
		t.Fatal(err)
	} else if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: closed}); err != nil {
		t.Fatal(err)
	} else {
		syscall.Close(fd)
	}
	w := world{uri: "unix://" + closed}
	compare(t, "a socket without a daemon", told(w.stock(t, "--stats")), told(w.ours(t, "--stats")))
}

// TestHelp names every command of the stock swanctl, with its letter, and every option of each.
func TestHelp(t *testing.T) {
	_, uri := serveScript(t, nil)
	options := func(text string) (list []string) {
		for line := range strings.Lines(text) {
			name, rest, found := strings.Cut(line, "--")
			letter, _, hasLetter := strings.Cut(rest, ")")
			if !found || !hasLetter || strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "swanctl")) != "" {
				continue
			}
			fields := strings.Fields(letter)
			list = append(list, fields[0]+" "+fields[len(fields)-1])
		}
		return list
	}
	stock, own := options(world{}.stock(t, "--help").Stdout), world{}.ours(t, "--help")
	ours := options(own.Stdout)
	if own.Status != 0 || len(ours) != 26 || strings.Join(stock, "\n") != strings.Join(ours, "\n") {
		t.Errorf("the stock swanctl has\n%s\nand ours\n%s\n%+v", strings.Join(stock, "\n"), strings.Join(ours, "\n"), own)
	}
	for _, command := range ours {
		name, _, _ := strings.Cut(command, " ")
		if name == "help" {
			continue
		}
		theirs, got := options(world{uri: uri}.stock(t, "--"+name, "--help").Stdout), world{}.ours(t, "--"+name, "--help")
		if list := options(got.Stdout); got.Status != 0 || strings.Join(theirs, "\n") != strings.Join(list, "\n") {
			t.Errorf("--%s: the stock swanctl has\n%s\nand ours\n%s", name, strings.Join(theirs, "\n"), strings.Join(list, "\n"))
		}
	}
	if got := (world{}).ours(t); got.Status != 0 || got.Stdout != own.Stdout {
		t.Errorf("without arguments: %+v", got)
	}
}

// TestOptionsFromAFile count as if they stood on the command line.
func TestOptionsFromAFile(t *testing.T) {
	d, uri := serveScript(t, script{"list-sas": replying(nil)})
	file := filepath.Join(t.TempDir(), "options")
	if err := os.WriteFile(file, []byte("--raw # not pretty\n  --ike \"a b\" # quoted\n--options "+file+".more\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+".more", []byte("-c net\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := world{uri: uri}
	got := w.ours(t, "--list-sas", "--options", file)
	asked := strings.Join(d.take(), "\n")
	if got.Status != 0 || got.Stdout != "list-sas reply {}\n" || !strings.Contains(asked, "a b") || !strings.Contains(asked, "net") {
		t.Errorf("%+v, asked for %s", got, asked)
	}
	for name, text := range map[string]string{"loop": "--options " + file + ".loop", "quote": `--ike "a`} {
		if err := os.WriteFile(file+"."+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := w.ours(t, "-l", "-+", file+"."+name); got.Status != exitFailed || !strings.HasPrefix(got.Stderr, "Error: --options "+file) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := w.ours(t, "-l", "-+", file+".nosuch"); got.Status != exitFailed || !strings.Contains(got.Stderr, "no such file") {
		t.Errorf("%+v", got)
	}
}

// TestRefusedListings: the stock swanctl would pass over the daemon's word.
func TestRefusedListings(t *testing.T) {
	_, uri := serveScript(t, script{"list-sas": replying(refusing), "get-pools": replying(refusing), "flush-certs": replying(refusing)})
	for option, command := range map[string]string{"--list-sas": "list-sas", "--list-pools": "get-pools", "--flush-certs": "flush-certs"} {
		if got := (world{uri: uri}).ours(t, option); got != (result{exitFailed, "", command + " failed: because\n"}) {
			t.Errorf("%s: %+v", option, got)
		}
		if got := (world{uri: uri}).ours(t, option, "--raw"); got != (result{0, command + " reply {success=no errmsg=because}\n", ""}) {
			t.Errorf("%s --raw: %+v", option, got)
		}
	}
	if got := (world{uri: uri}).ours(t, "--stats"); got.Status != exitRequest || got.Stderr != "stats request failed: The daemon does not know this command\n" {
		t.Errorf("an unknown command: %+v", got)
	}
	if got := (world{uri: "nowhere"}).ours(t, "--stats"); got.Status == 0 || !strings.Contains(got.Stderr, "unix:///path or tcp://host:port is expected") {
		t.Errorf("no URI: %+v", got)
	}
}

// TestWhatPeersSendCannotControlTheTerminal.
func TestWhatPeersSendCannotControlTheTerminal(t *testing.T) {
	const evil = "\x1b[2Jü\n"
	_, uri := serveScript(t, script{
		"list-sas": {"list-sa", []func(*vici.Builder){func(b *vici.Builder) {
			b.Section("gw"+evil, func() { keys(b, "uniqueid", "1", "remote-id", evil); b.List("remote-vips", []string{evil}) })
		}}, nil},
		"stats": replying(func(b *vici.Builder) { b.List("plugins", []string{evil}) }),
	})
	for _, args := range [][]string{{"--list-sas"}, {"--list-sas", "--raw"}, {"--list-sas", "--pretty"}, {"--stats"}, {"--stats", "--pretty"}} {
		got := world{uri: uri}.ours(t, args...)
		if strings.ContainsAny(got.Stdout, "\x1bü") || got.Status != 0 {
			t.Errorf("%v: %+v", args, got)
		}
	}
}
