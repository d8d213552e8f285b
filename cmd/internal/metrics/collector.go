package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
)

var (
	buildInfo      = gauge("build_info", "1, labelled with what is running.", "version", "goversion")
	startTime      = gauge("start_timestamp_seconds", "When the daemon started.")
	reloadOK       = gauge("config_last_reload_successful", "1 if the configuration was read without errors the last time.")
	reloadOKTime   = gauge("config_last_reload_success_timestamp_seconds", "When the configuration was last read without errors.")
	xfrmErrors     = counter("xfrm_errors_total", "Packets that the kernel dropped, by its own name for the reason (/proc/net/xfrm_stat).", "error")
	xfrmStates     = gauge("xfrm_states", "IPsec SAs in the kernel.")
	xfrmPolicies   = gauge("xfrm_policies", "Policies of the daemon in the kernel.")
	xfrmDrift      = gauge("xfrm_drift", "Differences between what the kernel should hold and what it held, found and repaired since the start.")
	routerRestarts = counter("router_restarts_total", "Restarts of the router process.")
)

// collector makes metrics of a status.
type collector struct{ src status.Source }

// NewCollector returns a collector of all the daemon's metrics. Each collection
// reads one status.
func NewCollector(src status.Source) prometheus.Collector { return collector{src} }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range all {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	st, s := c.src.Status(), sink(ch)
	s.put(buildInfo, 1, st.Version, runtime.Version())
	s.at(startTime, st.Started)
	s.flag(reloadOK, st.Reload.OK)
	s.at(reloadOKTime, st.Reload.SuccessAt)
	collectTunnels(s, st)
	collectIKE(s, st.Engine)
	for name, n := range st.Kernel.Errors {
		s.put(xfrmErrors, float64(n), name)
	}
	s.put(socketDrops, float64(st.Kernel.SocketDrops))
	s.put(xfrmStates, float64(st.Kernel.States))
	s.put(xfrmPolicies, float64(len(st.Kernel.Policies)))
	s.put(xfrmDrift, float64(st.Kernel.Drift))
	s.put(routerRestarts, float64(st.RouterRestarts))
	collectRouter(s, st.Router)
}
