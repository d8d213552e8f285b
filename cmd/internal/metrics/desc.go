package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metric is one metric's name, help and labels.
type metric struct {
	name   string
	help   string
	labels []string
	kind   prometheus.ValueType
	desc   *prometheus.Desc
}

// all are the metrics in the order of their definition.
var all []metric

func define(kind prometheus.ValueType, name, help string, labels ...string) metric {
	name = "ipsec_" + name
	m := metric{name, help, labels, kind, prometheus.NewDesc(name, help, labels, nil)}
	all = append(all, m)
	return m
}

func gauge(name, help string, labels ...string) metric {
	return define(prometheus.GaugeValue, name, help, labels...)
}

func counter(name, help string, labels ...string) metric {
	return define(prometheus.CounterValue, name, help, labels...)
}

// sink takes the samples of one scrape.
type sink chan<- prometheus.Metric

func (s sink) put(m metric, value float64, labels ...string) {
	for i := range labels {
		labels[i] = strings.ToValidUTF8(labels[i], "?")
	}
	c, err := prometheus.NewConstMetric(m.desc, m.kind, value, labels...)
	if err != nil {
		c = prometheus.NewInvalidMetric(m.desc, err)
	}
	s <- c
}

func (s sink) flag(m metric, value bool, labels ...string) {
	v := 0.0
	if value {
		v = 1
	}
	s.put(m, v, labels...)
}

// at puts a time in seconds since 1970, unless there was none.
func (s sink) at(m metric, t time.Time, labels ...string) {
	if !t.IsZero() {
		s.put(m, float64(t.UnixMilli())/1000, labels...)
	}
}
