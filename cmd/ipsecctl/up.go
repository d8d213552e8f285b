package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/strongswan/govici/vici"
	"github.com/urfave/cli/v2"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// logQueue is how many lines of the daemon's log may wait to be written.
const logQueue = 1024

// upResult is what up writes with --json, one for each child.
type upResult struct {
	Name  string    `json:"name"`
	OK    bool      `json:"ok"`
	Error string    `json:"error,omitempty"`
	Log   []logLine `json:"log"`
}

type logLine struct {
	Group   string `json:"group"`
	Message string `json:"message"`
}

func (c *commands) up(ctx *cli.Context) error {
	return c.withTarget(ctx, func(d *client, r *show.Report, t target) error {
		log := make(chan vici.Event, logQueue)
		d.NotifyEvents(log)
		defer d.StopEvents(log)
		if err := d.Subscribe("control-log"); err != nil {
			return classify(&viciclient.Unreachable{URI: d.URI, Command: "control-log", Err: err})
		}
		var results []upResult
		var failed error
		for _, one := range childrenOf(r, t) {
			res := c.upOne(ctx, d, log, one)
			results = append(results, res)
			if !res.OK {
				failed = fmt.Errorf("%s: %s", one, res.Error)
				break
			}
		}
		if c.json(ctx) {
			if err := c.printJSON(results); err != nil {
				return err
			}
		}
		return failed
	})
}

// upOne sets up one child and, unless JSON is wanted, writes the log meanwhile.
func (c *commands) upOne(ctx *cli.Context, d *client, log <-chan vici.Event, t target) upResult {
	timeout := ctx.Duration("timeout")
	errs := make(chan error, 1)
	go func() {
		_, err := d.control(ctx.Context, timeout+viciclient.CallTime, "initiate", "success", "ike", t.connection, "child", t.child, "timeout", milliseconds(timeout))
		errs <- err
	}()
	res := upResult{Name: t.String(), Log: []logLine{}}
	line := func(e vici.Event) {
		l := logLine{text(e, "group"), text(e, "msg")}
		res.Log = append(res.Log, l)
		if !c.json(ctx) {
			fmt.Fprintf(c.env.stdout, "[%s] %s\n", l.Group, l.Message)
		}
	}
	for {
		select {
		case e, ok := <-log:
			if !ok {
				log = nil // the connection ended; the reply says how
				continue
			}
			line(e)
		case err := <-errs:
			drain(log, line) // what came before the reply
			res.OK = err == nil
			if err != nil {
				res.Error = err.Error()
			} else if !c.json(ctx) {
				fmt.Fprintf(c.env.stdout, "%s: %s\n", t, upText(timeout))
			}
			return res
		}
	}
}

func drain(log <-chan vici.Event, line func(vici.Event)) {
	for {
		select {
		case e, ok := <-log:
			if !ok {
				return
			}
			line(e)
		default:
			return
		}
	}
}

func upText(timeout time.Duration) string {
	if timeout <= 0 {
		return "started"
	}
	return "up"
}

// text reads a value of the log without what could speak to the terminal.
func text(e vici.Event, key string) string {
	s, _ := e.Message.Get(key).(string)
	return strings.TrimSpace(show.Clean(s))
}
