package config

import (
	"os"
	"strings"
	"testing"
)

// swanctlKeys are all keys of the sections that are read; those that are not
// honoured are known too, and warned about.
var swanctlKeys = map[string]string{
	"connections.*": `version local_addrs remote_addrs local_port remote_port proposals vips aggressive pull dscp encap mobike dpd_delay
		dpd_timeout fragmentation childless send_certreq send_cert ocsp ppk_id ppk_required keyingtries unique reauth_time rekey_time
		over_time rand_time pools if_id_in if_id_out mediation mediated_by mediation_peer local remote children`,
	"connections.*.local":  `round certs pubkeys auth id eap_id aaa_id xauth_id`,
	"connections.*.remote": `round id eap_id groups cert_policy certs cacerts ca_id pubkeys revocation auth`,
	"connections.*.children.*": `ah_proposals esp_proposals sha256_96 local_ts remote_ts rekey_time life_time rand_time rekey_bytes life_bytes
		rand_bytes rekey_packets life_packets rand_packets updown hostaccess mode policies policies_fwd_out dpd_action ipcomp inactivity
		reqid priority interface mark_in mark_in_sa mark_out set_mark_in set_mark_out if_id_in if_id_out label label_mode tfc_padding
		replay_window per_cpu_sas hw_offload copy_df copy_ecn copy_dscp icmp start_action close_action`,
	"secrets.ike*": `secret id`,
}

// everySection has at least one of each section.
const everySection = `charon { }
ports { }
limits { }
timing { }
interfaces { x { if_id = 1 } }
bgp { as = 1
 router_id = 10.0.0.1
 neighbors { n { address = 10.0.0.9
 as = 2 } } }
routing { }
metrics { }
control { }
`

func schema(t *testing.T) map[string]map[string]bool {
	t.Helper()
	f, err := ReadFS(etc(everySection+at("", "")), DefaultPath)
	if err == nil {
		_, err = f.Beside(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.read.schema
}

func TestEveryKeyOfSwanctlIsKnown(t *testing.T) {
	known := schema(t)
	for kind, keys := range swanctlKeys {
		for key := range strings.FieldsSeq(keys) {
			if !known[kind][key] {
				t.Errorf("%s.%s is not known", kind, key)
			}
		}
	}
}

// The reference has a row of its own for every key of our sections and for
// every option of strongswan.conf that is honoured, and says of every key of
// swanctl.conf that is not honoured that it is not.
func TestEveryKeyIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	chapters := map[string]string{}
	for chapter := range strings.SplitSeq(string(doc), "\n## ") {
		title, text, _ := strings.Cut(chapter, "\n")
		chapters[title] = text
	}
	for kind, keys := range schema(t) {
		if kind == "" || strings.HasPrefix(kind, "connections") || kind == "secrets.ike*" {
			continue
		}
		name, _, _ := strings.Cut(kind, ".")
		for key := range keys {
			if !strings.Contains(chapters[name], "| `"+key+"` |") {
				t.Errorf("docs/configuration.md, chapter %q: no row for %s (%s)", name, key, kind)
			}
		}
	}
	for _, table := range []map[string]unsupported{unsupportedConnection, unsupportedAuth, unsupportedLocal, unsupportedAuthority, unsupportedChild} {
		for key := range table {
			if !strings.Contains(chapters["swanctl.conf"], "`"+key+"`") {
				t.Errorf("docs/configuration.md does not say that %s is not honoured", key)
			}
		}
	}
}
