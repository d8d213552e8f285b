package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ipsecd/ipsecd/cmd/internal/viciclient"
)

// verbs are the commands. Those that have the daemon read files again all do the
// same: it reads everything, and touches what changed.
func verbs() map[string]verb {
	reread := verb{"", 0, 0, reload("")}
	nothing := verb{"", 0, 0, func(context.Context, environment, []string) error { return nil }}
	return map[string]verb{
		"start":   {"", 0, 0, service("start", "Starting ipsecd...")},
		"stop":    {"", 0, 0, service("stop", "Stopping ipsecd...")},
		"restart": {"", 0, 0, service("restart", "Restarting ipsecd...")},
		"reload":  {"", 0, 0, reload("Reloading the IPsec configuration...")},
		"update":  {"", 0, 0, reload("Updating the IPsec configuration...")},

		"rereadall": reread, "rereadsecrets": reread, "rereadcacerts": reread, "rereadaacerts": reread,
		"rereadocspcerts": reread, "rereadacerts": reread, "rereadcrls": reread,
		"purgecerts": {"", 0, 0, purge("X509")}, "purgecrls": {"", 0, 0, purge("X509_CRL")},
		"purgeocsp": {"", 0, 0, purge("OCSP_RESPONSE")}, "purgeike": nothing,

		"up":      {"NAME", 1, 1, up},
		"down":    {"NAME | NAME{ID} | NAME{*} | NAME[ID] | NAME[*]", 1, 1, down},
		"route":   {"NAME", 1, 1, policy("install", "'%s' routed\n")},
		"unroute": {"NAME", 1, 1, policy("uninstall", "trap policy '%s' uninstalled\n")},

		"status":    {"[NAME]", 0, 1, status(false)},
		"statusall": {"[NAME]", 0, 1, status(true)},

		"_updown": {"iptables", 1, 1, updown},

		"leases": {"[POOL [ADDRESS]]", 0, 2, leases},

		"listcerts": listCerts("NONE"), "listcacerts": listCerts("CA"), "listaacerts": listCerts("AA"), "listocspcerts": listCerts("OCSP"),
		"listacerts": nothing, "listcrls": nothing, "listocsp": nothing, "listpubkeys": nothing, "listcainfos": nothing,
		"listalgs": {"", 0, 0, listAlgorithms},
		"listall":  {"[--utc]", 0, 1, listAll},

		"version": {"", 0, 0, version}, "--version": {"", 0, 0, version},
		"--versioncode": {"", 0, 0, versionCode},
		"--directory":   {"", 0, 0, print("/usr/lib/ipsecd")},
		"--confdir":     {"", 0, 0, print("/etc")},
		"--help":        {"", 0, 0, help}, "help": {"", 0, 0, help},
	}
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "Usage: ipsec command [arguments]\nCommands:")
	all := verbs()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "  %s %s\n", name, all[name].args)
	}
}

func help(_ context.Context, env environment, _ []string) error {
	usage(env.stdout)
	return nil
}

func print(text string) func(context.Context, environment, []string) error {
	return func(_ context.Context, env environment, _ []string) error {
		_, err := fmt.Fprintln(env.stdout, text)
		return err
	}
}

// reload has the daemon read its files again. A configuration with errors
// changes nothing.
func reload(text string) func(context.Context, environment, []string) error {
	return func(ctx context.Context, env environment, _ []string) error {
		return withDaemon(env, func(d *viciclient.Client) error {
			if text != "" {
				fmt.Fprintln(env.stdout, text)
			}
			_, err := d.Do(ctx, viciclient.CallTime, "ipsecd-reload")
			return err
		})
	}
}

// purge drops what the daemon has fetched.
func purge(kind string) func(context.Context, environment, []string) error {
	return func(ctx context.Context, env environment, _ []string) error {
		return withDaemon(env, func(d *viciclient.Client) error {
			_, err := d.Do(ctx, viciclient.CallTime, "flush-certs", "type", kind)
			return err
		})
	}
}

// versionCode names the daemon as scripts compare it.
func versionCode(ctx context.Context, env environment, _ []string) error {
	return withDaemon(env, func(d *viciclient.Client) error {
		m, err := d.Do(ctx, viciclient.CallTime, "version")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.stdout, "U%s/K%s\n", viciclient.Text(m, "version"), viciclient.Text(m, "release"))
		return err
	})
}

func version(ctx context.Context, env environment, _ []string) error {
	return withDaemon(env, func(d *viciclient.Client) error {
		m, err := d.Do(ctx, viciclient.CallTime, "version")
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.stdout, "%s %s, %s %s\n", viciclient.Text(m, "daemon"), viciclient.Text(m, "version"),
			viciclient.Text(m, "sysname"), viciclient.Text(m, "release"))
		return err
	})
}
