package starter

import (
	"fmt"

	"github.com/ipsecd/ipsecd/cmd/internal/config/settings"
)

// lifetimes reads when keys are replaced: a margin before the end of life, less
// at most a part of the margin that is left to chance.
func (c *conn) lifetimes() {
	ikeLife, ikeAt := c.seconds(defaultIKELifetime, "ikelifetime")
	life, lifeAt := c.seconds(defaultLifetime, "lifetime", "keylife")
	margin, _ := c.seconds(defaultMargin, "margintime", "rekeymargin")
	fuzz, _ := c.number("rekeyfuzz", defaultFuzz, "%")
	rekey, reauth := c.flag("rekey"), c.flag("reauth")
	for _, name := range []string{"lifebytes", "marginbytes", "lifepackets", "marginpackets"} {
		c.read[name] = true
	}
	if !rekey {
		v, _ := c.get("rekey")
		put(c.ike, "rekey_time", v, "0")
		put(c.child, "rekey_time", v, "0")
		put(c.child, "life_time", v, "0")
		return
	}
	fuzz = min(fuzz, 1000)
	m := c.margin(ikeAt, ikeLife, margin)
	key := "rekey_time"
	if reauth {
		put(c.ike, "rekey_time", ikeAt, "0")
		key = "reauth_time"
	}
	put(c.ike, key, ikeAt, seconds(ikeLife-m))
	put(c.ike, "over_time", ikeAt, seconds(m))
	put(c.ike, "rand_time", ikeAt, seconds(m*fuzz/100))

	m = c.margin(lifeAt, life, margin)
	put(c.child, "rekey_time", lifeAt, seconds(life-m))
	put(c.child, "life_time", lifeAt, seconds(life))
	put(c.child, "rand_time", lifeAt, seconds(m*fuzz/100))
	c.volume("bytes", fuzz)
	c.volume("packets", fuzz)
}

// volume reads after how much traffic keys are replaced: never by default.
func (c *conn) volume(unit string, fuzz uint64) {
	life, at := c.number("life"+unit, 0, "")
	margin, _ := c.number("margin"+unit, 0, "")
	if life == 0 {
		return
	}
	put(c.child, "life_"+unit, at, fmt.Sprint(life))
	if margin > 0 && margin < life {
		put(c.child, "rekey_"+unit, at, fmt.Sprint(life-margin))
		put(c.child, "rand_"+unit, at, fmt.Sprint(min(margin, 1<<40)*fuzz/100))
	}
}

// margin returns the margin, or less if life is no longer than that.
func (c *conn) margin(at settings.Value, life, margin uint64) uint64 {
	if life > margin {
		return margin
	}
	c.warn(at.Position, "%s: a life of %ds is no longer than the margin of %ds before it ends; a tenth of it is used", c.label, life, margin)
	return life / 10
}

// flag reads a switch that is on unless it is set to no.
func (c *conn) flag(name string) bool {
	v, ok := c.get(name)
	if !ok {
		return true
	}
	text, ok := c.translate(v, yesNo)
	return !ok || text == "yes"
}

func seconds(n uint64) string { return fmt.Sprintf("%ds", n) }
