package config

import "github.com/ipsecd/ipsecd/ike"

// lifetimes reads when an IKE SA is rekeyed and when it is authenticated anew, which
// without rekey_time takes the place of rekeys. over_time is a tenth of the longer
// interval unless set, rand_time is over_time; at most half of the interval is
// left to chance.
func (r *reader) lifetimes(c *ike.Connection) {
	hasRekey := read(r, "rekey_time", &c.RekeyTime, parseDuration)
	if read(r, "reauth_time", &c.ReauthTime, parseDuration) && c.ReauthTime > 0 && !hasRekey {
		c.RekeyTime = 0
	}
	longer := max(c.RekeyTime, c.ReauthTime)
	c.OverTime = longer / 10
	read(r, "over_time", &c.OverTime, parseDuration)
	c.RandTime = c.OverTime
	read(r, "rand_time", &c.RandTime, parseDuration)
	c.RandTime = min(c.RandTime, longer/2)
}

// lifetimes reads when a CHILD_SA is rekeyed and when it ends. Each of the two
// follows from the other, 10 % apart.
func (r *childReader) lifetimes(c *ike.ChildConfig) {
	rekey := read(r.reader, "rekey_time", &c.RekeyTime, parseDuration)
	life := read(r.reader, "life_time", &c.LifeTime, parseDuration)
	derive(&c.RekeyTime, rekey, &c.LifeTime, life)
	c.RandTime = max(c.LifeTime-c.RekeyTime, 0)
	read(r.reader, "rand_time", &c.RandTime, parseDuration)
	c.RandTime = min(c.RandTime, c.RekeyTime/2)
	r.order("rekey_time", "life_time", uint64(c.RekeyTime), uint64(c.LifeTime))

	rekey = read(r.reader, "rekey_bytes", &c.RekeyBytes, parseBytes)
	life = read(r.reader, "life_bytes", &c.LifeBytes, parseBytes)
	derive(&c.RekeyBytes, rekey, &c.LifeBytes, life)
	c.RandBytes = spread(c.RekeyBytes, c.LifeBytes)
	read(r.reader, "rand_bytes", &c.RandBytes, parseBytes)
	r.order("rekey_bytes", "life_bytes", c.RekeyBytes, c.LifeBytes)

	rekey = read(r.reader, "rekey_packets", &c.RekeyPackets, parseUint)
	life = read(r.reader, "life_packets", &c.LifePackets, parseUint)
	derive(&c.RekeyPackets, rekey, &c.LifePackets, life)
	c.RandPackets = spread(c.RekeyPackets, c.LifePackets)
	read(r.reader, "rand_packets", &c.RandPackets, parseUint)
	r.order("rekey_packets", "life_packets", c.RekeyPackets, c.LifePackets)
}

// derive fills in the one of the two that is not set.
func derive[T ~int64 | ~uint64](rekey *T, hasRekey bool, life *T, hasLife bool) {
	switch {
	case hasLife && !hasRekey:
		*rekey = *life - *life/11 // life is rekey and a tenth of it
	case !hasLife:
		*life = *rekey + *rekey/10
	}
}

// spread returns what is left to chance unless something else is said.
func spread(rekey, life uint64) uint64 {
	if life < rekey {
		return 0
	}
	return life - rekey
}

// order refuses a life that is over before the rekeying begins.
func (r *childReader) order(rekeyKey, lifeKey string, rekey, life uint64) {
	if life != 0 && rekey >= life {
		r.fail(r.at(lifeKey), "%s.%s is not longer than %s: the CHILD_SA would end before it is rekeyed", r.path, lifeKey, rekeyKey)
	}
}
