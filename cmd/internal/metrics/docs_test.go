package metrics

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

const root = "../../.."

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// docs/metrics.md has a row for each metric, with the help text that
// Prometheus shows.
func TestEveryMetricIsDocumented(t *testing.T) {
	var want []string
	for _, m := range all {
		kind := "gauge"
		if m.kind == prometheus.CounterValue {
			kind = "counter"
		}
		labels := ""
		if len(m.labels) > 0 {
			labels = "`" + strings.Join(m.labels, "`, `") + "`"
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", m.name, kind, labels, m.help))
	}
	got := regexp.MustCompile("(?m)^\\| `ipsec_.*$").FindAllString(readFile(t, "docs/metrics.md"), -1)
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("docs/metrics.md -want +got:\n%s", d)
	}
}

// Counters end in _total and nothing else does; times are absolute.
func TestNames(t *testing.T) {
	for _, m := range all {
		if (m.kind == prometheus.CounterValue) != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s: _total is for counters", m.name)
		}
		if strings.HasPrefix(m.help, "When ") != strings.HasSuffix(m.name, "_timestamp_seconds") {
			t.Errorf("%s: a time is a _timestamp_seconds", m.name)
		}
	}
}

// A dashboard or an alert on a metric that does not exist never shows and never
// fires.
func TestDashboardAndAlertsUseKnownMetrics(t *testing.T) {
	known := map[string]bool{}
	for _, m := range all {
		known[m.name] = true
	}
	name := regexp.MustCompile(`\bipsec_[a-z_]+\b`)
	dashboard := readFile(t, "scripts/grafana/dashboard.json")
	if !json.Valid([]byte(dashboard)) {
		t.Error("dashboard.json is no JSON")
	}
	for file, text := range map[string]string{"dashboard.json": dashboard, "alerts.yml": readFile(t, "scripts/grafana/alerts.yml")} {
		used := name.FindAllString(text, -1)
		if len(used) < 5 {
			t.Errorf("%s uses %d metrics", file, len(used))
		}
		for _, n := range used {
			if !known[n] {
				t.Errorf("%s uses %s, which does not exist", file, n)
			}
		}
	}
}
