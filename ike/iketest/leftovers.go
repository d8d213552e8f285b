package iketest

import (
	"fmt"
	"reflect"

	"github.com/ipsecd/ipsecd/ike"
)

// configured are the fields of an Engine that hold its configuration, and statistics.
var configured = map[string]bool{"cfg": true, "byName": true, "connections": true, "reqids": true, "counters": true, "named": true}

// leftovers looks into the tables of an engine that holds no SA any more. What is in them
// still, such as an SPI that an abandoned offer reserved, is never freed. No user
// can see that but by the memory that it takes, so that no method shows it.
func leftovers(e *ike.Engine) error {
	return tables("Engine", reflect.ValueOf(e).Elem())
}

// tables finds entries in the maps of a struct and of the structs in it.
func tables(path string, v reflect.Value) error {
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if configured[name] {
			continue
		}
		switch f.Kind() {
		case reflect.Map:
			if f.Len() > 0 {
				return fmt.Errorf("%s.%s still holds %d entries", path, name, f.Len())
			}
		case reflect.Struct:
			if err := tables(path+"."+name, f); err != nil {
				return err
			}
		}
	}
	return nil
}
