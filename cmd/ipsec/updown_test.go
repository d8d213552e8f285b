package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// What goes in must come out again by the same rule, whichever chain it is, for the CHILD_SA's packets alone.
func TestUpdown(t *testing.T) {
	const tail = " -m policy --dir %d --pol ipsec --proto esp --reqid 7 -j ACCEPT\n"
	in, out := strings.Replace(tail, "%d", "in", 1), strings.Replace(tail, "%d", "out", 1)
	networks := func(program, change string) string {
		return program + " -w " + change + " FORWARD -s THEIRS -d OURS" + in + program + " -w " + change + " FORWARD -s OURS -d THEIRS" + out
	}
	host := func(program, change string) string {
		return program + " -w " + change + " INPUT -s THEIRS -d OURS" + in + program + " -w " + change + " OUTPUT -s OURS -d THEIRS" + out
	}
	for _, c := range []struct{ verb, access, want string }{
		{"up-client", "", networks("iptables", "-I")},
		{"down-client", "", networks("iptables", "-D")},
		{"up-client-v6", "1", networks("ip6tables", "-I") + host("ip6tables", "-I")},
		{"down-client", "1", networks("iptables", "-D") + host("iptables", "-D")},
		{"up-host", "", host("iptables", "-I")},
		{"down-host-v6", "1", host("ip6tables", "-D")},
		{"", "", ""},
		{"sideways-client", "", ""},
	} {
		vars := map[string]string{"PLUTO_VERB": c.verb, "PLUTO_MY_CLIENT": "OURS", "PLUTO_PEER_CLIENT": "THEIRS", "PLUTO_REQID": "7", "PLUTO_HOST_ACCESS": c.access}
		var done, errs bytes.Buffer
		env := environment{stdout: &done, stderr: &errs, getenv: func(name string) string { return vars[name] },
			exec: func(_ context.Context, _ environment, name string, args ...string) error {
				done.WriteString(strings.Join(append([]string{name}, args...), " ") + "\n")
				return errors.New("refused")
			}}
		status := run(t.Context(), []string{"_updown", "iptables"}, env)
		wantLines(t, c.want, done.String())
		if status != exitFailed || errs.Len() == 0 {
			t.Errorf("%s: what iptables refuses is not told: status %d, %s", c.verb, status, errs.String())
		}
	}
	if r := ipsec(t, "", "_updown", "custom"); r.status != exitFailed || !strings.Contains(r.stderr, "expected iptables") {
		t.Errorf("%+v", r)
	}
}
