package ike

// watchIdle begins to watch a CHILD_SA for inactivity. What has replaced another one
// goes on where that was: a rekey is not a use.
func (e *Engine) watchIdle(c *childSA) {
	limit := c.info.Config.Inactivity
	if limit <= 0 || c.redundant {
		return
	}
	if c.lastUse.IsZero() {
		c.lastUse = e.now
		if c.replaces != nil && !c.replaces.lastUse.IsZero() {
			c.lastUse = c.replaces.lastUse
		}
	}
	e.setChildTimer(c, timerInactive, c.lastUse.Add(limit))
}

// childIdle closes a CHILD_SA that has carried nothing in either direction for as long as the
// configuration allows. Its start_action does not bring it up again; traffic does, where there is a
// trap.
func (e *Engine) childIdle(c *childSA) {
	due := c.lastUse.Add(c.info.Config.Inactivity)
	switch {
	case c.state == ChildRekeyed || c.state == ChildDeleting || c.redundant:
	case due.After(e.now):
		e.setChildTimer(c, timerInactive, due)
	case c.state != ChildInstalled: // the rekey under way hands it on
		e.setChildTimer(c, timerInactive, e.now.Add(temporaryRetry))
	default:
		e.note(c.sa, LevelInfo, "CHD", "closing CHILD_SA %s after %v of inactivity", c.label(), c.info.Config.Inactivity)
		if !c.info.CPU.Bound {
			c.want.stopped, c.want.asked = true, notAsked
		}
		e.deleteChild(c)
	}
}
