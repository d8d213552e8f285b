//go:build lab

package scenario

import (
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

// scrape reads /metrics as Prometheus would.
func scrape(t *testing.T, n *labtest.Netns) string {
	t.Helper()
	body, err := labtest.HTTPGet(n, "http://"+metricsListen+"/metrics")
	if err != nil {
		t.Fatal(err)
	}
	return body
}
