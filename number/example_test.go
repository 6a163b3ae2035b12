package number_test

import (
	"fmt"

	"mergesafe/number"
)

func ExampleParseChecked() {
	n := number.Number(1_008_421).WithCheck()
	fmt.Println("add me,", n.Spaced())

	for _, typed := range []string{"10 084 215", "10 084 315", "10 048 215"} {
		if n, err := number.ParseChecked(typed); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("found", n)
		}
	}
	// Output:
	// add me, 10 084 215
	// found 10084215
	// number: "10 084 315" is mistyped: its last digit does not match the others
	// number: "10 048 215" is mistyped: its last digit does not match the others
}
