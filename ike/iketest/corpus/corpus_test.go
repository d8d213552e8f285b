package corpus

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReadme: each input is in the list, with what is expected of it.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(b)
	for _, in := range All() {
		expect := in.Expect
		if in.SA == "gone" {
			expect += ", the IKE SA ends"
		}
		line := "| `" + in.Name + "` | " + in.What + " | " + in.Fault + " | " + in.Stage + ", " + in.Exchange + " | " + expect + " |\n"
		if !strings.Contains(readme, line) {
			t.Errorf("README.md lacks %s", line)
		}
		if !slices.Contains([]string{Clear, HalfOpen, Established}, in.Stage) || in.Fault == "" || in.Expect == "" ||
			(in.SA == "") != (in.Stage == Clear) {
			t.Errorf("%s.hex is incomplete: %+v", in.Name, in)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"# what\n# unknown: x\n00", "# what\n# first: 300\n00", "# what\n0", "# what\nno digits"} {
		if in, err := parse("x", text); err == nil {
			t.Errorf("%q reads as %+v", text, in)
		}
	}
}
