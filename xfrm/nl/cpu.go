package nl

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

const onlineCPUs = "/sys/devices/system/cpu/online"

// CPUs returns how many CPUs the host has, counted up to the last one that works.
func CPUs() (int, error) {
	list, err := os.ReadFile(onlineCPUs)
	if err != nil {
		return 0, err
	}
	n, err := lastCPU(string(list))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", onlineCPUs, err)
	}
	return n + 1, nil
}

// lastCPU returns the highest number of a list such as "0-3,6".
func lastCPU(list string) (int, error) {
	list = strings.TrimSpace(list)
	last := list[strings.LastIndexAny(list, ",-")+1:]
	n, err := strconv.ParseUint(last, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q: expected a list of numbers such as 0-3", list)
	}
	return int(n), nil
}
