//go:build lab

package scenario

import (
	"testing"

	"github.com/ipsecd/ipsecd/scripts/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
