package config

import (
	"log/syslog"
	"strings"
	"testing"
)

// TestCharonLogs reads strongSwan's sections in both of their forms, and passes over what we have not.
func TestCharonLogs(t *testing.T) {
	c := load(t, `charon {
 filelog {
  charon {
   path = /var/log/charon.log
   time_format = %b %e %T
   ike_name = yes
   append = no
   default = 2
   enc = -1
   json = yes
  }
  stderr { }
 }
 syslog {
  identifier = ike
  auth { default = 0
  }
 }
 journal {
  default = 0
  ike = 2
  ike_name = yes
 }
}`)
	if len(c.CharonLogs) != 4 {
		t.Fatalf("%+v", c.CharonLogs)
	}
	f, s := c.CharonLogs[0], c.CharonLogs[2]
	if f.File != "/var/log/charon.log" || !f.Stamp || f.TimeFormat != "%b %e %T" || !f.IKEName || f.Append || f.Default != 2 || f.Levels["enc"] != -1 || len(f.Levels) != 1 {
		t.Errorf("file: %+v", f)
	}
	if e := c.CharonLogs[1]; e.File != "stderr" || e.Default != 1 || !e.Append || e.Stamp {
		t.Errorf("stderr: %+v", e)
	}
	if s.File != "" || s.Facility != syslog.LOG_AUTHPRIV || s.Tag != "ike" || s.Default != 0 {
		t.Errorf("syslog: %+v", s)
	}
	if j := c.CharonLogs[3]; !j.Journal || j.Default != 0 || j.Levels["ike"] != 2 || len(j.Levels) != 1 {
		t.Errorf("journal: %+v", j)
	}
	if w := warnings(c); len(w) != 2 || w[1] != "22: charon.journal.ike_name is without effect here" || w[0] != "10: charon.filelog.charon.json is without effect here" {
		t.Errorf("warnings: %q", w)
	}
	for text, want := range map[string]string{
		"charon { filelog { x { default = 1 \n } } }":         `charon.filelog.x: "x" is no absolute path`,
		"charon { filelog { stderr { default = much \n } } }": "expected a level from -1 to 4",
	} {
		if _, err := LoadFS(etc(text), DefaultPath); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
