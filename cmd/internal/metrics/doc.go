// Package metrics serves the daemon's status to Prometheus. The names, types
// and help texts are documented in docs/metrics.md; labels are few and do not
// change with each SA, so that series live as long as what they count.
package metrics
