package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// protected makes a struct of the list, as changedFields wants it.
type protected struct{ Networks []netip.Prefix }

// String prints the plan for people: one line per change, then what stays.
func (p Plan) String() string {
	var b strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintf(&b, "%-8s %s", c.Verb, c.Kind)
		if c.Name != "" {
			fmt.Fprintf(&b, " %s", c.Name)
		}
		if len(c.Fields) > 0 {
			fmt.Fprintf(&b, ": %s", strings.Join(c.Fields, ", "))
		}
		b.WriteByte('\n')
	}
	if p.Empty() {
		b.WriteString("nothing changes; ")
	}
	fmt.Fprintf(&b, "%d unchanged\n", p.Unchanged)
	return b.String()
}

// changedFields names the fields in which two structs of one type differ.
func changedFields(a, b any) []string {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	var names []string
	for i := range va.NumField() {
		f := va.Type().Field(i)
		if !f.IsExported() || reflect.DeepEqual(va.Field(i).Interface(), vb.Field(i).Interface()) {
			continue
		}
		if f.Anonymous {
			names = append(names, changedFields(va.Field(i).Interface(), vb.Field(i).Interface())...)
			continue
		}
		if key := fieldKey(va.Type(), f.Name); !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	return names
}

// keyOf are the fields whose keys have other names.
var keyOf = map[string]string{
	"ForceEncap": "encap", "NATT": "nat_t", "IKESAsPerPeer": "ike_sas_per_peer", "CookiePerIP": "cookie_threshold_ip",
	"HostAccess": "hostaccess", "CRLURIs": "crl_uris", "OCSPURIs": "ocsp_uris", "PPKID": "ppk_id", "SendCertReq": "send_certreq", "ReqID": "reqid", "KeyingTries": "keyingtries", "VIPs": "vips",
	"ChildConfig.Proposals": "esp_proposals", "CopyDSCPIn": "copy_dscp", "CopyDSCPOut": "copy_dscp", "ForwardOut": "policies_fwd_out",
	"ForwardICMP": "icmp", "PerCPU": "per_cpu_sas", "PerCPUSAs": "per_cpu_sas", "PolicyInterface": "interface", "SHA256Trunc96": "sha256_96",
	"IfIDInBy": "if_id_in", "IfIDOutBy": "if_id_out", "MarkInBy": "mark_in", "MarkOutBy": "mark_out",
	"UseLinks": "interfaces_use", "IgnoreLinks": "interfaces_ignore", "IgnoreTables": "ignore_routing_tables", "SetMarkInSame": "set_mark_in", "SetMarkOutSame": "set_mark_out",
}

// fieldKey returns the key that sets a field of a struct.
func fieldKey(t reflect.Type, field string) string {
	if key, ok := keyOf[t.Name()+"."+field]; ok {
		return key
	}
	return snake(field)
}

// snake writes the name of a field as the files do: DPDDelay is dpd_delay.
func snake(name string) string {
	if key, ok := keyOf[name]; ok {
		return key
	}
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		startsWord := i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
