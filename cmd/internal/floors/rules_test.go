package floors

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rulesOfIKE is how many rules docs/ike-rules.md must have.
const rulesOfIKE = 54

// reason is how a cell begins that says why there is no test.
var reason = regexp.MustCompile(`(?:n/a|open): .{10}`)

// Each rule has a test that breaks when the rule is broken, or a reason why it has none.
func TestEveryIKERuleIsCovered(t *testing.T) {
	next := 1
	for _, row := range rows(t, "ike-rules.md") {
		if n, err := strconv.Atoi(row[0]); err != nil || n != next {
			t.Errorf("rule %q follows %d", row[0], next-1)
		}
		next++
		covered(t, "rule "+row[0], row)
	}
	if next != rulesOfIKE+1 {
		t.Errorf("%d rules, want %d", next-1, rulesOfIKE)
	}
}

// Each section of the extensions has a test, or a reason why it has none.
func TestEveryExtensionIsCovered(t *testing.T) {
	all := rows(t, "ike-extensions.md")
	if len(all) < 25 {
		t.Errorf("only %d rows", len(all))
	}
	for _, row := range all {
		covered(t, row[0], row)
	}
}

// Each published fault has a regression test, or a reason why it cannot apply.
func TestEveryPublishedFaultIsCovered(t *testing.T) {
	all := rows(t, "published-faults.md")
	if len(all) < 70 {
		t.Errorf("only %d faults", len(all))
	}
	for _, row := range all {
		covered(t, row[0], row)
	}
}

// rows returns the cells of the tables of a document, less their headings.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	b, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]string
	heading := true
	for line := range strings.Lines(string(b)) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "| ")
		switch {
		case strings.HasPrefix(line, "|---"):
			heading = false
		case !isRow:
			heading = true
		case !heading:
			out = append(out, strings.Split(strings.TrimSuffix(line, " |"), " | "))
		}
	}
	return out
}

func covered(t *testing.T, what string, row []string) {
	t.Helper()
	if len(row) != 4 {
		t.Errorf("%s has %d cells: %q", what, len(row), row)
		return
	}
	if last := row[3]; !testName.MatchString(last) && !reason.MatchString(last) {
		t.Errorf("%s has neither a test nor a reason: %q", what, last)
	}
}
