package metrics

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/cmd/internal/status/statustest"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestEndpoint(t *testing.T) {
	ctl := statustest.NewControl(statustest.New())
	srv := httptest.NewServer(handler(ctl, slog.New(slog.DiscardHandler)))
	defer srv.Close()
	code, body := get(t, srv.URL+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("status %d: %s", code, body)
	}
	for _, want := range []string{
		"# TYPE ipsec_child_bytes_total counter\n",
		`ipsec_child_up{child="net",connection="branch2"} 0` + "\n",
		"process_start_time_seconds ",
		"go_goroutines ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in the answer", want)
		}
	}
	if ctl.Refreshes != 1 {
		t.Errorf("the kernel was asked %d times for one scrape", ctl.Refreshes)
	}
	if strings.Contains(body, statustest.Canary) {
		t.Error("the answer holds a secret")
	}
	if code, _ := get(t, srv.URL+"/nothing"); code != http.StatusNotFound {
		t.Errorf("/nothing: status %d", code)
	}
}

func TestListen(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if _, err := Listen(addr, nil, log); err == nil || !strings.Contains(err.Error(), "cannot listen on "+addr+" (metrics.listen)") {
		t.Errorf("a taken address: error %v", err)
	}
	ln.Close()
	c, err := Listen(addr, statustest.NewControl(statustest.New()), log)
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t, "http://"+addr+"/"); code != http.StatusOK {
		t.Errorf("status %d", code)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("still listening after Close")
	}
}
