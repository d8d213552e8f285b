package daemon

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/strongswan/govici/vici"

	"github.com/ipsecd/ipsecd/xfrm"
)

// connections returns the configured connections, by name, as list-conns tells them.
func (p *peer) connections(t *testing.T) map[string]*vici.Message {
	t.Helper()
	all := map[string]*vici.Message{}
	for m, err := range p.session.CallStreaming(context.Background(), "list-conns", "list-conn", nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range m.Keys() {
			all[name] = m.Get(name).(*vici.Message)
		}
	}
	return all
}

// section makes a section of keys and values, which may be lists and sections.
func section(t testing.TB, kv ...any) *vici.Message {
	t.Helper()
	m := vici.NewMessage()
	for i := 0; i < len(kv); i += 2 {
		if err := m.Set(kv[i].(string), kv[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// loadConn loads a connection whose one child is for a network.
func (p *peer) loadConn(t testing.TB, name, network, action string) {
	t.Helper()
	auth := section(t, "auth", "psk")
	child := section(t, "remote_ts", []string{network}, "local_ts", []string{"10.200.0.0/16"}, "start_action", action)
	conn := section(t, "local_addrs", []string{"127.0.0.1"}, "remote_addrs", []string{"127.0.0.9"}, "local-1", auth, "remote-1", auth,
		"children", section(t, "net", child))
	if _, err := p.session.Call(context.Background(), "load-conn", section(t, name, conn)); err != nil {
		t.Fatal(err)
	}
}

// What stands in the files waits for a reload, however it looks: a client that loads a connection loads that alone.
func TestLoadConnLeavesTheFilesAlone(t *testing.T) {
	p := startPeer(t, true, "none", canary)
	rekeyTime := func() string {
		net := p.connections(t)["loop"].Get("children").(*vici.Message).Get("net").(*vici.Message)
		return net.Get("rekey_time").(string)
	}
	kernel, before := p.kernel.String(), rekeyTime()

	if err := os.WriteFile(p.file, []byte("connections {\n  loop {\n    remote_addrs = 127."), 0o600); err != nil {
		t.Fatal(err)
	}
	p.loadConn(t, "one", "10.0.1.0/24", "none")
	if _, err := p.call(t, "reload-settings"); err == nil {
		t.Fatal("half a file was reloaded: nothing was tested")
	}
	writePeerConfig(t, p.file, true, "none\n        rekey_time = 10m", canary)
	p.loadConn(t, "two", "10.0.2.0/24", "none")
	if _, err := p.call(t, "load-shared", "id", "x", "type", "IKE", "data", "secret"); err != nil {
		t.Error(err)
	}
	if got := rekeyTime(); got != before {
		t.Errorf("load-conn applied what is being edited in the file: rekey_time is %s, was %s", got, before)
	}
	if got := p.kernel.String(); got != kernel {
		t.Errorf("load-conn touched the kernel:\n%s\nbefore:\n%s", got, kernel)
	}
	if _, err := p.call(t, "reload-settings"); err != nil {
		t.Fatal(err)
	}
	if got := rekeyTime(); got != "600" {
		t.Errorf("after the reload rekey_time is %s, want 600", got)
	}
	p.loadConn(t, "three", "10.0.3.0/24", "none")
	if got := rekeyTime(); got != "600" {
		t.Errorf("load-conn took the reload back: rekey_time is %s", got)
	}
	var names []string
	for name := range p.connections(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "loop one three two" {
		t.Errorf("connections: %s", got)
	}
}

// The traps of one connection come and go beside those of others.
func TestLoadConnLaysItsTrapsAlone(t *testing.T) {
	p := startPeer(t, true, "none", canary)
	networks := func() string {
		policies, err := p.kernel.Policies()
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, o := range policies {
			if o.Dir == xfrm.DirOut {
				list = append(list, o.Selector.Dst.String())
			}
		}
		slices.Sort(list)
		listed, err := p.stream(t, "list-policies", "list-policy", "trap", "yes")
		if err != nil || len(listed) != len(list) {
			t.Errorf("list-policies has %v, the kernel %v (%v)", listed, list, err)
		}
		return strings.Join(list, " ")
	}
	unload := func(name string) {
		if _, err := p.call(t, "unload-conn", "name", name); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { p.loadConn(t, "one", "10.0.1.0/24", "trap") }, "10.0.1.0/24"},
		{func() { p.loadConn(t, "two", "10.0.2.0/24", "trap") }, "10.0.1.0/24 10.0.2.0/24"},
		{func() { p.loadConn(t, "three", "10.0.3.0/24", "none") }, "10.0.1.0/24 10.0.2.0/24"},
		{func() { p.loadConn(t, "one", "10.0.4.0/24", "trap") }, "10.0.2.0/24 10.0.4.0/24"},
		{func() { p.loadConn(t, "two", "10.0.2.0/24", "none") }, "10.0.4.0/24"},
		{func() { unload("one") }, ""},
	} {
		step.do()
		if got := networks(); got != step.want {
			t.Errorf("traps for %q, want %q", got, step.want)
		}
	}
}

// What a client loads and will not be honoured is in the log, once.
func TestLoadConnWarns(t *testing.T) {
	p := startPeer(t, true, "none", canary)
	conn := section(t, "remote_addrs", "127.0.0.9", "local", section(t, "auth", "psk", "revocation", "strict"), "remote", section(t, "auth", "psk"), "children", section(t, "net", section(t)))
	if _, err := p.session.Call(context.Background(), "load-conn", section(t, "one", conn)); err != nil {
		t.Fatal(err)
	}
	p.loadConn(t, "two", "10.0.2.0/24", "none")
	if n := strings.Count(p.log.String(), "VICI:1: connections.one.local.revocation is not honoured; it would "); n != 1 {
		t.Errorf("%d warnings about revocation in local", n)
	}
}
