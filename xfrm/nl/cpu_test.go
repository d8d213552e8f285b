package nl

import "testing"

func TestLastCPU(t *testing.T) {
	for list, want := range map[string]int{"0\n": 0, "0-3\n": 3, "0,2-3": 3, "0-1,5\n": 5} {
		if n, err := lastCPU(list); err != nil || n != want {
			t.Errorf("%q: %d, %v; want %d", list, n, err, want)
		}
	}
	for _, list := range []string{"", "none", "0-", "-1-"} {
		if n, err := lastCPU(list); err == nil {
			t.Errorf("%q: %d, want an error", list, n)
		}
	}
}
