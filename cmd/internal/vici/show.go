package vici

import (
	"encoding/json"
	"errors"

	"github.com/ipsecd/ipsecd/cmd/internal/show"
)

// A reply carries the report in a list of pieces that the format can hold.
const (
	showPiece  = maxValue
	showPieces = 7 // so that the reply stays below maxSegment
)

// show answers ipsecctl with the daemon's report as JSON. A long report takes
// several replies: more=yes asks the client to send the command again with
// continue=yes. Events would be lost by clients that read them slowly.
func (c *call) show() error {
	if c.flag("continue") {
		if len(c.conn.report) == 0 {
			return errors.New("no report to continue; send the command without continue first")
		}
	} else {
		data, err := json.Marshal(show.NewReport(c.current()))
		if err != nil {
			return err
		}
		c.conn.report = data
	}
	var pieces []string
	for len(c.conn.report) > 0 && len(pieces) < showPieces {
		n := min(len(c.conn.report), showPiece)
		pieces = append(pieces, string(c.conn.report[:n]))
		c.conn.report = c.conn.report[n:]
	}
	c.reply.List("json", pieces)
	if len(c.conn.report) > 0 {
		c.reply.Key("more", "yes")
		return nil
	}
	c.conn.report = nil
	return nil
}
