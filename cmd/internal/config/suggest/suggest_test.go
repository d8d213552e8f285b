package suggest

import "testing"

func TestDidYouMean(t *testing.T) {
	names := []string{"address", "addresses", "mtu", "if_id", "link"}
	for in, want := range map[string]string{
		"adress": "; did you mean address?", "ifid": "; did you mean if_id?", "mtuu": "; did you mean mtu?", "colour": "", "x": "",
	} {
		if got := DidYouMean(in, names); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
