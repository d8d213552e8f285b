package main

// command is one of swanctl's: the first option of the command line.
type command struct {
	name    string
	letter  byte
	about   string
	options []option
	run     func(*session) error
}

// option is one of a command's.
type option struct {
	name   string
	letter byte
	takes  string // what its argument is; empty if it has none
	about  string
}

// The options that many commands have.
var (
	rawly  = option{"raw", 'r', "", "write the daemon's messages as they are, one a line"}
	pretty = option{"pretty", 'P', "", "write the daemon's messages as they are, indented"}
	level  = option{"loglevel", 'l', "level", "how much of the daemon's log is shown (1)"}
	limit  = option{"timeout", 't', "seconds", "stop waiting after this time"}
	file   = option{"file", 'f', "file", "read this file in the place of /etc/swanctl/swanctl.conf"}
	kind   = option{"type", 't', "type", "only this type: x509, x509_ac, x509_crl, ocsp_response or pubkey"}
)

// common are the options that all have.
var common = []option{
	{"debug", 'v', "level", "taken for compatibility, without effect"},
	{"options", '+', "file", "read further options from a file"},
	{"uri", 'u', "uri", "the daemon's socket: unix:///path or tcp://host:port"},
}

func selecting(verb string) []option {
	return []option{
		{"child", 'c', "name", verb + " the CHILD_SAs of this name"},
		{"ike", 'i', "name", verb + " the IKE_SAs of this name"},
		{"child-id", 'C', "id", verb + " the CHILD_SA with this unique number"},
		{"ike-id", 'I', "id", verb + " the IKE_SA with this unique number"},
	}
}

var loadingCreds = []option{
	{"clear", 'c', "", "drop first what was loaded before"},
	{"noprompt", 'n', "", "do not ask for passphrases"},
	rawly, pretty, file,
}

// commands are all commands, in the order of the help.
var commands []*command

func init() { // they refer to help, which lists them
	commands = []*command{
		{"counters", 'C', "show the counters of IKE messages, or set them to zero", []option{
			{"name", 'n', "name", "those of this connection, not those of all together"},
			{"all", 'a', "", "those of all connections"},
			{"reset", 'R', "", "set them to zero"},
			rawly, pretty}, counters},
		{"initiate", 'i', "set up an IKE_SA or a CHILD_SA", []option{
			{"child", 'c', "name", "the child to set up"},
			{"ike", 'i', "name", "the connection to set up, or that of the child"},
			limit, rawly, pretty, level}, control("initiate", "control-log")},
		{"terminate", 't', "delete IKE_SAs or CHILD_SAs", append(selecting("delete"),
			option{"force", 'f', "", "delete IKE_SAs without waiting for the peer, or no longer than the timeout"},
			limit, rawly, pretty, level), control("terminate", "control-log")},
		{"rekey", 'R', "rekey IKE_SAs or CHILD_SAs", append(selecting("rekey"),
			option{"reauth", 'a', "", "authenticate anew in the place of rekeying an IKE_SA"},
			rawly, pretty), control("rekey", "")},
		{"redirect", 'd', "send peers to another gateway", []option{
			{"ike", 'i', "name", "the IKE_SAs of this name"},
			{"ike-id", 'I', "id", "the IKE_SA with this unique number"},
			{"peer-ip", 'p', "ip|subnet|range", "those with peers at these addresses"},
			{"peer-id", 'd', "id", "those with peers of this identity, which may have wildcards"},
			{"gateway", 'g', "ip|fqdn", "the gateway to go to"},
			rawly, pretty}, control("redirect", "")},
		{"uninstall", 'u', "take away the trap or shunt policies of a child", ofChild, policies("uninstall")},
		{"install", 'p', "put in the trap or shunt policies of a child", ofChild, policies("install")},
		{"list-sas", 'l', "show the IKE_SAs and their CHILD_SAs", append([]option{
			{"ike", 'i', "name", "only IKE_SAs of this name"},
			{"ike-id", 'I', "id", "only the IKE_SA with this unique number"},
			{"child", 'c', "name", "only CHILD_SAs of this name"},
			{"child-id", 'C', "id", "only the CHILD_SA with this unique number"},
			{"noblock", 'n', "", "pass over IKE_SAs that are in use"}},
			rawly, pretty), listSAs},
		{"monitor-sa", 'm', "show SAs as they come up and go down", []option{rawly, pretty}, monitor},
		{"list-pols", 'P', "show the installed trap and shunt policies", []option{
			{"child", 'c', "name", "only those of children of this name"},
			{"trap", 't', "", "traps"}, {"drop", 'd', "", "policies that drop"}, {"pass", 'p', "", "policies that bypass IPsec"},
			rawly, pretty}, listPolicies},
		{"list-authorities", 'B', "show the certification authorities", []option{
			{"name", 'n', "name", "only the authority of this name"}, rawly, pretty}, listAuthorities},
		{"list-conns", 'L', "show the connections", []option{rawly, pretty}, listConns},
		{"list-certs", 'x', "show the certificates", []option{
			{"subject", 's', "name", "only certificates of this name"}, kind,
			{"flag", 'f', "flag", "only X.509 certificates with this flag: none, ca, aa, ocsp or any"},
			{"pem", 'p', "", "write them in PEM"}, rawly, pretty,
			{"short", 'S', "", "leave out details"},
			{"utc", 'U', "", "times in UTC"}}, listCerts},
		{"list-pools", 'A', "show the pools of addresses", []option{rawly, pretty,
			{"leases", 'l', "", "who has which address, too"},
			{"name", 'n', "name", "only the pool of this name"}}, listPools},
		{"list-algs", 'g', "show the algorithms", []option{rawly, pretty}, listAlgorithms},
		{"flush-certs", 'f', "drop what was fetched about certificates", []option{kind, rawly, pretty}, simple("flush-certs", "type")},
		{"load-all", 'q', "load credentials, authorities, pools and connections", loadingCreds, load(loadCreds, loadAuthorities, loadPools, loadConns)},
		{"load-authorities", 'b', "load the certification authorities", []option{rawly, pretty, file}, load(loadAuthorities)},
		{"load-conns", 'c', "load the connections", []option{rawly, pretty, file}, load(loadConns)},
		{"load-creds", 's', "load certificates, keys and secrets", loadingCreds, load(loadCreds)},
		{"load-pools", 'a', "load the pools of addresses", []option{rawly, pretty, file}, load(loadPools)},
		{"log", 'T', "show the daemon's log as it is written", []option{rawly, pretty}, followLog},
		{"version", 'v', "show the version", []option{{"daemon", 'd', "", "of the daemon"}, rawly, pretty}, showVersion},
		{"stats", 'S', "show how the daemon does", []option{rawly, pretty}, stats},
		{"reload-settings", 'r', "have the daemon read its settings again", []option{rawly, pretty}, simple("reload-settings")},
	}
}

var ofChild = []option{
	{"child", 'c', "name", "the child"},
	{"ike", 'i', "name", "its connection, if several have such a child"},
	rawly, pretty,
}
