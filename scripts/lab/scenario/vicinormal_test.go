//go:build lab

package scenario

import (
	"regexp"
	"slices"
	"strings"
)

// newer is what charon 5.9.8 wrote in the words that we have: where a later charon has other ones, and where a daemon tells of
// itself. Values that change from one run to the next become their kind.
func newer(w walked) walked {
	for i := range w.Lines {
		w.Lines[i] = replaceAll(w.Lines[i], laterCharon)
	}
	return w.normal()
}

type replacement struct {
	is *regexp.Regexp
	as string
}

func replaceAll(s string, list []replacement) string {
	for _, r := range list {
		s = r.is.ReplaceAllString(s, r.as)
	}
	return s
}

var laterCharon = []replacement{
	{regexp.MustCompile(`^(list-policy event \{.* \{child=\S+)( ike=\S+ mode=(?:TUNNEL|TRANSPORT))`), "$1 reqid=1$2"}, // 6.0.2
	{regexp.MustCompile(`( |^)dh( \{|:$)`), "${1}ke$2"},                                                               // 6.0
}

// normal is what a command wrote with values that change from one run to the next, or from one daemon to the other, as their
// kind. A line that is then the same as the one before it is left out: a list of algorithms is as long as it is.
func (w walked) normal() walked {
	kinds := passing
	for prefix, more := range own {
		if strings.HasPrefix(w.Command, prefix) {
			kinds = slices.Concat(more, passing)
		}
	}
	n := walked{Command: w.Command, Status: w.Status}
	for _, line := range w.Lines {
		n.Lines = append(n.Lines, replaceAll(line, kinds))
	}
	n.Lines = slices.Compact(n.Lines)
	if strings.HasPrefix(w.Command, "--list-sas") || strings.HasPrefix(w.Command, "--list-pols") {
		n.Lines = sortBlocks(n.Lines) // charon lists them in no order
	}
	return n
}

// passing are values of the moment.
var passing = []replacement{
	{regexp.MustCompile(`\b[0-9a-f]{16}(_[ir])?\b`), "SPI16$1"},
	{regexp.MustCompile(`\b[0-9a-f]{8}\b`), "SPI8"},
	{regexp.MustCompile(`\b(tcp|udp)/443\b`), "$1/https"}, // charon does not always find the name
	{regexp.MustCompile(`#\d+`), "#N"},
	{regexp.MustCompile(`\b(reqid )\d+`), "${1}N"},
	{regexp.MustCompile(`\b(uniqueid|reqid|established|rekey-time|reauth-time|life-time|install-time|use-in|use-out)=\d+`), "$1=N"},
	{regexp.MustCompile(`\b(net|certs)-\d+ \{`), "$1-N {"},
	{regexp.MustCompile(`\b\d+s\b`), "Ts"},
	{regexp.MustCompile(` +Ts ago`), " Ts ago"},
	{regexp.MustCompile(`expires in \d+ \w+`), "expires in T"},
}

// own are the commands by which daemons tell of themselves.
var own = map[string][]replacement{
	"--version": {
		{regexp.MustCompile(`^strongSwan \S+ (charon-systemd|ipsecd) `), "strongSwan VERSION DAEMON "},
		{regexp.MustCompile(`daemon=\S+ version=\S+`), "daemon=DAEMON version=VERSION"},
	},
	"--stats": {
		{regexp.MustCompile(`\d+ (seconds?|minutes?|hours?|days?)`), "T"},
		{regexp.MustCompile(`since[ =]\w{3} \d\d \d\d:\d\d:\d\d \d{4}`), "since DATE"},
		{regexp.MustCompile(`plugins=\[[a-z0-9 -]+\]`), "plugins=[PLUGINS]"},
		{regexp.MustCompile(`(loaded plugins: )[a-z0-9 -]+`), "${1}PLUGINS"},
		{regexp.MustCompile(`\b(total|idle|critical|high|medium|low|scheduled|sbrk|mmap|used|free)=\d+`), "$1=N"},
		{regexp.MustCompile(`(worker threads|job queues|jobs scheduled|mallinfo): .*`), "$1: FIGURES"},
	},
	"--list-algs": {
		{regexp.MustCompile(`\{([A-Z0-9_]+=[^}]*)?\}`), "{ALGORITHMS}"},
		{regexp.MustCompile(`^  [A-Z0-9_]+\[[a-z0-9-]+\]`), "  ALGORITHM[PLUGIN]"},
	},
	// Events tell of a moment: charon's comes in the middle of a task, and the kernel may have what is replaced no more.
	"event": {
		{regexp.MustCompile(`\b((?:bytes|packets)-(?:in|out))=\d+`), "$1=N"},
		{regexp.MustCompile(` tasks-(active|passive|queued)=\[[^\]]*\]`), ""},
		{regexp.MustCompile(` (use-in|use-out|rekey-time|life-time)=\d+`), ""},
		{regexp.MustCompile(`state=DELETED`), "state=DELETING"},
	},
	"--counters": {
		{regexp.MustCompile(`([=:] ?)\d+\b`), "${1}N"},
	},
}

// sortBlocks sorts what is listed: a line, and the indented ones below it.
func sortBlocks(lines []string) []string {
	var blocks []string
	for _, line := range lines {
		if len(blocks) > 0 && strings.HasPrefix(line, " ") {
			blocks[len(blocks)-1] += "\n" + line
			continue
		}
		blocks = append(blocks, line)
	}
	slices.Sort(blocks)
	return blocks
}
