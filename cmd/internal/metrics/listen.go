package metrics

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ipsecd/ipsecd/cmd/internal/status"
)

const (
	refreshTime = time.Second      // a scrape waits so long for current counts
	headerTime  = 5 * time.Second  // for a client to send its request
	answerTime  = 30 * time.Second // for it to take the answer
	idleTime    = 2 * time.Minute  // between two requests of one connection
	maxHeader   = 16 << 10         // octets
	maxScrapes  = 4                // at once; more are answered with 503
)

// Listen serves /metrics on host:port until the returned Closer is closed.
func Listen(addr string, ctl status.Control, log *slog.Logger) (io.Closer, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("metrics: cannot listen on %s (metrics.listen): %w", addr, err)
	}
	srv := &http.Server{
		Handler:           handler(ctl, log),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       headerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := srv.Serve(ln); err != nil && err != http.ErrServerClosed {
			log.Error("metrics are no longer served", "err", err)
		}
	}()
	return srv, nil
}

func handler(ctl status.Control, log *slog.Logger) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		NewCollector(refreshed{ctl}),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError, // a series less is better than none
		MaxRequestsInFlight: maxScrapes,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ipsecd: the metrics are at /metrics\n")
	})
	return mux
}

// refreshed has the kernel counted before each status.
type refreshed struct{ ctl status.Control }

// Status returns the present status, with current counts if they come in time.
func (r refreshed) Status() *status.Status {
	ctx, cancel := context.WithTimeout(context.Background(), refreshTime)
	defer cancel()
	_ = r.ctl.Refresh(ctx) // else the last counts serve
	return r.ctl.Status()
}
