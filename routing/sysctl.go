package routing

import (
	"os"
	"path/filepath"
	"strings"
)

// wantedSysctls are the settings that multipath routing wants, with what
// happens without them.
var wantedSysctls = []struct{ name, want, why string }{
	{"net.ipv4.nexthop_compat_mode", "0", "losing a leg costs time for every route"},
	{"net.ipv4.fib_multipath_hash_policy", "1", "all flows between two hosts use one leg"},
	{"net.ipv6.fib_multipath_hash_policy", "1", "all flows between two hosts use one leg"},
}

// Sysctl is the state of one kernel setting.
type Sysctl struct {
	Name    string // net.ipv4.nexthop_compat_mode
	Want    string
	Have    string // after CheckSysctls
	Why     string // what happens if it is not as wanted
	Changed bool
	Err     error // it could not be read or set
}

// OK reports whether the setting is as wanted.
func (s Sysctl) OK() bool { return s.Err == nil && s.Have == s.Want }

// CheckSysctls compares the kernel settings that multipath routing wants and,
// if set is true, sets those that differ. dir is "/proc/sys"; the settings are
// those of the calling thread's network namespace.
func CheckSysctls(dir string, set bool) []Sysctl {
	var out []Sysctl
	for _, w := range wantedSysctls {
		s := Sysctl{Name: w.name, Want: w.want, Why: w.why}
		path := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(w.name, ".", "/")))
		s.Have, s.Err = readSysctl(path)
		if set && s.Err == nil && s.Have != s.Want {
			if s.Err = os.WriteFile(path, []byte(s.Want+"\n"), 0); s.Err == nil {
				s.Have, s.Err = readSysctl(path)
				s.Changed = s.OK()
			}
		}
		out = append(out, s)
	}
	return out
}

func readSysctl(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}
