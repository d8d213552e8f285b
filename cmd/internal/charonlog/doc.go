// Package charonlog writes the log also as strongSwan's daemon does: into files, to syslog and to systemd's journal, as the sections
// filelog, syslog and journal of strongswan.conf have it, in lines that its readers know.
//
//	Dec  1 05:30:00 00[IKE] <gw|1> initiating IKE_SA gw[1] to 192.0.2.2
//
// Who writes the log never waits for a disk or for syslogd: lines that these do not take in time are lost, and counted.
package charonlog
