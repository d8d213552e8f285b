package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ipsecd/ipsecd/ike"
)

const planned = `connections {
 a { remote_addrs = 192.0.2.1
  local { auth = psk }
  remote { auth = psk }
  children {
   one { local_ts = 10.1.0.0/16 }
   two { local_ts = 10.2.0.0/16 }
  }
 }
 b : connections.a { remote_addrs = 192.0.2.2
 }
}
secrets {
 ike-a { id = 192.0.2.1
  secret = x
 }
 ike-b { id = 192.0.2.2
  secret = x
 }
}
interfaces {
 x { if_id = 1 }
}
bgp { as = 65515
 router_id = 10.0.0.1
 neighbors {
  n { address = 10.0.0.9
   as = 1
  }
 }
}
`

func TestPlan(t *testing.T) {
	old := load(t, planned)
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(planned) }
	for _, c := range []struct{ name, text, want string }{
		{"same", planned, "nothing changes; 19 unchanged\n"},
		{"lines moved", "\n# a comment\n\n" + planned, "nothing changes; 19 unchanged\n"},
		{"one child", replace("one { local_ts = 10.1.0.0/16 }", "one { local_ts = 10.9.0.0/16 }"),
			"replace  child a.one: local_ts\nreplace  child b.one: local_ts\n17 unchanged\n"},
		{"a connection takes its children along", replace("192.0.2.2\n }", "192.0.2.2\n dpd_delay = 10s\n encap = yes\n }"),
			"replace  connection b: encap, dpd_delay\n16 unchanged\n"},
		{"a child more and one less", replace("one {", "three {"),
			"stop     child a.one\nstop     child b.one\nstart    child a.three\nstart    child b.three\n17 unchanged\n"},
		{"a secret, not shown", replace("secret = x\n }\n ike-b", "secret = hush\n }\n ike-b"),
			"replace  secret ike-a: key\n18 unchanged\n"},
		{"neighbour and section", replace("as = 1\n", "as = 2\n") + "routing { metric = 30 }",
			"replace  neighbor n: as\nreplace  routing: metric\n17 unchanged\n"},
		{"renamed", replace("x { if_id", "y { if_id"), "stop     interface x\nstart    interface y\n18 unchanged\n"},
	} {
		if got := Diff(old, load(t, c.text)).String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Going back undoes what going forth did: what started stops, and the other
// way round.
func TestPlanIsSymmetric(t *testing.T) {
	full, empty := load(t, planned), load(t, "")
	count := func(p Plan, v Verb) int {
		n := 0
		for _, c := range p.Changes {
			if c.Verb == v {
				n++
			}
		}
		return n
	}
	there, back := Diff(empty, full), Diff(full, empty)
	if count(there, Start) != 7 || count(there, Start) != count(back, Stop) || count(there, Stop)+count(back, Start) != 0 || there.Unchanged != back.Unchanged {
		t.Errorf("there:\n%vback:\n%v", there, back)
	}
	if first := Diff(nil, full); count(first, Start) != len(first.Changes) || first.Unchanged != 0 {
		t.Errorf("from nothing:\n%v", first)
	}
}

// A plan says what has changed in the words of swanctl.conf.
func TestPlanNamesKeys(t *testing.T) {
	known := schema(t)
	noKey := map[string]bool{"Name": true, "Source": true, "Lines": true, "Children": true}
	check := func(section string, v reflect.Type) {
		for _, f := range reflect.VisibleFields(v) {
			if f.Anonymous || noKey[f.Name] {
				continue
			}
			if key := fieldKey(v, f.Name); !known[section][key] {
				t.Errorf("%s.%s is called %s, which is no key of %s", v, f.Name, key, section)
			}
		}
	}
	check("connections.*", reflect.TypeFor[ike.Connection]())
	check("connections.*.children.*", reflect.TypeFor[ike.ChildConfig]())

	old, new := ike.ChildConfig{}, ike.ChildConfig{RekeyTime: 1}
	new.CopyDSCPIn, new.CopyDSCPOut, new.ForwardICMP = true, true, true
	if got := strings.Join(changedFields(old, new), " "); got != "rekey_time copy_dscp icmp" {
		t.Errorf("changed: %s", got)
	}
}
