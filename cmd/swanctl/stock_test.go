package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// result is what a run of a swanctl did.
type result struct {
	Status         int
	Stdout, Stderr string
}

// world is where both swanctls run.
type world struct {
	uri string
	dir string // of swanctl.conf
}

func (w world) args(args []string) []string {
	if w.uri != "" {
		args = append(args[:len(args):len(args)], "--uri", w.uri)
	}
	return args
}

// stockPlugins are those of libstrongswan itself, which need no further package.
const stockPlugins = "aes sha2 sha1 md5 random nonce x509 pubkey pkcs1 pkcs8 pem hmac gmp kdf"

// stock runs the stock swanctl.
func (w world) stock(t *testing.T, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := w.stockCommand(t, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), ownNoise.ReplaceAllString(errs.String(), "")}
}

// stockCommand is the stock swanctl, ready to be run.
func (w world) stockCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("swanctl")
	if err != nil {
		t.Fatal("swanctl is not installed: apt-get install strongswan-swanctl ('make test' does)")
	}
	if moved := path + ".strongswan"; exists(moved) {
		path = moved // our package is installed
	}
	conf := filepath.Join(t.TempDir(), "strongswan.conf")
	if err := os.WriteFile(conf, []byte("swanctl { load = "+stockPlugins+" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it waits for some peers for ever
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, w.args(args)...)
	cmd.Args[0] = "swanctl"
	cmd.Env = append(os.Environ(), "STRONGSWAN_CONF="+conf, "SWANCTL_DIR="+w.dir)
	return cmd
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ownNoise is what the stock swanctl tells of itself: plugins, and folders that are not there.
var ownNoise = regexp.MustCompile(`(?m)^(plugin '|opening directory ).*\n`)

// ours runs our own. Whoever asks for a passphrase gets none.
func (w world) ours(t *testing.T, args ...string) result {
	t.Helper()
	return w.oursUntil(t, t.Context(), nobody, args...)
}

func nobody(string) ([]byte, error) { return nil, errors.New("nobody is there") }

func (w world) oursUntil(t *testing.T, ctx context.Context, ask func(string) ([]byte, error), args ...string) result {
	t.Helper()
	var out bytes.Buffer
	status, errs := w.oursTo(t, ctx, &out, ask, args...)
	return result{status, out.String(), errs}
}

func (w world) oursTo(t *testing.T, ctx context.Context, out io.Writer, ask func(string) ([]byte, error), args ...string) (status int, stderr string) {
	t.Helper()
	var errs bytes.Buffer
	env := environment{stdout: out, stderr: &errs, ask: ask, getenv: func(name string) string {
		switch name {
		case "SWANCTL_DIR":
			return w.dir
		case viciclient.URIVariable:
			return ""
		}
		t.Errorf("the environment is asked for %s", name)
		return ""
	}}
	status = run(ctx, append([]string{"swanctl"}, w.args(args)...), env)
	return status, errs.String()
}

// passing are times that run on from one run to the next.
var passing = regexp.MustCompile(`\b(\d+)s ago|(rekeying in|reauth in|expires in) \d+s|(established|install-time|rekey-time|reauth-time|life-time|use-in|use-out)( ?= ?)\d+`)

func compare(t *testing.T, name string, stock, ours result) {
	t.Helper()
	if d := cmp.Diff(lines(stock), lines(ours)); d != "" {
		t.Errorf("%s: -stock +ours\n%s", name, d)
	}
}

func lines(r result) []string {
	list := []string{fmt.Sprint("status ", r.Status)}
	for _, text := range []string{r.Stdout, "-- standard error\n" + r.Stderr} {
		list = append(list, strings.Split(passing.ReplaceAllString(text, "$2$3$4 T"), "\n")...)
	}
	return list
}

// formats are the options that choose how messages are written.
var formats = [][]string{nil, {"--raw"}, {"--pretty"}}
