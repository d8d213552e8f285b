package vici

import "github.com/ipsecd/ipsecd/routing/lookup"

// addresses answers the command ipsec with the addresses at which peers may reach us.
func (c *call) addresses() error {
	w := c.ctl.Status().Config.Routing.Ways
	list, err := lookup.Filter{Use: w.UseLinks, Ignore: w.IgnoreLinks}.Addresses()
	if err != nil {
		return err
	}
	var texts []string
	for _, a := range list {
		texts = append(texts, a.String())
	}
	c.reply.List("addresses", texts)
	return nil
}
